package io.clairfs.tools.node.seed;

import com.sun.management.ThreadMXBean;
import io.clairfs.cache.posix.SchedulerSlice;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets a long computation run while processors are idle. Whoever computes calls {@link #next} every millisecond or so; when its thread had to
 * wait for a processor, somebody else wants it, and the thread pauses for several times as long as it ran.
 *
 * <p>Where the kernel knows slices of threads, whoever wakes takes the processor from this thread at once ({@link SchedulerSlice}).
 *
 * <p>A thread of the lowest priority would do the same, but the JVM stops all threads now and then, and would wait for one that gets no
 * processor. For one thread.
 */
final class IdleTurns {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final long LOOK_NS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(50);

    /** A thread that has a processor for itself runs for at least this part of the time. */
    private static final double ALONE = 0.9;

    /** Pauses are so many times as long as what was run before. */
    private static final int PAUSE_TIMES = 15;

    private long ranNs = THREADS.getCurrentThreadCpuTime();
    private long sinceNs = System.nanoTime();
    private boolean wanted = true;

    /** For the calling thread. */
    IdleTurns() {
        SchedulerSlice.lengthen();
    }

    /** The computation's next part may begin: at once, or after a pause. */
    void next() {
        long took = System.nanoTime() - sinceNs;
        if (took < LOOK_NS) {
            return;
        }
        long ran = THREADS.getCurrentThreadCpuTime() - ranNs;
        boolean waited = ran < ALONE * took;
        if (waited || wanted) {
            LockSupport.parkNanos(Math.min(LONGEST_PAUSE_NS, PAUSE_TIMES * ran));
        }
        wanted = waited; // one turn alone after a pause shows that the processor is idle again
        ranNs = THREADS.getCurrentThreadCpuTime();
        sinceNs = System.nanoTime();
    }
}
