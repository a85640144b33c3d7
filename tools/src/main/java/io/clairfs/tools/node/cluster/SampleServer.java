package io.clairfs.tools.node.cluster;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.StoredSample;
import io.clairfs.peer.directory.SpareThreads;
import io.clairfs.peer.transfer.server.SampleService;
import io.clairfs.peer.transfer.server.ServeResult;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/**
 * Serves the samples of this node to its peers. A missing sample whose home is this node is fetched from the source for the peer, and kept: it
 * is the one copy that all nodes count on.
 *
 * <p>A sample in memory is sent from there, and one whose pages are in the page cache from its file on the SSD. Two sets of threads read from
 * the disk and ask the source, so that neither waits for the other, and no transfer waits for either. When too many requests wait
 * already, the answer is that the sample is not here. A peer that asks for a sample that is not here has an outdated view of the holdings, so
 * the change is announced again.
 *
 * <p>Life cycle: the daemon makes it when the dataset is listed. {@link PeerGroup} puts it behind a transfer server when it joins, and closes it
 * after that server. {@link #close} waits for no thread.
 *
 * <p>Locks: it has none. Event loops call the service and never wait in it; the threads of the two sets call {@link Admission} and
 * {@link FetchRouter} without a lock.
 */
public final class SampleServer implements AutoCloseable {
    private static final int MOST_DISK_READS = 16;
    private static final int MOST_FETCHES = 64;
    private static final int MOST_WAITING = 256;
    private static final int IDLE_SECONDS = 10;

    private final Admission admission;
    private final FetchRouter router;
    private final IntPredicate isHome;
    private final SparePool makers;
    private final ExecutorService diskReaders = threads("serve-read-", MOST_DISK_READS);
    private final ExecutorService fetchers = threads("serve-fetch-", MOST_FETCHES);

    /**
     * The server of a node.
     *
     * @param isHome whether this node is the home of a file
     * @param makers make samples for peers
     */
    public SampleServer(Admission admission, FetchRouter router, IntPredicate isHome, SparePool makers) {
        this.admission = admission;
        this.router = router;
        this.isHome = isHome;
        this.makers = makers;
    }

    private static ExecutorService threads(String role, int most) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                most,
                most,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MOST_WAITING),
                Thread.ofPlatform().daemon().name(role, 0).factory());
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** The service for peers that number the files in this way. */
    SampleService over(FileNumbers numbers) {
        return new SampleService() {
            @Override
            public ServeResult serve(int sample, long bytes, long deadlineNs) {
                int file = numbers.fileOf(sample);
                return file == FileNumbers.NONE ? ServeResult.NOT_HERE : SampleServer.this.serve(file, deadlineNs);
            }

            @Override
            public ServeResult make(int sample, long bytes, long deadlineNs) {
                int file = numbers.fileOf(sample);
                return file == FileNumbers.NONE ? ServeResult.NOT_HERE : SampleServer.this.make(file, deadlineNs);
            }

            @Override
            public void damaged(int sample) {
                int file = numbers.fileOf(sample);
                if (file != FileNumbers.NONE) {
                    verify(file);
                }
            }
        };
    }

    private ServeResult serve(int file, long deadlineNs) {
        SampleBuffer sample = admission.residents().fromMemory(file);
        if (sample != null) {
            return new ServeResult.Memory(sample);
        }
        StoredSample stored = admission.residents().openStored(file);
        if (stored != null) {
            return new ServeResult.Stored(
                    stored.file(), stored.offset(), stored.size(), stored.crc32c(), stored::release);
        }
        if (admission.residents().isHere(file)) {
            return later(readersOf(file), file, deadlineNs, this::read);
        }
        if (isHome.test(file) && admission.mayBeWhole(file)) {
            long sinceNs = System.nanoTime(); // the wait for a thread is part of it
            return later(fetchers, file, deadlineNs, wanted -> fetch(wanted, sinceNs));
        }
        admission.residents().tellGone(file);
        return ServeResult.NOT_HERE;
    }

    /** Makes a sample if this node has processors to spare. Refuses more than are made in a while. */
    private ServeResult make(int file, long deadlineNs) {
        long sinceNs = System.nanoTime();
        return makers.submit(deadlineNs, () -> brought(router::makeForPeer, file, sinceNs));
    }

    /** What this node makes for others now, to be announced. */
    SpareThreads spare() {
        return makers.spare();
    }

    private static ServeResult later(
            ExecutorService threads, int file, long deadlineNs, IntFunction<ServeResult> bring) {
        try {
            return new ServeResult.Later(CompletableFuture.supplyAsync(
                    () -> deadlineNs - System.nanoTime() < 0 ? ServeResult.NOT_HERE : bring.apply(file), threads));
        } catch (RejectedExecutionException tooMany) {
            return ServeResult.NOT_HERE;
        }
    }

    /** The threads for a sample on a disk. One that has to be compared with the source first waits with those that come from there. */
    private ExecutorService readersOf(int file) {
        return admission.residents().mayAskSource(file) ? fetchers : diskReaders;
    }

    private ServeResult read(int file) {
        SampleBuffer sample = admission.residents().readStored(file);
        if (sample == null) {
            return ServeResult.NOT_HERE;
        }
        int _ = sample.crc32c(); // here rather than on the thread that sends
        return new ServeResult.Memory(sample);
    }

    private ServeResult fetch(int file, long sinceNs) {
        return brought(router::fetchKept, file, sinceNs);
    }

    /** How a missing sample comes here. */
    @FunctionalInterface
    private interface Bring {
        SampleBuffer run(int file) throws SourceException;
    }

    private static ServeResult brought(Bring bring, int file, long sinceNs) {
        try {
            SampleBuffer sample = bring.run(file);
            long tookNs = System.nanoTime() - sinceNs;
            int _ = sample.crc32c();
            return new ServeResult.Memory(sample, tookNs);
        } catch (SourceException e) {
            return ServeResult.NOT_HERE; // the peer asks the source itself and sees the reason
        }
    }

    /** Reads a sample from the disk, which drops the sample if it is damaged. */
    private void verify(int file) {
        try {
            readersOf(file).execute(() -> {
                SampleBuffer sample = admission.residents().readStored(file);
                if (sample != null) {
                    sample.release();
                }
            });
        } catch (RejectedExecutionException tooMany) {
            return; // a peer that receives it damaged reports that again
        }
    }

    @Override
    public void close() {
        diskReaders.shutdown();
        fetchers.shutdown();
        makers.close();
    }
}
