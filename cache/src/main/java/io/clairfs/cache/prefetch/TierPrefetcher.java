package io.clairfs.cache.prefetch;

import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.worker.Activity;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Fills one tier with what the plan wants there, in the plan's order, from the moment a job begins: preloading without a
 * phase of its own (KSpeed, ICNP 2024, section III-B; NoPFS section 5.1, rule 1).
 *
 * <p>A filler first writes what others fetched for this tier. It fetches nothing while a trainer has little staged, for then the source has
 * more urgent work, nor when the trainers here have read all: other nodes leave then, too, and their samples would be brought for nobody. It goes through the plan's order once. Files that could not be fetched, or that others were fetching, get a second look
 * at the end; after that a file is kept when its reader comes for it. When there is nothing to bring it copies what is in memory, for
 * a restart ({@link SpareCopies}).
 */
public final class TierPrefetcher {
    /** Files looked at in one call, before other work gets a turn. */
    private static final int LOOKS = 4096;

    /** How many failed fetches are remembered. */
    private static final int MOST_FAILED = 1 << 16;

    private final int tier;
    private final Admission admission;
    private final FetchRouter router;
    private final LoaderShares shares;
    private final Activity activity;
    private final SpareCopies copies;
    private volatile Progress progress = new Progress(LocalPlan.NONE);

    TierPrefetcher(int tier, Admission admission, FetchRouter router, LoaderShares shares, Activity activity) {
        this.tier = tier;
        this.admission = admission;
        this.router = router;
        this.shares = shares;
        this.activity = activity;
        copies = new SpareCopies(tier, admission.copyAdmission(), System::nanoTime);
    }

    /** The progress through a plan's order. */
    private static final class Progress {
        private static final int END = -1;

        private final LocalPlan plan;
        private final AtomicInteger next = new AtomicInteger();
        private final ConcurrentLinkedQueue<Integer> failed = new ConcurrentLinkedQueue<>();
        private final AtomicInteger failures = new AtomicInteger();

        Progress(LocalPlan plan) {
            this.plan = plan;
        }

        /** The next file of the order, or {@link #END}. */
        int next(int[] order) {
            int at = next.get() < order.length ? next.getAndIncrement() : order.length;
            return at < order.length ? order[at] : END;
        }

        /** The next file of the order that was left out, each once, or {@link #END}. */
        int nextFailed() {
            Integer file = failed.poll();
            return file == null ? END : file;
        }

        void failed(int file) {
            if (failures.incrementAndGet() <= MOST_FAILED) {
                failed.add(file);
            }
        }
    }

    /** Brings one sample to the tier. Returns false when there is none to bring now. */
    boolean fillOne() throws SourceException {
        if (admission.writeNext(tier)) {
            activity.happened();
            return true;
        }
        if (!admission.takesMore(tier)) {
            return false;
        }
        Progress now = progress();
        if (copies.copyOneAtOnce(now.plan)) {
            return true;
        }
        if (shares.isHungry() || shares.isDone()) {
            return false;
        }
        int[] order = now.plan.fillOrder(tier);
        for (int look = 0; look < LOOKS; look++) {
            int file = now.next(order);
            boolean again = file == Progress.END;
            if (again) {
                file = now.nextFailed();
            }
            if (file == Progress.END) {
                return copies.copyOne(now.plan);
            }
            if (!admission.isMissing(file, tier)) {
                continue;
            }
            if (router.isUnderWay(file)) {
                if (!again) {
                    now.failed(file); // the other fetch may find no room in the write-back queue
                }
            } else if (fill(file, again ? null : now)) {
                return true;
            }
        }
        return true; // not at the end yet
    }

    /** Brings a file unless another thread does. One that fails or finds no room now is recorded in {@code remember}, if given. */
    private boolean fill(int file, @Nullable Progress remember) throws SourceException {
        FetchRouter.Filling outcome = FetchRouter.Filling.NO_ROOM;
        try {
            outcome = router.fill(file, tier);
            activity.happened();
            return outcome != FetchRouter.Filling.NOT_NEEDED;
        } finally {
            if (outcome == FetchRouter.Filling.NO_ROOM && remember != null) {
                remember.failed(file);
            }
        }
    }

    /** The progress of the present plan; a new one begins at the start of its order. */
    @SuppressWarnings("ReferenceEquality") // the same plan, not one that is alike
    private Progress progress() {
        LocalPlan plan = admission.plan();
        Progress now = progress;
        if (now.plan != plan) {
            synchronized (this) {
                if (progress.plan != plan) {
                    progress = new Progress(plan);
                }
                now = progress;
            }
        }
        return now;
    }
}
