package io.clairfs.tools.bench;

import io.clairfs.cache.plan.preprocess.StageSplit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;

/**
 * Loading and decoding by one pool of threads that sleep in place of the work, so that there may be more of them than processors.
 *
 * <p>A thread that is free takes a sample for the stage that has fewer threads than its split says, and waits if there is none. Loaded samples wait
 * in a queue with room for two batches. The split may change after each batch. Its lock guards everything but the sleeps.
 */
final class SleepingPipeline {
    static final int BATCH = 16;

    /**
     * What a sample takes a thread that is alone.
     *
     * @param loadSeconds to load it
     * @param decodeSeconds to decode it
     */
    record Work(double loadSeconds, double decodeSeconds) {}

    /**
     * What was seen while a batch was decoded.
     *
     * @param loadSeconds that a thread took for a sample; 0 if none was loaded meanwhile
     * @param decodeSeconds that a thread took for a sample
     * @param split meanwhile
     */
    record Seen(double loadSeconds, double decodeSeconds, StageSplit split) {}

    private static final long IDLE_MS = 100;
    private static final double NANOS_PER_SECOND = 1e9;

    private final int samples;
    private final IntFunction<Work> workOfBatch;
    private final IntToDoubleFunction slowdown;
    private final Function<Seen, StageSplit> next;
    private final ArrayDeque<Integer> loaded = new ArrayDeque<>();
    private StageSplit split;
    private int claimed;
    private int decoded;
    private int loading;
    private int decoding;
    private long loadNs;
    private int loads;
    private long decodeNs;

    private SleepingPipeline(
            int batches,
            IntFunction<Work> workOfBatch,
            IntToDoubleFunction slowdown,
            StageSplit first,
            Function<Seen, StageSplit> next) {
        samples = batches * BATCH;
        this.workOfBatch = workOfBatch;
        this.slowdown = slowdown;
        this.next = next;
        split = first;
    }

    /**
     * Runs all batches. Returns the seconds that they took.
     *
     * @param slowdown of each decoding thread, by how many there are
     * @param next the split that follows
     */
    static double run(
            int batches,
            IntFunction<Work> workOfBatch,
            IntToDoubleFunction slowdown,
            StageSplit first,
            Function<Seen, StageSplit> next)
            throws InterruptedException {
        SleepingPipeline pipeline = new SleepingPipeline(batches, workOfBatch, slowdown, first, next);
        long start = System.nanoTime();
        List<Future<?>> threads = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(first.threads())) {
            for (int thread = 0; thread < first.threads(); thread++) {
                threads.add(pool.submit(() -> {
                    pipeline.work();
                    return null;
                }));
            }
            for (Future<?> thread : threads) {
                thread.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("a thread of the pipeline failed", e.getCause());
        }
        return (System.nanoTime() - start) / NANOS_PER_SECOND;
    }

    /** One thread, until all is decoded. */
    private void work() throws InterruptedException {
        while (true) {
            int batch;
            boolean isLoad;
            double seconds;
            synchronized (this) {
                while (!mayDecode() && !mayLoad() && decoded < samples) {
                    wait(IDLE_MS);
                }
                if (decoded >= samples) {
                    return;
                }
                isLoad = !mayDecode();
                if (isLoad) {
                    loading++;
                    batch = claimed++ / BATCH;
                    seconds = workOfBatch.apply(batch).loadSeconds;
                } else {
                    decoding++;
                    batch = loaded.remove();
                    seconds = workOfBatch.apply(batch).decodeSeconds * slowdown.applyAsDouble(decoding);
                }
            }
            long start = System.nanoTime();
            TimeUnit.NANOSECONDS.sleep((long) (seconds * NANOS_PER_SECOND));
            done(isLoad, batch, System.nanoTime() - start);
        }
    }

    private boolean mayDecode() {
        return decoding < split.preprocess() && !loaded.isEmpty();
    }

    private boolean mayLoad() {
        return loading < split.load() && loaded.size() + loading < 2 * BATCH && claimed < samples;
    }

    private synchronized void done(boolean isLoad, int batch, long tookNs) {
        if (isLoad) {
            loading--;
            loadNs += tookNs;
            loads++;
            loaded.add(batch);
        } else {
            decoding--;
            decodeNs += tookNs;
            decoded++;
            if (decoded % BATCH == 0) {
                split = next.apply(new Seen(
                        loads == 0 ? 0 : loadNs / NANOS_PER_SECOND / loads,
                        decodeNs / NANOS_PER_SECOND / BATCH,
                        split));
                loadNs = 0;
                loads = 0;
                decodeNs = 0;
            }
        }
        notifyAll();
    }
}
