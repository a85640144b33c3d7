package io.clairfs.tools.mount;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.ToIntFunction;

/** The steps of a random test, beside the reads of its crowd. Each has a number of cards in a deck. */
enum StressStep {
    READ(40, 3),
    STAT(5, 1),
    LIST(5, 1),
    FOLLOW(18, 2),
    DROP_PAGES(10, 1),

    INJECT(18, 14),
    LIFT(8, 8),
    CHANGE(7, 8),
    STOP_SOURCE(1, 1),
    KILL_SOURCE(1, 1),

    START_JOB(7, 3),
    WRONG_JOB(1, 2),
    STOP_JOB(2, 2),

    DAMAGE_DISK(4, 13),
    FILL_DISK(1, 2),
    LOCK_DISK(1, 3),
    LIMIT_DISK(1, 2),
    FAIL_DISK(2, 4),
    MEND_DISK(3, 4),

    PLANT_LINK(2, 2),

    SUSPEND(1, 1),
    FLOOD(1, 1),
    SHIFT_CLOCK(2, 2),
    SQUEEZE_MEMORY(2, 3),

    LIE(4, 4),

    REMOUNT(2, 0),
    REMOUNT_UNLISTED(1, 2),
    REMOUNT_ON_FAILING_DISK(1, 1);

    private final int inRound;
    private final int inSoak;

    StressStep(int inRound, int inSoak) {
        this.inRound = inRound;
        this.inSoak = inSoak;
    }

    /** A deck of 151 cards, for a round of as many steps. */
    static StressDeck<StressStep> ofRound(Random random) {
        return deck(random, step -> step.inRound);
    }

    /** A deck with more faults, which a soak run goes through more than a hundred times in an hour. */
    static StressDeck<StressStep> ofSoak(Random random) {
        return deck(random, step -> step.inSoak);
    }

    private static StressDeck<StressStep> deck(Random random, ToIntFunction<StressStep> cards) {
        List<StressStep> all = new ArrayList<>();
        for (StressStep step : values()) {
            all.addAll(Collections.nCopies(cards.applyAsInt(step), step));
        }
        return new StressDeck<>(random, all);
    }
}
