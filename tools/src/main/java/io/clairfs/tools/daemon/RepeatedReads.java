package io.clairfs.tools.daemon;

import io.clairfs.fs.mount.Requester;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Tells the kernel's repeated questions from new ones.
 *
 * <p>The kernel reads ahead; when the page that somebody waits for did not come with that, it asks for this page once more, for the same
 * thread; a mapping asks a third time. A source that hangs would cost each read two timeouts or three. So who has just been told that the
 * source does not answer is told the same at once, for a second.
 *
 * <p>Others who wait for the same page ask for it one after the other when the first has been told, and would wait for a timeout each. They come at its
 * heels, so who asks then is to be told soon.
 */
final class RepeatedReads {
    /** The next question of the same thread comes as soon as it runs again. */
    private static final long WITHIN_NS = TimeUnit.SECONDS.toNanos(1);

    /** How soon after the one before the next thread asks. */
    private static final long AT_HEELS_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int MOST = 4096;

    private final LongSupplier clock;
    private final ConcurrentHashMap<Question, Long> timedOut = new ConcurrentHashMap<>();

    /** By file, when somebody was told last that its source does not answer. */
    private final ConcurrentHashMap<Integer, Long> told = new ConcurrentHashMap<>();

    private record Question(int file, int thread) {}

    /** {@code clock} is as {@link System#nanoTime}. */
    RepeatedReads(LongSupplier clock) {
        this.clock = clock;
    }

    /** Whether nothing has timed out lately, so that no question can be a repeated one. */
    boolean isEmpty() {
        return timedOut.isEmpty() && told.isEmpty();
    }

    /** A read of {@code file} for {@code thread}, or for nobody knows whom, has timed out. */
    void timedOut(int file, int thread) {
        long now = clock.getAsLong();
        forgetOld(now);
        if (timedOut.size() < MOST && told.size() < MOST) {
            told.put(file, now);
            if (thread != Requester.UNKNOWN) {
                timedOut.put(new Question(file, thread), now);
            }
        }
    }

    /** Whether the thread was told just now that this file's source does not answer. */
    boolean isRepeated(int file, int thread) {
        forgetOld(clock.getAsLong());
        return timedOut.containsKey(new Question(file, thread));
    }

    /** Whether somebody was told just now that this file's source does not answer, so that who asks has probably waited with him. */
    boolean isAtHeels(int file) {
        forgetOld(clock.getAsLong());
        return told.containsKey(file);
    }

    private void forgetOld(long now) {
        timedOut.values().removeIf(then -> now - then > WITHIN_NS);
        told.values().removeIf(then -> now - then > AT_HEELS_NS);
    }
}
