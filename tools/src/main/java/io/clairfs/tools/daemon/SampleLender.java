package io.clairfs.tools.daemon;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.prefetch.FetchRouter;
import io.clairfs.cache.prefetch.TierKeeper;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.transfer.Lender;
import io.clairfs.peer.transfer.Loan;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.IntPredicate;

/**
 * Lends what this node holds. A sample whose home is here is fetched from the source for the peer that asks, and kept: it is the one
 * copy that all count on.
 */
final class SampleLender implements AutoCloseable {
    private static final int MOST_FETCHES = 64;

    private final TierKeeper keeper;
    private final FetchRouter router;
    private final IntPredicate isHome;
    private final Semaphore fetches = new Semaphore(MOST_FETCHES);
    private final ExecutorService fetchers = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("lend-", 0).factory());

    /**
     * A lender.
     *
     * @param isHome whether the home of a file is this node
     */
    SampleLender(TierKeeper keeper, FetchRouter router, IntPredicate isHome) {
        this.keeper = keeper;
        this.router = router;
        this.isHome = isHome;
    }

    /** For peers that number the files in this way. */
    Lender over(FileNumbers numbers) {
        return (number, _, _) -> {
            int file = numbers.fileOf(number);
            return file == FileNumbers.NONE ? Loan.NOT_HERE : lend(file);
        };
    }

    private Loan lend(int file) {
        SampleBuffer sample = keeper.lend(file);
        if (sample != null) {
            return new Loan.Memory(sample);
        }
        if (!keeper.holds(file) && !isHome.test(file)) {
            return Loan.NOT_HERE;
        }
        if (!fetches.tryAcquire()) {
            return Loan.NOT_HERE;
        }
        return new Loan.Later(CompletableFuture.supplyAsync(() -> fetch(file), fetchers));
    }

    private Loan fetch(int file) {
        try {
            return new Loan.Memory(router.fetch(file, false));
        } catch (SourceException e) {
            return Loan.NOT_HERE; // the peer asks the source itself and sees the reason
        } finally {
            fetches.release();
        }
    }

    @Override
    public void close() {
        fetchers.shutdown();
    }
}
