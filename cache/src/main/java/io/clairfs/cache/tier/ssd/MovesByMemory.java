package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.tier.SampleBuffer;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The samples that compaction moves by way of memory: their old place is cut before they are written anew. Meanwhile they are here, and are given from memory;
 * one that is evicted meanwhile is not put back.
 *
 * <p>Thread-safe. The lock of a move is held while its new place is published, and comes before that of {@link SegmentLog}.
 */
final class MovesByMemory {
    private final ConcurrentMap<Integer, Move> byFile = new ConcurrentHashMap<>();

    /** One sample. The mover holds a reference to the buffer until the move ends. */
    private static final class Move {
        private final SampleBuffer sample;
        private boolean isPublished;
        private boolean isEvicted;

        Move(SampleBuffer sample) {
            this.sample = sample;
        }

        synchronized boolean evict() {
            isEvicted |= !isPublished;
            return isEvicted;
        }

        synchronized boolean publish(BooleanSupplier publish, Runnable discard) {
            if (isEvicted) {
                discard.run();
            } else {
                isPublished = publish.getAsBoolean();
            }
            return isPublished;
        }

        /** Once it has its new place, that tells. */
        synchronized boolean isOnItsWay() {
            return !isEvicted && !isPublished;
        }
    }

    /** The sample leaves its old place from now on; {@link #end} must follow. No other thread may write it. */
    void begin(int file, SampleBuffer sample) {
        var _ = byFile.put(file, new Move(sample));
    }

    /** The move has ended, if it had begun. */
    void end(int file) {
        var _ = byFile.remove(file);
    }

    /** The sample is not put back, if it is being moved and has no new place yet. Returns whether that is so. */
    boolean evict(int file) {
        Move move = byFile.get(file);
        return move != null && move.evict();
    }

    /**
     * Runs {@code publish}, which gives a sample its place and returns whether it did; {@code discard} if the sample was evicted during its move.
     *
     * @return whether the sample has its place
     */
    boolean publish(int file, BooleanSupplier publish, Runnable discard) {
        Move move = byFile.get(file);
        return move == null ? publish.getAsBoolean() : move.publish(publish, discard);
    }

    /** Whether the sample is on its way to its new place, and was not evicted. */
    boolean has(int file) {
        Move move = byFile.isEmpty() ? null : byFile.get(file);
        return move != null && move.isOnItsWay();
    }

    /** The sample that is on its way, with a reference for the caller; null when it is not, or was evicted. */
    @Nullable
    SampleBuffer get(int file) {
        Move move = byFile.isEmpty() ? null : byFile.get(file);
        return move != null && move.isOnItsWay() && move.sample.tryRetain() ? move.sample : null;
    }
}
