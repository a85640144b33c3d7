package io.clairfs.cache.follow;

/**
 * The last reads of one stream, and which of them follow its order.
 *
 * <p>Loaders work on batches side by side, each batch in order. So a read that follows the order has a neighbour: another of the last reads
 * at most {@value #NEIGHBOUR} positions away. Not thread-safe.
 */
final class LastReads {
    /** How far apart neighbours may be, positions. */
    static final int NEIGHBOUR = 2;

    private final long[] sequences;

    /** Whether a neighbour was seen. */
    private final boolean[] close;

    /** Where the next read goes: in place of the oldest once all are in use. */
    private int next;

    private int remembered;

    /** None yet, of {@code memory} that are remembered. */
    LastReads(int memory) {
        sequences = new long[memory];
        close = new boolean[memory];
    }

    /** The next read, at this place. */
    void add(long sequence) {
        int at = next;
        sequences[at] = sequence;
        close[at] = false;
        next = at + 1 == sequences.length ? 0 : at + 1;
        remembered = Math.min(remembered + 1, sequences.length);
        for (int i = 0; i < remembered; i++) {
            if (i != at && Math.abs(sequences[i] - sequence) <= NEIGHBOUR) {
                close[i] = true;
                close[at] = true;
            }
        }
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
            if (sequences[i] != sequence && Math.abs(sequences[i] - sequence) <= NEIGHBOUR) {
                return true;
            }
        }
        return false;
    }

    /** Puts those that have neighbours into {@code into}, ascending. Returns how many there are. */
    int orderly(long[] into) {
        int oldest = remembered < sequences.length ? 0 : next;
        int count = orderly(oldest, remembered, into, 0);
        return orderly(0, oldest, into, count);
    }

    private int orderly(int from, int to, long[] into, int count) {
        int more = count;
        for (int i = from; i < to; i++) {
            if (close[i]) {
                insert(sequences[i], into, more++);
            }
        }
        return more;
    }

    /** Inserts from the end, where the place is found at once, for reads come nearly in order. */
    private static void insert(long sequence, long[] sorted, int count) {
        int at = count;
        while (at > 0 && sorted[at - 1] > sequence) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = sequence;
    }

    void clear() {
        next = 0;
        remembered = 0;
    }
}
