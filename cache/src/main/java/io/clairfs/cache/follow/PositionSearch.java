package io.clairfs.cache.follow;

import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.stage.StreamWindow;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds where in its streams a trainer is, from the last samples that it read.
 *
 * <p>An epoch fits when most of the samples found in it lie in one group, and have another one close by, as {@link LastReads} demands of
 * reads. The trainer is then at the first of the group. Where samples repeat in an epoch, each is found in many places; the group is the one
 * with the most different samples, and no wider than few of them would get into by chance.
 */
final class PositionSearch {
    private static final double FITTING_SHARE = 0.6;
    private static final int FEWEST = 6;

    /** The widest group, as a share of the distance at which samples repeat: by chance so many of them are in it, if seldom side by side. */
    private static final double BY_CHANCE = 0.5;

    /** By so much more samples a group twice as wide has to have to be taken. */
    private static final double GAIN = 1.05;

    private final int epoch;

    /** Where one of the samples is read, ascending, and which of them. */
    private final IntArrayList steps = new IntArrayList();

    private final IntArrayList which = new IntArrayList();

    /** How many different samples there are, and how many of them are read in the epoch. */
    private final int different;

    private final int found;

    private PositionSearch(int rank, EpochOrder order, int epoch, int[] sorted) {
        this.epoch = epoch;
        different = sorted.length;
        BitSet all = new BitSet();
        int length = order.length(rank);
        for (int step = 0; step < length; step++) {
            int at = Arrays.binarySearch(sorted, order.sample(rank, step));
            if (at >= 0) {
                steps.add(step);
                which.add(at);
                all.set(at);
            }
        }
        found = all.cardinality();
    }

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
        PositionSearch search = new PositionSearch(stream.rank(), order, epoch, sorted);
        return search.find(order.length(stream.rank()));
    }

    /** The narrowest group that has nearly all that a wider one has: loaders work on batches side by side, as far apart as nobody says. */
    private @Nullable Found find(int length) {
        Group best = null;
        int widest = widest(length);
        for (int width = Math.min(found, widest); width > 0; width = width <= widest / 2 ? 2 * width : widest) {
            Group group = densest(width);
            if (fits(group)) {
                if (best != null && group.samples <= GAIN * best.samples) {
                    break;
                }
                best = group;
            }
            if (width == widest) {
                break;
            }
        }
        return best == null ? null : around(best.positions);
    }

    private int widest(int length) {
        if (steps.size() <= found) {
            return length;
        }
        double repeatAfter = (double) found * length / steps.size();
        return (int) (BY_CHANCE * repeatAfter);
    }

    /** What a window can take of a group: the positions around its middle. */
    private static Found around(long[] positions) {
        long middle = positions[positions.length / 2];
        long[] read = Arrays.stream(positions)
                .filter(position -> Math.abs(position - middle) < StreamWindow.RECOGNISED_AHEAD / 2)
                .toArray();
        return new Found(read[0], read);
    }

    private boolean fits(Group group) {
        return group.samples >= FEWEST && group.samples >= FITTING_SHARE * found;
    }

    /**
     * Places that have another one close by.
     *
     * @param samples how many different ones are read there
     */
    private record Group(int samples, long[] positions) {}

    /** Of all groups within so many steps the first with the most different samples. */
    private Group densest(int width) {
        int[] times = new int[different];
        int samples = 0;
        int most = 0;
        int first = 0;
        int mostFirst = 0;
        int mostEnd = 0;
        for (int end = 0; end < steps.size(); end++) {
            samples += times[which.getInt(end)]++ == 0 ? 1 : 0;
            while (steps.getInt(end) - steps.getInt(first) >= width) {
                samples -= --times[which.getInt(first++)] == 0 ? 1 : 0;
            }
            if (samples > most) {
                most = samples;
                mostFirst = first;
                mostEnd = end + 1;
            }
        }
        while (mostFirst > 0 && areNeighbours(mostFirst - 1)) { // of a sample that is read twice one may lie outside
            mostFirst--;
        }
        while (mostEnd > 0 && mostEnd < steps.size() && areNeighbours(mostEnd - 1)) {
            mostEnd++;
        }
        return group(mostFirst, mostEnd);
    }

    /** Whether this place and the next are close. */
    private boolean areNeighbours(int at) {
        return steps.getInt(at + 1) - steps.getInt(at) <= LastReads.NEIGHBOUR;
    }

    private Group group(int first, int end) {
        BitSet samples = new BitSet();
        LongArrayList positions = new LongArrayList();
        for (int i = first; i < end; i++) {
            if ((i > first && areNeighbours(i - 1)) || (i + 1 < end && areNeighbours(i))) {
                samples.set(which.getInt(i));
                positions.add(AccessStream.position(epoch, steps.getInt(i)));
            }
        }
        return new Group(samples.cardinality(), positions.toLongArray());
    }
}
