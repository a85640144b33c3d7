package io.clairfs.cache.posix;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Touches the memory that samples will take next, so that no reader waits until the kernel has given and cleared it: a huge page takes 0.1 ms, and
 * several where the host of a virtual machine has to give it first.
 *
 * <p>It follows the end of the highest block in the heap of the C library, and touches what lies between that and the heap's end in steps of a huge
 * page: as much ahead as was taken before, 32 MiB at most. The contents stay as they are, so it needs no agreement with the allocator. Its
 * thread waits while the heap does not grow. It ends on a system that cannot do it, before Linux 5.14.
 */
final class MemoryAhead {
    private static final Logger LOG = System.getLogger(MemoryAhead.class.getName());

    static final long STEP = 2L << 20;
    private static final long MOST_AHEAD = 32L << 20;

    /** A block that ends so far above is no growth of the heap, which grows by less: it is in a mapping of its own. */
    private static final long NOT_IN_THE_HEAP = 1L << 30;

    private static final int MADV_POPULATE_WRITE = 23;
    private static final NativeFunction MADVISE = NativeFunction.of("madvise");

    private final LongSupplier heapEnd;
    private final long begin;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("memory-ahead").unstarted(this::run);
    private volatile long highest;

    /** For the thread alone. */
    private long touched;

    /** A block that ends above this address wakes the thread. */
    private volatile long wakeAbove;

    /**
     * Touches nothing before {@link #start}.
     *
     * @param heapEnd the address behind the heap's last byte; blocks above it are not in the heap
     * @param begin the heap below was touched before
     */
    MemoryAhead(LongSupplier heapEnd, long begin) {
        this.heapEnd = heapEnd;
        this.begin = begin;
        this.highest = begin;
        this.touched = begin;
        this.wakeAbove = begin;
    }

    void start() {
        thread.start();
    }

    /** A block was taken that ends at {@code end}. */
    void taken(long end) {
        long above = end - wakeAbove;
        if (above > 0 && above < NOT_IN_THE_HEAP) {
            highest = end; // of two at once the lower may win; the next block says more
            wakeAbove = end;
            LockSupport.unpark(thread);
        }
    }

    /** Touches the pages of this memory, whose contents stay as they are. Returns whether it did; if not, {@link NativeCall#errno} says why. */
    static boolean touch(long from, long bytes) {
        return MADVISE.call(from, bytes, MADV_POPULATE_WRITE) == 0;
    }

    private void run() {
        while (true) {
            long end = heapEnd.getAsLong() & -STEP;
            if (highest > end + STEP) { // a mapping of its own, or the heap has become shorter
                highest = begin;
            }
            long block = highest;
            long from = Math.max(Math.min(touched, end), block) + STEP - 1 & -STEP;
            long until = Math.min(end, block + Math.min(block - begin, MOST_AHEAD));
            if (from + STEP > until) {
                wakeAbove = from >= end ? end + STEP : Math.max(block + STEP / 2, from - MOST_AHEAD / 2);
                LockSupport.park(this);
            } else if (!touch(from, STEP) && NativeCall.errno() == Errno.EINVAL) {
                LOG.log(Level.DEBUG, "memory is not touched ahead: the kernel cannot do it");
                wakeAbove = Long.MAX_VALUE;
                return;
            } else {
                touched = from + STEP;
            }
        }
    }
}
