package io.clairfs.cache.order;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one rank reads, over all epochs of a run, as a sequence of positions.
 *
 * <p>A position is an epoch and a step in it, packed into a long ({@link #position}), so that positions compare in the order of reading.
 * Only the orders of the few epochs in use are stored ({@link EpochOrders}), and none is waited for: where one is still being computed, the
 * answer is an {@link OrderNotReadyException}. Not thread-safe.
 */
public final class AccessStream {
    /** After the last position of the last epoch. */
    public static final long END = Long.MAX_VALUE;

    private static final int MOST_LENGTHS = 64;

    /** So many epochs in a row that yield nothing are the end: a sampler that yields nothing at all goes on doing so. Below {@link #MOST_LENGTHS}. */
    public static final int MOST_EMPTY = 32;

    private final EpochOrders orders;
    private final int rank;
    private final int epochs;

    /** By epoch; a length is needed when the order itself is not kept any more. */
    private final Map<Integer, Integer> lengths = new LinkedHashMap<>();

    /** The epoch that was asked for last, and its length, for nearly every question is about the same one as the question before. */
    private int lastEpoch = -1;

    private int lastLength;

    /** The stream of {@code rank} over epochs 0 to {@code epochs - 1}. */
    public AccessStream(EpochOrders orders, int rank, int epochs) {
        this.orders = orders;
        this.rank = rank;
        this.epochs = epochs;
    }

    /** The position of {@code step} in {@code epoch}, both counted from 0. */
    public static long position(int epoch, int step) {
        return (long) epoch << 32 | step;
    }

    public static int epoch(long position) {
        return (int) (position >>> 32);
    }

    public static int step(long position) {
        return (int) position;
    }

    public int rank() {
        return rank;
    }

    public int epochs() {
        return epochs;
    }

    /** How many samples this rank reads in {@code epoch}. */
    public int length(int epoch) throws InvalidSpecException {
        if (epoch != lastEpoch) {
            lastLength = lookUpLength(epoch);
            lastEpoch = epoch;
        }
        return lastLength;
    }

    private int lookUpLength(int epoch) throws InvalidSpecException {
        Integer known = lengths.get(epoch);
        if (known == null) {
            known = orders.now(epoch).length(rank);
            lengths.put(epoch, known);
            if (lengths.size() > MOST_LENGTHS) {
                lengths.remove(lengths.keySet().iterator().next());
            }
        }
        return known;
    }

    /**
     * {@code position} itself if a sample is read there, else the first position after it, or {@link #END}. Epochs without a sample, as one that a
     * resumed run skips or whose order file is empty, are passed over.
     */
    public long atOrAfter(long position) throws InvalidSpecException {
        int step = step(position);
        int empty = 0;
        for (int epoch = epoch(position); epoch < epochs && empty < MOST_EMPTY; epoch++) {
            int length = length(epoch);
            if (step < length) {
                return position(epoch, step);
            }
            empty = length == 0 ? empty + 1 : 0;
            step = 0;
        }
        return END;
    }

    /** The sample read at {@code position}. */
    public int sample(long position) throws InvalidSpecException {
        return orders.now(epoch(position)).sample(rank, step(position));
    }
}
