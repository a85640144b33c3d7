package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.posix.PosixException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Keeps a reserve of the filesystem free for others. Free space is measured now and then, and estimated in between from the bytes written.
 *
 * <p>The estimate counts a write as whole blocks and one more, because a filesystem allocates blocks; before a refusal it is measured anew.
 */
final class FreeSpace {
    private static final long MEASURED_FOR_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long MEASURED_FOR_BYTES = 64L << 20;
    private static final long BLOCK_BYTES = 4096;

    private final TierDirectory directory;
    private final long reserveBytes;
    private final LongSupplier clock;
    private boolean measured;
    private long measuredAtNs;
    private long freeBytes;
    private long writtenBytes;

    FreeSpace(TierDirectory directory, long reserveBytes, LongSupplier clock) {
        this.directory = directory;
        this.reserveBytes = reserveBytes;
        this.clock = clock;
    }

    /** Whether {@code bytes} may be written without touching the reserve. */
    synchronized boolean allows(long bytes) {
        long now = clock.getAsLong();
        if (!measured || now - measuredAtNs >= MEASURED_FOR_NS || writtenBytes >= MEASURED_FOR_BYTES) {
            measure(now);
        }
        if (!isEnoughFor(bytes) && writtenBytes > 0) {
            measure(now);
        }
        return isEnoughFor(bytes);
    }

    private boolean isEnoughFor(long bytes) {
        return freeBytes - writtenBytes - inBlocks(bytes) >= reserveBytes;
    }

    private static long inBlocks(long bytes) {
        return (Math.ceilDiv(bytes, BLOCK_BYTES) + 1) * BLOCK_BYTES;
    }

    /** Records that {@code bytes} were written. */
    synchronized void wrote(long bytes) {
        writtenBytes += inBlocks(bytes);
    }

    private void measure(long now) {
        try {
            freeBytes = directory.freeBytes();
        } catch (PosixException e) {
            freeBytes = 0; // unknown: as if none were free
        }
        measured = true;
        measuredAtNs = now;
        writtenBytes = 0;
    }
}
