package io.clairfs.tools.calibrate;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;

/** Repeats a piece of work with 1, 2, 4, ... threads, and measures the total throughput of each number. */
final class ThreadSweep {
    private static final MathContext FOUR_DIGITS = new MathContext(4);
    private static final double MEGA = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private ThreadSweep() {}

    /** One piece of work. Returns the bytes it moved, or what else is counted, or {@link #NO_MORE}. */
    @FunctionalInterface
    interface Work {
        long NO_MORE = -1;

        long run() throws IOException;
    }

    /** Makes the work of one thread. */
    @FunctionalInterface
    interface Worker {
        Work start() throws IOException;
    }

    /**
     * Measures.
     *
     * @param most threads of the last step
     * @param stepMs how long each step takes, milliseconds; less if the work runs out
     * @param stepDone is called after each step
     * @return MB/s of all threads together, by their number
     */
    static Map<Integer, Double> measure(Worker worker, int most, long stepMs, Runnable stepDone) throws IOException {
        return measureSteps(_ -> worker, most, stepMs, stepDone);
    }

    /** Measures like {@link #measure}, with separate workers for each number of threads. */
    static Map<Integer, Double> measureSteps(IntFunction<Worker> workers, int most, long stepMs, Runnable stepDone)
            throws IOException {
        Map<Integer, Double> rates = new TreeMap<>();
        for (int threads = 1; threads <= most; threads *= 2) {
            double rate = perSecond(workers.apply(threads), threads, stepMs) / MEGA;
            if (rate > 0) {
                rates.put(threads, rounded(rate));
            }
            stepDone.run();
        }
        return rates;
    }

    /** Four digits, or one behind the point if that is more: a small rate must not become 0, which is no rate. */
    static double rounded(double rate) {
        return rate >= 1000
                ? Math.round(rate * 10) / 10.0
                : new BigDecimal(rate).round(FOUR_DIGITS).doubleValue();
    }

    /** What so many threads together move per second. */
    static double perSecond(Worker worker, int threads, long stepMs) throws IOException {
        AtomicLong bytes = new AtomicLong();
        long start = System.nanoTime();
        long end = start + TimeUnit.MILLISECONDS.toNanos(stepMs);
        List<Future<?>> running = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            for (int t = 0; t < threads; t++) {
                running.add(pool.submit(() -> {
                    Work work = worker.start();
                    long moved;
                    do { // each thread does one piece, however late it starts
                        moved = work.run();
                        bytes.addAndGet(moved == Work.NO_MORE ? 0 : moved);
                    } while (moved != Work.NO_MORE && System.nanoTime() < end);
                    return null;
                }));
            }
            for (Future<?> one : running) {
                one.get();
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw new IllegalStateException("a measurement failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        return bytes.get() / ((System.nanoTime() - start) / NANOS_PER_SECOND);
    }
}
