package io.clairfs.tools.mount;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/** What a random test does. Each happens so many times among 150 steps, in an order that follows from the seed. */
enum StressStep {
    READ(47),
    STAT(5),
    LIST(5),
    FOLLOW(18),
    DROP_PAGES(10),

    INJECT(18),
    LIFT(8),
    CHANGE(5),
    STOP_SOURCE(1),
    KILL_SOURCE(1),

    START_JOB(7),
    WRONG_JOB(1),
    STOP_JOB(2),

    DAMAGE_DISK(2),
    FILL_DISK(1),
    LOCK_DISK(1),
    LIMIT_DISK(1),
    MEND_DISK(3),

    SUSPEND(1),
    FLOOD(1),
    SHIFT_CLOCK(2),
    SQUEEZE_MEMORY(2),

    LIE(4),

    REMOUNT(2),
    REMOUNT_UNLISTED(1),
    REMOUNT_ON_FAILING_DISK(1);

    private final int times;

    StressStep(int times) {
        this.times = times;
    }

    /** All steps, each as often as it is to happen, shuffled; and again when they are used up. */
    static final class Deck {
        private final Random random;
        private final Deque<StressStep> left = new ArrayDeque<>();

        Deck(Random random) {
            this.random = random;
        }

        StressStep next() {
            if (left.isEmpty()) {
                List<StressStep> all = new ArrayList<>();
                for (StressStep step : values()) {
                    all.addAll(Collections.nCopies(step.times, step));
                }
                Collections.shuffle(all, random);
                left.addAll(all);
            }
            return left.pop();
        }
    }
}
