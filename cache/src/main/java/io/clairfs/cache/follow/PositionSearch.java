package io.clairfs.cache.follow;

import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.stage.StreamWindow;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Arrays;
import java.util.BitSet;
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
        int[] sorted = Arrays.stream(samples).distinct().sorted().toArray();
        IntArrayList steps = new IntArrayList();
        IntArrayList which = new IntArrayList();
        int length = order.length(stream.rank());
        for (int step = 0; step < length; step++) {
            int at = Arrays.binarySearch(sorted, order.sample(stream.rank(), step));
            if (at >= 0) {
                steps.add(step);
                which.add(at);
            }
        }
        return fit(epoch, steps, which);
    }

    /**
     * The samples {@code which} are read at {@code steps}, which ascend. An order may repeat samples, so each counts once, wherever else in the epoch
     * it is read.
     */
    private static @Nullable Found fit(int epoch, IntList steps, IntList which) {
        IntArrayList close = new IntArrayList();
        BitSet found = new BitSet();
        BitSet foundClose = new BitSet();
        for (int i = 0; i < steps.size(); i++) {
            int step = steps.getInt(i);
            boolean before = i > 0 && step - steps.getInt(i - 1) <= LastReads.NEIGHBOUR;
            boolean after = i + 1 < steps.size() && steps.getInt(i + 1) - step <= LastReads.NEIGHBOUR;
            found.set(which.getInt(i));
            if (before || after) {
                close.add(step);
                foundClose.set(which.getInt(i));
            }
        }
        int count = foundClose.cardinality();
        if (count < FEWEST || count < FITTING_SHARE * found.cardinality()) {
            return null;
        }
        int middle = close.getInt(close.size() / 2);
        long[] read = close.intStream()
                .filter(step -> Math.abs(step - middle) < StreamWindow.RECOGNISED_AHEAD / 2)
                .mapToLong(step -> AccessStream.position(epoch, step))
                .toArray();
        return new Found(read[0], read);
    }
}
