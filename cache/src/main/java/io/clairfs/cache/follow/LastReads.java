package io.clairfs.cache.follow;

import io.clairfs.cache.stage.StreamWindow;
import java.util.Arrays;

/**
 * The last reads of one stream, and which of them follow its order.
 *
 * <p>Loaders work on batches side by side, each batch in order. So a read that follows the order has a neighbour: another of the last reads
 * at most {@value #NEIGHBOUR} positions away. Where the window leaves tracers ({@link StreamWindow#leaveTracers}), hardly any other reads are
 * seen of a trainer in order, so those of two tracers are neighbours, too, if no more than one lies between them. In another order few reads
 * are at tracers. Not thread-safe.
 */
final class LastReads {
    /** How far apart neighbours may be, positions. */
    static final int NEIGHBOUR = 2;

    /** The same for tracers: one of them may go unseen. */
    private static final int TRACER_NEIGHBOUR = 2 * StreamWindow.TRACER_EVERY;

    private final long[] sequences;

    /** Whether a neighbour was seen. */
    private final boolean[] close;

    /** Where the next read goes: in place of the oldest once all are in use. */
    private int next;

    private int remembered;

    /** Those that have neighbours, ascending: kept sorted, for every read asks for their middle. */
    private final long[] orderly;

    private int orderlyCount;

    /** Whether the window leaves tracers. */
    private boolean tracers;

    /** None yet, of {@code memory} that are remembered. */
    LastReads(int memory) {
        sequences = new long[memory];
        close = new boolean[memory];
        orderly = new long[memory];
    }

    /** Reads of tracers are neighbours from now on. */
    void expectTracers() {
        tracers = true;
    }

    private boolean areNeighbours(long one, long other) {
        long apart = Math.abs(one - other);
        return apart <= NEIGHBOUR
                || (tracers && apart <= TRACER_NEIGHBOUR && StreamWindow.isTracer(one) && StreamWindow.isTracer(other));
    }

    /** The next read, at this place. */
    void add(long sequence) {
        int at = next;
        if (remembered == sequences.length && close[at]) {
            forgetOrderly(sequences[at]);
        }
        sequences[at] = sequence;
        close[at] = false;
        next = at + 1 == sequences.length ? 0 : at + 1;
        remembered = Math.min(remembered + 1, sequences.length);
        for (int i = 0; i < remembered; i++) {
            if (i != at && areNeighbours(sequences[i], sequence)) {
                markClose(i);
                markClose(at);
            }
        }
    }

    private void markClose(int at) {
        if (!close[at]) {
            close[at] = true;
            int end = orderlyCount++;
            int place = Arrays.binarySearch(orderly, 0, end, sequences[at]);
            int to = place < 0 ? -place - 1 : place;
            System.arraycopy(orderly, to, orderly, to + 1, end - to);
            orderly[to] = sequences[at];
        }
    }

    private void forgetOrderly(long sequence) {
        int place = Arrays.binarySearch(orderly, 0, orderlyCount, sequence);
        orderlyCount--;
        System.arraycopy(orderly, place + 1, orderly, place, orderlyCount - place);
    }

    /** Whether a read has become old enough by the last one to be judged, by its neighbours on both sides of it. */
    boolean hasOneToJudge() {
        return remembered > sequences.length / 2;
    }

    /** Whether that read has a neighbour. */
    boolean isJudgedOrderly() {
        return close[Math.floorMod(next - 1 - sequences.length / 2, sequences.length)];
    }

    /** How far the nearest of them is from this place, positions; {@link Long#MAX_VALUE} when there is none. */
    long fromNearest(long sequence) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < remembered; i++) {
            least = Math.min(least, Math.abs(sequences[i] - sequence));
        }
        return least;
    }

    /** Whether another of them is close to this place. */
    boolean hasNeighbour(long sequence) {
        for (int i = 0; i < remembered; i++) {
            if (sequences[i] != sequence && areNeighbours(sequences[i], sequence)) {
                return true;
            }
        }
        return false;
    }

    /** How many of them have neighbours. */
    int orderlyCount() {
        return orderlyCount;
    }

    /** The place of one of those that have neighbours; the first of {@link #orderlyCount} comes first in the stream. */
    long orderly(int at) {
        return orderly[at];
    }

    void clear() {
        next = 0;
        remembered = 0;
        orderlyCount = 0;
    }
}
