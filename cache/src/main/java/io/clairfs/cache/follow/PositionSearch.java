package io.clairfs.cache.follow;

import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.stage.StreamWindow;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds where in its streams a trainer is, from the last samples that it read.
 *
 * <p>An epoch fits when most of the samples found in it have another one close by, as {@link LastReads} demands of reads. The
 * trainer is then at the first of the group in which most of them lie.
 */
final class PositionSearch {
    private static final double FITTING_SHARE = 0.6;
    private static final int FEWEST = 6;

    private PositionSearch() {}

    /** Where a stream was found: its first position that was read lately, and all of those. */
    record Found(long position, long[] read) {}

    /**
     * Looks for the samples in one epoch of one stream.
     *
     * @param samples sample indices read lately, in any order
     * @return null when the epoch does not fit
     */
    static @Nullable Found inEpoch(AccessStream stream, EpochOrder order, int epoch, int[] samples) {
        int[] steps = new int[samples.length];
        int hits = 0;
        int length = order.length(stream.rank());
        int[] sorted = samples.clone();
        Arrays.sort(sorted);
        for (int step = 0; step < length && hits < steps.length; step++) {
            if (Arrays.binarySearch(sorted, order.sample(stream.rank(), step)) >= 0) {
                steps[hits++] = step;
            }
        }
        return fit(epoch, Arrays.copyOf(steps, hits));
    }

    /** {@code steps} ascend, for they were found in order. */
    private static @Nullable Found fit(int epoch, int[] steps) {
        int[] close = new int[steps.length];
        int count = 0;
        for (int i = 0; i < steps.length; i++) {
            boolean before = i > 0 && steps[i] - steps[i - 1] <= LastReads.NEIGHBOUR;
            boolean after = i + 1 < steps.length && steps[i + 1] - steps[i] <= LastReads.NEIGHBOUR;
            if (before || after) {
                close[count++] = steps[i];
            }
        }
        if (count < FEWEST || count < FITTING_SHARE * steps.length) {
            return null;
        }
        int middle = close[count / 2];
        long[] read = Arrays.stream(close, 0, count)
                .filter(step -> Math.abs(step - middle) < StreamWindow.RECOGNISED_AHEAD / 2)
                .mapToLong(step -> AccessStream.position(epoch, step))
                .toArray();
        return new Found(read[0], read);
    }
}
