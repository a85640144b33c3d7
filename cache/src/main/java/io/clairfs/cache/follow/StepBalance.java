package io.clairfs.cache.follow;

import java.util.Arrays;

/**
 * Counts the steps in which the ranks of this node were not ready together: the load imbalance of Lobster (ICPP 2022, section 5.3).
 *
 * <p>A rank is ready for a step when its trainer's loaders have read the whole batch. A step is imbalanced if the last rank was ready later
 * than the first by more than a tenth of the step, which lasts from when the last rank was ready for the step before. A step counts once all
 * ranks have been seen to become ready for it. Not thread-safe.
 */
final class StepBalance {
    /** So far one rank may be ahead of another, steps; what is farther ahead does not count. */
    static final int MOST_AHEAD = 64;

    private static final double IMBALANCE = 0.1;
    private static final long UNSEEN = Long.MIN_VALUE;

    /** How many steps each rank has been ready for; {@link #UNSEEN} if that is not known. */
    private final long[] ready;

    /** When each rank became ready for each of the last steps. */
    private final long[][] readyNs;

    /** The first step of each rank whose time is known. */
    private final long[] first;

    private long judged = UNSEEN;
    private long judgedNs;
    private long steps;
    private long imbalanced;

    StepBalance(int ranks) {
        ready = new long[ranks];
        first = new long[ranks];
        readyNs = new long[ranks][MOST_AHEAD];
        Arrays.fill(ready, UNSEEN);
    }

    /** The loaders of a rank have read all batches of its first {@code count} steps. */
    void ready(int rank, long count, long nowNs) {
        if (ready.length < 2) {
            return;
        }
        if (ready[rank] == UNSEEN) {
            if (judged != UNSEEN && count < judged - MOST_AHEAD) {
                beginAgain();
            }
            ready[rank] = count;
            first[rank] = count + 1;
            return;
        }
        if (count <= ready[rank]) {
            return; // a read that was taken back was of another reader
        }
        for (long step = Math.max(ready[rank] + 1, count - MOST_AHEAD + 1); step <= count; step++) {
            readyNs[rank][at(step)] = nowNs;
        }
        first[rank] = Math.max(first[rank], count - MOST_AHEAD + 1);
        ready[rank] = count;
        judge();
    }

    /** A rank has gone back to an earlier epoch: steps are counted again once all have been seen to become ready for the same ones. */
    private void beginAgain() {
        Arrays.fill(ready, UNSEEN);
        judged = UNSEEN;
    }

    /** A rank goes on elsewhere, or was not seen for a while. */
    void lost(int rank) {
        ready[rank] = UNSEEN;
    }

    private void judge() {
        long from = Arrays.stream(first).max().orElse(0);
        long end = Arrays.stream(ready).min().orElse(UNSEEN);
        for (long step = Math.max(judged + 1, from); step <= end; step++) {
            long earliest = Long.MAX_VALUE;
            long latest = Long.MIN_VALUE;
            for (long[] times : readyNs) {
                earliest = Math.min(earliest, times[at(step)]);
                latest = Math.max(latest, times[at(step)]);
            }
            if (judged == step - 1) {
                steps++;
                imbalanced += latest - earliest > IMBALANCE * (latest - judgedNs) ? 1 : 0;
            }
            judged = step;
            judgedNs = latest;
        }
    }

    private static int at(long step) {
        return (int) (step % MOST_AHEAD);
    }

    /** Steps that count. */
    long steps() {
        return steps;
    }

    /** Those of them in which a rank was late. */
    long imbalanced() {
        return imbalanced;
    }
}
