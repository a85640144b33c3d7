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

    private final Measurement disk;
    private final long reserveBytes;
    private final LongSupplier clock;
    private boolean measured;
    private long measuredAtNs;
    private long freeBytes;
    private long writtenBytes;

    /** Of writes under way, which a measurement may see or not. */
    private long underWayBytes;

    /** Measures how many bytes may still be written to a filesystem. */
    @FunctionalInterface
    interface Measurement {
        long freeBytes() throws PosixException;
    }

    FreeSpace(Measurement disk, long reserveBytes, LongSupplier clock) {
        this.disk = disk;
        this.reserveBytes = reserveBytes;
        this.clock = clock;
    }

    /**
     * Takes {@code bytes} for a write, unless that would touch the reserve. Returns whether it did; the caller then calls {@link #written}.
     */
    synchronized boolean take(long bytes) {
        boolean enough = allows(bytes);
        if (enough) {
            underWayBytes += inBlocks(bytes);
        }
        return enough;
    }

    /** Whether {@code bytes} may be written without touching the reserve. */
    boolean allows(long bytes) {
        return allows(bytes, 0);
    }

    /** The same when {@code removedBytes} of files have been removed. */
    synchronized boolean allows(long bytes, long removedBytes) {
        long now = clock.getAsLong();
        if (!measured || now - measuredAtNs >= MEASURED_FOR_NS || writtenBytes >= MEASURED_FOR_BYTES) {
            measure(now);
        }
        if (!isEnoughFor(bytes, removedBytes) && writtenBytes > 0) {
            measure(now);
        }
        return isEnoughFor(bytes, removedBytes);
    }

    private boolean isEnoughFor(long bytes, long removedBytes) {
        return freeBytes + removedBytes - writtenBytes - underWayBytes - inBlocks(bytes) >= reserveBytes;
    }

    /** Bytes that a file or a write of {@code bytes} may take, in whole blocks and one more. */
    static long inBlocks(long bytes) {
        return (Math.ceilDiv(bytes, BLOCK_BYTES) + 1) * BLOCK_BYTES;
    }

    /** A write of {@code bytes} has ended, well or not. */
    synchronized void written(long bytes) {
        underWayBytes -= inBlocks(bytes);
        writtenBytes += inBlocks(bytes);
    }

    /** Files were removed or cut: measures anew when it is asked next. */
    synchronized void changed() {
        measured = false;
    }

    private void measure(long now) {
        try {
            freeBytes = disk.freeBytes();
        } catch (PosixException e) {
            freeBytes = 0; // unknown: as if none were free
        }
        measured = true;
        measuredAtNs = now;
        writtenBytes = 0;
    }
}
