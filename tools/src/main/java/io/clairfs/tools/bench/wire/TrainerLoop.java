package io.clairfs.tools.bench.wire;

import io.clairfs.tools.bench.SampleFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * One epoch like that of a PyTorch DataLoader. Workers read whole batches in turns, two ahead each. The trainer takes batches in order and
 * computes on each; the computation is a sleep, as in DLIO.
 *
 * @param batch samples of a step
 * @param workers the number of readers
 * @param stepNs computation of a step
 */
record TrainerLoop(int batch, int workers, long stepNs) {
    private static final int PREFETCH_FACTOR = 2;

    /**
     * Reads the files of {@code order} below {@code root}, without the last batch if it is not full.
     *
     * @param bytes of each file
     * @return accelerator utilisation: the share of computation in the epoch's time, percent; the first step counts
     */
    double utilisation(Path root, List<String> order, long bytes) throws InterruptedException {
        List<ExecutorService> threads = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            threads.add(Executors.newSingleThreadExecutor(
                    Thread.ofPlatform().daemon().name("trainer-worker").factory()));
        }
        try {
            int steps = order.size() / batch;
            int ahead = workers * PREFETCH_FACTOR;
            List<Future<?>> batches = new ArrayList<>();
            long start = System.nanoTime();
            for (int step = 0; step < steps; step++) {
                while (batches.size() < Math.min(steps, step + ahead)) {
                    int next = batches.size();
                    List<String> files = order.subList(next * batch, (next + 1) * batch);
                    batches.add(threads.get(next % workers).submit(() -> read(root, files, bytes)));
                }
                await(batches.get(step));
                TimeUnit.NANOSECONDS.sleep(stepNs);
            }
            return 100.0 * steps * stepNs / (System.nanoTime() - start);
        } finally {
            threads.forEach(ExecutorService::shutdownNow);
        }
    }

    private static void await(Future<?> read) throws InterruptedException {
        try {
            read.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a worker failed", e.getCause());
        }
    }

    private static Object read(Path root, List<String> files, long bytes) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(bytes);
            for (String file : files) {
                SampleFiles.read(root, file, buffer);
            }
            return files;
        }
    }
}
