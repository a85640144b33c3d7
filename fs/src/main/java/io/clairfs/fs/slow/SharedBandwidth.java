package io.clairfs.fs.slow;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.PosixException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * One line that all readers share. Each request gets its time on it, in the order of arrival.
 *
 * <p>A request of n bytes occupies the line for n / bandwidth from the moment it is free, so concurrent readers that each have
 * one request under way get equal shares. Waits that end late would lose capacity, so an idle line may be used for up to
 * {@link #CREDIT_NS} in the past. So over a time t at most (t + credit) x bandwidth bytes pass.
 */
final class SharedBandwidth {
    /** The most unused time that may be made up for. */
    static final long CREDIT_NS = TimeUnit.MILLISECONDS.toNanos(5);

    /** The longest queue; a request that would have to wait longer fails instead. */
    static final long LONGEST_WAIT_NS = TimeUnit.SECONDS.toNanos(30);

    private static final double NANOS_PER_SECOND = 1e9;

    private final double nsPerByte;
    private final LongSupplier clock;
    private long freeAtNs;

    /** {@code clock} is as {@link System#nanoTime}. */
    SharedBandwidth(long bytesPerSecond, LongSupplier clock) {
        nsPerByte = NANOS_PER_SECOND / bytesPerSecond;
        this.clock = clock;
        freeAtNs = clock.getAsLong();
    }

    /**
     * Reserves the line for {@code bytes}. Returns the time of the clock at which the last byte has passed.
     *
     * @throws PosixException with ETIMEDOUT when that is more than {@link #LONGEST_WAIT_NS} away; the line is then unchanged
     */
    synchronized long reserve(long bytes) throws PosixException {
        long now = clock.getAsLong();
        long startsIn = Math.max(freeAtNs - now, -CREDIT_NS);
        long endsIn = startsIn + (long) Math.ceil(bytes * nsPerByte);
        if (endsIn > LONGEST_WAIT_NS) {
            throw new PosixException("slow source", Errno.ETIMEDOUT);
        }
        freeAtNs = now + endsIn;
        return freeAtNs;
    }
}
