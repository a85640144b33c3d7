package io.clairfs.cache.prefetch;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.source.SourceException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Fills one tier with what the plan wants there, in access order, jobs taking turns, from the moment a job begins: preloading without a
 * phase of its own (KSpeed, ICNP 2024, section III-B; NoPFS section 5.1, rule 1).
 *
 * <p>What others fetched for this tier is written first. Nothing is fetched for it while a trainer has little staged before it,
 * for then the source has more urgent things to do.
 */
final class TierPrefetcher {
    /** Files looked at before somebody else gets a turn. */
    private static final int LOOKS = 4096;

    private final int tier;
    private final TierKeeper keeper;
    private final FetchRouter router;
    private final LoaderShares shares;
    private final List<JobRun> jobs;

    /** Whose turn it is among the jobs. */
    private final AtomicInteger turn = new AtomicInteger();

    TierPrefetcher(int tier, TierKeeper keeper, FetchRouter router, LoaderShares shares, List<JobRun> jobs) {
        this.tier = tier;
        this.keeper = keeper;
        this.router = router;
        this.shares = shares;
        this.jobs = jobs;
    }

    /** Brings one sample to the tier. Returns false when there is none to bring now. */
    boolean fillOne() throws SourceException, JobFailedException {
        if (keeper.writeNext(tier)) {
            return true;
        }
        if (!keeper.takesMore(tier) || shares.isHungry()) {
            return false;
        }
        List<JobRun> now = List.copyOf(jobs);
        int first = now.isEmpty() ? 0 : Math.floorMod(turn.getAndIncrement(), now.size());
        for (int i = 0; i < now.size(); i++) {
            JobRun job = now.get((first + i) % now.size());
            int file = 0;
            for (int look = 0; look < LOOKS && (file = next(job)) != FillCursor.NONE; look++) {
                if (keeper.isMissing(file, tier) && !router.isUnderWay(file) && router.fill(file, tier)) {
                    return true;
                }
            }
            if (file != FillCursor.NONE) {
                return true; // not at the end yet
            }
        }
        return false;
    }

    private int next(JobRun job) throws JobFailedException {
        try {
            return job.nextToFill(tier);
        } catch (InvalidSpecException e) {
            throw new JobFailedException(job, e);
        }
    }
}
