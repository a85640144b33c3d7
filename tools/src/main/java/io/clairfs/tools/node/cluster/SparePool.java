package io.clairfs.tools.node.cluster;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.plan.preprocess.PreprocessModel;
import io.clairfs.cache.plan.preprocess.StageSplit;
import io.clairfs.peer.directory.SpareThreads;
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.tools.config.ModelFile;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The threads that make samples for other nodes while no rank reads on this one (KSpeed, ICNP 2024, section III-C 2).
 *
 * <p>There are as many as reach the peak of preprocessing, by what {@code calibrate --decode} measured here, or else as there are processors.
 * Few samples wait for them: a peer that is refused at once makes its sample itself, sooner than one that waits. Thread-safe; {@link #close} waits
 * for no thread.
 */
public final class SparePool implements AutoCloseable {
    private static final int WAITING_PER_THREAD = 16;
    private static final int IDLE_SECONDS = 10;

    /** The sizes of so many files tell what is usual. */
    private static final int MOST_LOOKED_AT = 1_000;

    private final BooleanSupplier isSpare;
    private final int threads;
    private final ThreadPoolExecutor pool;

    /**
     * A pool whose threads begin with its first samples.
     *
     * @param threads to make samples with; 0 for none, as in a mount that shows the files as they are
     * @param isSpare whether the processors of this node are nobody's
     */
    public SparePool(int threads, BooleanSupplier isSpare) {
        this.isSpare = isSpare;
        this.threads = threads;
        int started = Math.max(1, threads);
        pool = new ThreadPoolExecutor(
                started,
                started,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(started * WAITING_PER_THREAD),
                Thread.ofPlatform().daemon().name("serve-make-", 0).factory());
        pool.allowCoreThreadTimeOut(true);
    }

    /** The pool of a node, of whose listed files {@code tree} makes what is shown. */
    public static SparePool of(DatasetTree tree, ModelFile model, BooleanSupplier isSpare) {
        if (tree.view().isRaw()) {
            return new SparePool(0, isSpare);
        }
        long bytes = 0;
        int files = 0;
        for (int file = 0; file < tree.entryCount() && files < MOST_LOOKED_AT; file++) {
            if (tree.isMade(file)) {
                bytes += tree.entry(file).file().size();
                files++;
            }
        }
        int processors = Runtime.getRuntime().availableProcessors();
        return new SparePool(threadsAtPeak(model, bytes / Math.max(1, files), processors), isSpare);
    }

    /** The threads that reach the peak of preprocessing a sample of so many bytes. */
    static int threadsAtPeak(ModelFile model, long sampleBytes, int processors) {
        PreprocessModel measured = model.preprocessing();
        return measured == null || processors < 2
                ? processors
                : StageSplit.atPeak(measured.curve(sampleBytes), processors + 1).preprocess();
    }

    /** What to announce. */
    SpareThreads spare() {
        return isSpare.getAsBoolean()
                ? new SpareThreads(
                        threads, pool.getActiveCount() + pool.getQueue().size())
                : SpareThreads.NONE;
    }

    /** Runs {@code make} on a thread of the pool, unless its deadline is over by then. Refuses it when enough wait, or the processors are not spare. */
    ServeResult submit(long deadlineNs, Supplier<ServeResult> make) {
        if (threads == 0 || !isSpare.getAsBoolean()) {
            return ServeResult.NOT_HERE;
        }
        try {
            return new ServeResult.Later(CompletableFuture.supplyAsync(
                    () -> deadlineNs - System.nanoTime() < 0 ? ServeResult.NOT_HERE : make.get(), pool));
        } catch (RejectedExecutionException enough) {
            return ServeResult.NOT_HERE;
        }
    }

    @Override
    public void close() {
        pool.shutdown();
    }
}
