package io.clairfs.cache.follow;

import java.util.Arrays;

/**
 * Judges from the last reads whether a trainer follows its predicted order.
 *
 * <p>Loaders work on batches side by side, each batch in order. So a read that follows the prediction has a neighbour: another
 * recent read of the same stream at most {@value #NEIGHBOUR} positions away. In another order that is rare as long as the
 * number of remembered reads is small against the epoch. A read is judged when it is as old as half of the memory, by its
 * neighbours on both sides of it. Not thread-safe.
 */
final class SyncDetector {
    /** How far apart neighbours may be, positions. */
    static final int NEIGHBOUR = 2;

    /** In sync means that this share of the judged reads had a neighbour. */
    private static final double IN_SYNC_SHARE = 0.6;

    private static final int FEW = 6;
    private static final long NOWHERE = Long.MIN_VALUE;

    private final long[] sequences;
    private final int[] streams;

    /** Whether a neighbour was seen. */
    private final boolean[] close;

    /** What was decided when the read was judged. */
    private final boolean[] orderly;

    private long reads;
    private long judged;
    private int orderlyJudged;
    private int remembered;
    private long deviations;

    /** A judge that remembers {@code memory} reads. */
    SyncDetector(int memory) {
        sequences = new long[memory];
        streams = new int[memory];
        close = new boolean[memory];
        orderly = new boolean[memory];
    }

    /** How many reads to remember for a stream of {@code length} positions in an epoch, read by {@code ranks} of this node. */
    static int memoryFor(int length, int ranks) {
        return Math.clamp(length / 8, 16, 64) * Math.min(ranks, 16);
    }

    /** A read at this place of a stream. */
    void readAt(int stream, long sequence) {
        add(stream, sequence);
    }

    /** A read of a sample that is nowhere in the windows of the job. */
    void readElsewhere() {
        add(-1, NOWHERE);
    }

    private void add(int stream, long sequence) {
        int at = (int) (reads % sequences.length);
        sequences[at] = sequence;
        streams[at] = stream;
        close[at] = false;
        reads++;
        remembered = Math.min(remembered + 1, sequences.length);
        if (sequence != NOWHERE) {
            greetNeighbours(at);
        }
        int delay = sequences.length / 2;
        if (remembered > delay) {
            judge((int) ((reads - 1 - delay) % sequences.length));
        }
    }

    private void greetNeighbours(int at) {
        for (int i = 0; i < remembered; i++) {
            if (i != at
                    && streams[i] == streams[at]
                    && sequences[i] != NOWHERE
                    && Math.abs(sequences[i] - sequences[at]) <= NEIGHBOUR) {
                close[i] = true;
                close[at] = true;
            }
        }
    }

    /** How far the nearest of the remembered reads is from this place, positions; {@link Long#MAX_VALUE} when there is none in the stream. */
    long fromNearest(int stream, long sequence) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < remembered; i++) {
            if (streams[i] == stream && sequences[i] != NOWHERE) {
                least = Math.min(least, Math.abs(sequences[i] - sequence));
            }
        }
        return least;
    }

    /** Whether another of the remembered reads is close to this place. */
    boolean hasNeighbour(int stream, long sequence) {
        for (int i = 0; i < remembered; i++) {
            if (streams[i] == stream
                    && sequences[i] != NOWHERE
                    && sequences[i] != sequence
                    && Math.abs(sequences[i] - sequence) <= NEIGHBOUR) {
                return true;
            }
        }
        return false;
    }

    private void judge(int at) {
        if (judged >= sequences.length && orderly[at]) {
            orderlyJudged--;
        }
        orderly[at] = close[at];
        if (close[at]) {
            orderlyJudged++;
        } else {
            deviations++;
        }
        judged++;
    }

    /** Puts the remembered reads of a stream that have neighbours into {@code into}, ascending. Returns how many there are. */
    int orderlyReads(int stream, long[] into) {
        int count = 0;
        for (int i = 0; i < remembered; i++) {
            int oldestFirst = (int) ((reads - remembered + i) % sequences.length);
            if (close[oldestFirst] && streams[oldestFirst] == stream) {
                insert(sequences[oldestFirst], into, count++);
            }
        }
        return count;
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

    /** Whether the reads judged so far follow the prediction; true while there are only a few. */
    boolean inSync() {
        long window = Math.min(judged, sequences.length);
        return window < FEW || orderlyJudged >= IN_SYNC_SHARE * window;
    }

    /** Reads that were judged not to follow the prediction. */
    long deviations() {
        return deviations;
    }

    /** Forgets the reads, but not the number of deviations: the trainer was found at another place. */
    void reset() {
        Arrays.fill(orderly, false);
        reads = 0;
        judged = 0;
        orderlyJudged = 0;
        remembered = 0;
    }
}
