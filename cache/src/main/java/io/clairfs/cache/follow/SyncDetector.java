package io.clairfs.cache.follow;

import java.util.Arrays;
import java.util.stream.Stream;

/**
 * Judges from the last reads whether a trainer follows its predicted order.
 *
 * <p>A read that follows the prediction has a neighbour among the {@linkplain LastReads last reads} of its stream. In another order that is
 * rare as long as the number of remembered reads is small against the epoch. A read is judged when it is as old as half of the memory of its
 * stream, in reads of that stream: ranks of a node meet once a step, or only at the end of an epoch, and while one stands still another may
 * read its whole share. Not thread-safe.
 */
final class SyncDetector {
    /** In sync means that this share of the judged reads had a neighbour. */
    private static final double IN_SYNC_SHARE = 0.6;

    private static final int FEW = 6;
    private static final int MOST_RANKS = 16;

    private final LastReads[] streams;

    /** What was decided of the last reads that were judged. */
    private final boolean[] orderly;

    private long judged;
    private int orderlyJudged;
    private long deviations;

    /**
     * A judge of so many streams.
     *
     * @param memory how many reads of each to remember
     */
    SyncDetector(int streams, int memory) {
        this.streams =
                Stream.generate(() -> new LastReads(memory)).limit(streams).toArray(LastReads[]::new);
        orderly = new boolean[memoryOfAll(memory, streams)];
    }

    /** How many reads to remember of a stream of {@code length} positions in an epoch. */
    static int memoryFor(int length) {
        return Math.clamp(length / 8, 16, 64);
    }

    /** How many of the last reads tell where the trainer of so many streams is. */
    static int memoryOfAll(int memory, int streams) {
        return memory * Math.clamp(streams, 1, MOST_RANKS);
    }

    /** A read at this place of a stream. */
    void readAt(int stream, long sequence) {
        streams[stream].add(sequence);
        if (streams[stream].hasOneToJudge()) {
            judge(streams[stream].isJudgedOrderly());
        }
    }

    /** A read of a sample that is nowhere in the windows of the job. */
    void readElsewhere() {
        judge(false);
    }

    private void judge(boolean isOrderly) {
        int at = (int) (judged % orderly.length);
        if (judged >= orderly.length && orderly[at]) {
            orderlyJudged--;
        }
        orderly[at] = isOrderly;
        if (isOrderly) {
            orderlyJudged++;
        } else {
            deviations++;
        }
        judged++;
    }

    /** Most reads in order are of tracers from now on. */
    void expectTracers() {
        Arrays.stream(streams).forEach(LastReads::expectTracers);
    }

    /** The last reads of a stream. */
    LastReads lastReads(int stream) {
        return streams[stream];
    }

    /** Whether the reads judged so far follow the prediction; true while there are only a few. */
    boolean inSync() {
        long window = Math.min(judged, orderly.length);
        return window < FEW || orderlyJudged >= IN_SYNC_SHARE * window;
    }

    /** Reads that were judged not to follow the prediction. */
    long deviations() {
        return deviations;
    }

    /** Forgets the reads, but not the number of deviations: the trainer was found at another place. */
    void reset() {
        Arrays.stream(streams).forEach(LastReads::clear);
        judged = 0;
        orderlyJudged = 0;
    }
}
