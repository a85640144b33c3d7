package io.clairfs.cache.fetch;

import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceTimeoutException;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.worker.Worker;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The reads that wait for their bytes. No thread waits with them: one looks every few milliseconds for timeouts. Waking no thread keeps a
 * read that is answered soon cheap. Only after some seconds without a read does that thread sleep, until the next read wakes it.
 */
final class ReadWaits implements AutoCloseable {
    /** A timeout comes at most so late. */
    private static final long LOOK_EVERY_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** While no read waits; the first timeout may come so late. */
    private static final long IDLE_LOOK_EVERY_NS = TimeUnit.MILLISECONDS.toNanos(250);

    /** After so many looks with no wait then or since the look before, the thread sleeps until a read waits. */
    private static final int IDLE_LOOKS = 12;

    private final Set<Wait> waits = ConcurrentHashMap.newKeySet();
    private final Worker worker;
    private volatile boolean asleep;

    /** Whether a wait has begun since the last look. */
    private volatile boolean isBegun;

    /** Looks in a row with no wait; only the worker uses it. */
    private int idleLooks;

    ReadWaits(ErrorLog errors) {
        worker = new Worker("read-timeouts", this::look, errors);
        worker.start();
    }

    /** One read's wait; completes with a reference to the sample, or with the failure. */
    static final class Wait extends CompletableFuture<SampleBuffer> {
        private final SourceFile file;
        private final long mostMs;
        private final long startNs = System.nanoTime();
        private volatile boolean piece;

        private Wait(SourceFile file, long mostMs) {
            this.file = file;
            this.mostMs = mostMs;
        }

        /** How long it has lasted, nanoseconds. */
        long waitedNs() {
            return System.nanoTime() - startNs;
        }

        /** Completes with a buffer of exactly the requested bytes, and takes over its reference. */
        void completeWithPiece(SampleBuffer bytes) {
            piece = true;
            if (!complete(bytes)) {
                bytes.release();
            }
        }

        /** Whether it has completed with a part of the sample. */
        boolean isPiece() {
            return piece;
        }

        private boolean isOver() {
            return waitedNs() > TimeUnit.MILLISECONDS.toNanos(mostMs);
        }

        /** The source has not answered in time. */
        void giveUp() {
            completeExceptionally(new SourceTimeoutException(PythonText.show(file.path()), mostMs));
        }
    }

    /** A wait that begins now and lasts {@code mostMs} at most. */
    Wait begin(SourceFile file, long mostMs) {
        Wait wait = new Wait(file, mostMs);
        waits.add(wait);
        isBegun = true;
        if (asleep) { // read after the wait was added, for the sleeper looks for waits after it sets this
            worker.unpark();
        }
        return wait;
    }

    void end(Wait wait) {
        waits.remove(wait);
    }

    int count() {
        return waits.size();
    }

    private void look() {
        if (idleLooks < IDLE_LOOKS) {
            LockSupport.parkNanos(waits.isEmpty() ? IDLE_LOOK_EVERY_NS : LOOK_EVERY_NS);
        } else {
            sleep();
        }
        idleLooks = isBegun || !waits.isEmpty() ? 0 : idleLooks + 1;
        isBegun = false;
        for (Wait wait : waits) {
            if (wait.isOver()) {
                wait.giveUp();
            }
        }
    }

    /** Sleeps until a read waits, or this is closed. */
    private void sleep() {
        asleep = true;
        while (waits.isEmpty() && !worker.isClosed()) {
            LockSupport.park();
        }
        asleep = false;
    }

    /** Fails all waits. */
    void failAll(Throwable reason) {
        waits.forEach(wait -> wait.completeExceptionally(reason));
    }

    @Override
    public void close() {
        worker.close();
    }
}
