package io.clairfs.fs.read;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How long who asks for bytes of a file may wait for a source that has just let somebody else wait in vain.
 *
 * <p>The kernel reads ahead; when the page that somebody waits for did not come with that, it asks for this page once more, for the same
 * thread; a mapping asks a third time. A source that hangs would cost each read two timeouts or three. So who has just been told that the
 * source does not answer is told the same at once, for a second.
 *
 * <p>Others who wait for the same page ask for it one after the other when the first has been told. They come at its heels, for the kernel lets the next one
 * go on at once, and would wait for a timeout each. So the first of them waits for a part of the timeout, and the others, however many, are told at once
 * for a second. Then somebody waits for the whole timeout again, for the source may be well by now.
 */
final class RepeatedReads {
    /** The next question of the same thread comes as soon as it runs again. */
    private static final long WITHIN_NS = TimeUnit.SECONDS.toNanos(1);

    /** How soon after the one before the next thread asks, on a busy machine. */
    private static final long AT_HEELS_NS = TimeUnit.SECONDS.toNanos(1);

    /** Who has probably waited before his request came waits for so small a part of the timeout. */
    private static final int SHARE_AT_HEELS = 10;

    private static final int MOST = 4096;

    /** In place of a thread: the kernel itself, or somebody whom this process cannot see. */
    static final int UNKNOWN = 0;

    private final LongSupplier clock;

    /** When a thread was told that a file's source does not answer. */
    private final ConcurrentHashMap<Question, Long> threads = new ConcurrentHashMap<>();

    private final ConcurrentHashMap<Integer, Told> files = new ConcurrentHashMap<>();

    private record Question(int file, int thread) {}

    /**
     * What readers of a file were told last.
     *
     * @param atNs when somebody was told that its source does not answer
     * @param waitedNs when somebody was told so who had waited
     * @param shared whether he waited for a part of the timeout only
     */
    private record Told(long atNs, long waitedNs, boolean shared) {}

    /** {@code clock} is as {@link System#nanoTime}. */
    RepeatedReads(LongSupplier clock) {
        this.clock = clock;
    }

    /** How long a read of {@code file} for {@code thread}, or for nobody knows whom, may wait now: {@code timeoutMs}, a part of it, or 0. */
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

    /** A read of {@code file} for {@code thread}, or for nobody knows whom, has waited in vain; for the whole timeout, or for a part of it. */
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
