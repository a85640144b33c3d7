package io.clairfs.gpufeeder.feed;

import io.clairfs.gpufeeder.ring.BatchRing;
import io.clairfs.gpufeeder.ring.BatchRing.Figure;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/** What a feeder has done, over all of its trainers. Thread-safe. */
public final class FeedFigures {
    private final LongAdder samples = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder loadNs = new LongAdder();
    private final LongAdder decodeNs = new LongAdder();
    private final LongAdder batches = new LongAdder();
    private final LongAdder errors = new LongAdder();
    private final LongAdder waitedNs = new LongAdder();
    private final LongAdder copiedBytes = new LongAdder();
    private final LongAdder copyNs = new LongAdder();
    private final long begunNs = System.nanoTime();
    private volatile int ready;
    private volatile int threads;

    void loaded(long fileBytes, long ns) {
        samples.increment();
        bytes.add(fileBytes);
        loadNs.add(ns);
    }

    void decoded(long ns) {
        decodeNs.add(ns);
    }

    void sent() {
        batches.increment();
    }

    void failed() {
        errors.increment();
    }

    void waited(long ns) {
        waitedNs.add(ns);
    }

    /** A batch went to the device in so many nanoseconds in which nothing else did. */
    void copied(long batchBytes, long ns) {
        copiedBytes.add(batchBytes);
        copyNs.add(ns);
    }

    void publish(BatchRing ring, int nowReady, int nowThreads) {
        ready = nowReady;
        threads = nowThreads;
        ring.publish(Figure.SAMPLES, samples.sum());
        ring.publish(Figure.BYTES, bytes.sum());
        ring.publish(Figure.LOAD_NS, loadNs.sum());
        ring.publish(Figure.DECODE_NS, decodeNs.sum());
        ring.publish(Figure.BATCHES, batches.sum());
        ring.publish(Figure.READY, nowReady);
        ring.publish(Figure.ERRORS, errors.sum());
        ring.publish(Figure.THREADS, nowThreads);
        ring.publish(Figure.WAITED_NS, waitedNs.sum());
        ring.publish(Figure.COPIED_BYTES, copiedBytes.sum());
        ring.publish(Figure.COPY_NS, copyNs.sum());
    }

    /** One line for the control file {@code report} of the mount. */
    String line(String job, int rank, int slots) {
        return String.format(
                Locale.ROOT,
                "feeder=%d job=%s rank=%d slots=%d ready=%d threads=%d batches=%d bad=%d samples=%d bytes=%d read=%.6f decode=%.6f waited=%.6f copied=%d copy=%.6f%n",
                ProcessHandle.current().pid(),
                job,
                rank,
                slots,
                ready,
                threads,
                batches.sum(),
                errors.sum(),
                samples.sum(),
                bytes.sum(),
                loadNs.sum() / 1e9,
                decodeNs.sum() / 1e9,
                waitedNs.sum() / 1e9,
                copiedBytes.sum(),
                copyNs.sum() / 1e9);
    }

    /** One line for a person. */
    public String text() {
        String copied = copyNs.sum() == 0
                ? ""
                : String.format(Locale.ROOT, "; to the device at %.1f GB/s", (double) copiedBytes.sum() / copyNs.sum());
        double seconds = (System.nanoTime() - begunNs) / 1e9;
        long loaded = Math.max(1, samples.sum());
        return String.format(
                        Locale.ROOT,
                        "fed %,d batches (%d bad) of %,d samples, %,.1f MB, in %.1f s; the trainer waited %.1f s for them;"
                                + " per sample %.0f us of a thread to read and %.0f us to decode",
                        batches.sum(),
                        errors.sum(),
                        samples.sum(),
                        bytes.sum() / 1e6,
                        seconds,
                        waitedNs.sum() / 1e9,
                        loadNs.sum() / 1e3 / loaded,
                        decodeNs.sum() / 1e3 / loaded)
                + copied;
    }
}
