package io.clairfs.fs.read;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How long a read may wait for a source that has just let another read of the file time out.
 *
 * <p>The kernel reads ahead. When the page that a thread waits for did not come with that, the kernel requests this page once more for the same
 * thread; a mapping requests it a third time. A source that hangs would cost each read two timeouts or three. So the next requests of a thread
 * that timed out fail at once, for a second.
 *
 * <p>Other threads that wait for the same page request it one after another once the first has failed. They come at its heels, because the
 * kernel lets the next one go on at once, and would wait for a timeout each. So the first of them waits for a part of the timeout, and the
 * others, however many, fail at once for a second. Then a read waits for the whole timeout again, because the source may be well by now.
 *
 * <p>Life cycle: {@link ReadRequests} makes it; it has no thread and nothing to close. An entry counts for a second, and a later call
 * removes it. Thread-safe without a lock.
 */
final class RepeatedReads {
    /** The next request of the same thread comes as soon as it runs again. */
    private static final long WITHIN_NS = TimeUnit.SECONDS.toNanos(1);

    /** How soon the next thread's request follows the one before, on a busy machine. */
    private static final long AT_HEELS_NS = TimeUnit.SECONDS.toNanos(1);

    /** A thread that has probably waited before its request waits for the timeout divided by this. */
    private static final int SHARE_AT_HEELS = 10;

    private static final int MOST = 4096;

    /** In place of a thread: the kernel itself, or a thread that this process cannot see. */
    static final int UNKNOWN = 0;

    private final LongSupplier clock;

    /** When a thread's read of a file failed by a timeout. */
    private final ConcurrentHashMap<Question, Long> threads = new ConcurrentHashMap<>();

    private final ConcurrentHashMap<Integer, Told> files = new ConcurrentHashMap<>();

    private record Question(int file, int thread) {}

    /**
     * The last failures of reads of a file.
     *
     * @param atNs when a read last failed, after a wait or at once
     * @param waitedNs when a read last failed after a wait
     * @param shared whether that wait was a part of the timeout only
     */
    private record Told(long atNs, long waitedNs, boolean shared) {}

    /** {@code clock} is as {@link System#nanoTime}. */
    RepeatedReads(LongSupplier clock) {
        this.clock = clock;
    }

    /** How long a read of {@code file} for {@code thread}, or {@link #UNKNOWN}, may wait now: {@code timeoutMs}, a part of it, or 0. */
    long patienceMs(int file, int thread, long timeoutMs) {
        if (files.isEmpty() && threads.isEmpty()) {
            return timeoutMs;
        }
        long now = clock.getAsLong();
        forgetOld(now);
        if (threads.containsKey(new Question(file, thread))) {
            return 0;
        }
        Told told = files.get(file);
        if (told == null) {
            return timeoutMs;
        }
        if (!told.shared) {
            return timeoutMs / SHARE_AT_HEELS;
        }
        if (now - told.waitedNs > WITHIN_NS) {
            return timeoutMs;
        }
        files.replace(file, told, new Told(now, told.waitedNs, true));
        return 0;
    }

    /** Notes that a read of {@code file} for {@code thread}, or {@link #UNKNOWN}, timed out; {@code shared} if after a part of the timeout. */
    void timedOut(int file, int thread, boolean shared) {
        long now = clock.getAsLong();
        forgetOld(now);
        if (threads.size() < MOST && files.size() < MOST) {
            files.put(file, new Told(now, now, shared));
            if (thread != UNKNOWN) {
                threads.put(new Question(file, thread), now);
            }
        }
    }

    private void forgetOld(long now) {
        threads.values().removeIf(then -> now - then > WITHIN_NS);
        files.values().removeIf(told -> now - told.atNs > AT_HEELS_NS);
    }
}
