package io.clairfs.tools.node.seed;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.posix.ThreadPriority;
import io.clairfs.cache.seed.FirstReads;
import io.clairfs.cache.seed.FoundOrder;
import io.clairfs.cache.seed.SearchExtent;
import io.clairfs.cache.seed.SeedSearch;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.worker.Worker;
import io.clairfs.fs.read.FirstRequests;
import io.clairfs.tools.node.job.Indexes;
import io.clairfs.tools.node.job.JobTable;
import io.clairfs.tools.node.seed.SeedStatus.State;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the order of a trainer that no job describes, and runs the job that a user would have written. See docs/decisions/find-the-seed.md.
 *
 * <p>Readers leave their first requests in a {@link Beginning}. A thread of the lowest priority searches them when there are enough, or when
 * nobody has read for a moment. An order that is found becomes the job {@value #NAME}; it is dropped when the next reads contradict it, or
 * when a user writes a job. Nothing is collected while a job of a user is followed.
 *
 * <p>Life cycle: the daemon makes it, which starts its thread, and closes it before the prefetcher. {@link #asked} takes no lock. The thread
 * holds none of its own when it calls the jobs; what others may see of it is volatile.
 */
public final class SeedFinder implements FirstRequests, AutoCloseable {
    /** The name of the job that is found. */
    static final String NAME = "found";

    /** So many reads are searched, and again when there are more. */
    private static final int[] STEPS = {32, 64, 128, 200, 400, 1000};

    /** With so many reads an order of a known family is found, so others are looked at wherever they are. */
    private static final int ENOUGH = 200;

    /** If no more follow, so many are enough, and fewer than the least tell nothing. */
    private static final int ENOUGH_OF_FEW = 64;

    private static final int FEWEST = 16;

    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LOOK_AT_REST_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long LOOK_AT_READS_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LOOK_AT_JOBS_NS = TimeUnit.MILLISECONDS.toNanos(250);

    /** A job looks for its trainer by itself when it is out of sync, which takes moments. */
    private static final long OUT_OF_SYNC_NS = TimeUnit.SECONDS.toNanos(2);

    private static final String OFF_BY_OPTION = "the mount does not search for it (--find-seed off)";
    private static final String OFF_IN_GROUP = "nodes of a group do not search for it: write the job";
    private static final String OFF_FOR_JOB = "a job tells it";

    private final DatasetTree tree;
    private final Indexes indexes;
    private final JobTable jobs;
    private final ErrorLog errors;
    private final @Nullable Worker worker;

    /** Where readers leave their requests; null while nothing is collected. */
    private final AtomicReference<@Nullable Beginning> beginning = new AtomicReference<>();

    private volatile State state = State.OFF;
    private volatile @Nullable String note;
    private volatile @Nullable FoundOrder order;
    private volatile @Nullable SeedSearch search;

    // What follows belongs to the thread.
    private @Nullable Beginning current;
    private int searchedReads;
    private int fruitless;
    private int wideAt = 1;
    private long outOfSyncSinceNs;
    private boolean lowered;

    /** An order, and the root of the dataset that it is of. */
    private record Hit(FoundOrder order, String root) {}

    /**
     * Starts to collect, unless it is not {@code wanted}.
     *
     * @param jobs where found jobs run; those of a group are not found
     */
    public SeedFinder(boolean wanted, DatasetTree tree, Indexes indexes, JobTable jobs, ErrorLog errors) {
        this.tree = tree;
        this.indexes = indexes;
        this.jobs = jobs;
        this.errors = errors;
        if (wanted && !jobs.isInGroup()) {
            worker = new Worker("seed-finder", this::step, errors);
            collect();
            worker.start();
        } else {
            worker = null;
            note = wanted ? OFF_IN_GROUP : OFF_BY_OPTION;
        }
    }

    @Override
    public void asked(int thread, int file) {
        Beginning now = beginning.get();
        if (now == null) {
            return;
        }
        long nowNs = System.nanoTime();
        if (now.isOverFor(thread, nowNs)) {
            Beginning next = new Beginning(nowNs);
            now = beginning.compareAndSet(now, next) ? next : beginning.get();
            if (now == null) {
                return;
            }
        }
        if (isToBeLookedAt(now.add(thread, file, nowNs))) {
            Objects.requireNonNull(worker).unpark();
        }
    }

    private static boolean isToBeLookedAt(int count) {
        for (int step : STEPS) {
            if (count == step) {
                return true;
            }
        }
        return count == 1;
    }

    /** What the search has come to. */
    public SeedStatus status() {
        Beginning reads = beginning.get();
        SeedSearch last = search;
        FoundOrder fits = order;
        JobRun run = fits == null ? null : jobs.found();
        String found = null;
        if (fits != null && run != null) {
            found = new FoundOrder(fits.line(), run.epoch(), fits.explained(), fits.reads(), fits.chance()).text();
        }
        return new SeedStatus(
                state,
                reads == null ? 0 : reads.count(),
                last == null ? 0 : last.candidates(),
                found,
                found == null ? null : lineOf(Objects.requireNonNull(fits), Objects.requireNonNull(run)),
                note);
    }

    private static String lineOf(FoundOrder order, JobRun run) {
        String subset = run.spec().subset();
        return subset.isEmpty() ? order.line() : order.line() + " subset=" + subset;
    }

    /** Whether this is the job that was found. */
    public boolean isFound(JobSpec spec) {
        JobRun run = jobs.found();
        return run != null && run.spec().equals(spec);
    }

    private void step() {
        if (!lowered) {
            ThreadPriority.lower();
            lowered = true;
        }
        LockSupport.parkNanos(look());
    }

    /** Does what there is to do. Returns how long to pause then, nanoseconds. */
    private long look() {
        if (jobs.isWrittenFollowed()) {
            beginning.set(null);
            order = null;
            note = OFF_FOR_JOB;
            state = State.OFF;
            return LOOK_NS;
        }
        if (beginning.get() == null) {
            collect();
        }
        JobRun run = jobs.found();
        if (run != null) {
            watch(run);
            return LOOK_NS;
        }
        if (order != null) { // it was stopped
            order = null;
            state = State.COLLECTING;
        }
        Beginning reads = Objects.requireNonNull(beginning.get());
        if (!reads.equals(current)) {
            current = reads;
            searchedReads = 0;
        }
        if (isDue(reads) && indexes.isListed()) {
            search(reads);
            return 1;
        }
        boolean pausing = isPausing(reads);
        if (pausing && state == State.NONE) {
            reads.searched();
        }
        return pausing || reads.isSearched() ? LOOK_AT_REST_NS : LOOK_AT_READS_NS;
    }

    private void collect() {
        note = null;
        state = State.COLLECTING;
        beginning.set(new Beginning(System.nanoTime()));
    }

    private boolean isDue(Beginning reads) {
        if (reads.isSearched()) {
            return false;
        }
        int count = reads.count();
        for (int step : STEPS) {
            if (searchedReads < step && count >= step) {
                return true;
            }
        }
        return count > searchedReads && count >= FEWEST && isPausing(reads);
    }

    private static boolean isPausing(Beginning reads) {
        return reads.silentNs(System.nanoTime()) > PAUSE_NS;
    }

    private void search(Beginning reads) {
        int count = reads.count();
        boolean enough = count >= (isPausing(reads) ? ENOUGH_OF_FEW : ENOUGH);
        state = State.SEARCHING;
        BooleanSupplier goOn = goOn(reads);
        Hit hit = search(reads, SearchExtent.USUAL, goOn);
        if (hit == null && enough && searchedReads < ENOUGH && goOn.getAsBoolean()) {
            fruitless++;
            if (fruitless >= wideAt) { // an order that was not found is rarely found at the next epoch
                wideAt *= 2;
                hit = search(reads, SearchExtent.WIDE, goOn);
            }
        }
        if (hit != null) {
            follow(reads, hit);
        } else if (goOn.getAsBoolean()) {
            searchedReads = count;
            state = enough ? State.NONE : State.COLLECTING;
            if (count >= STEPS[STEPS.length - 1]) {
                reads.searched();
            }
        }
    }

    /** Whether a search may go on: until the daemon ends, another training begins, or a user's job is followed. */
    private BooleanSupplier goOn(Beginning reads) {
        return new BooleanSupplier() {
            private long lookedNs = System.nanoTime();
            private boolean written;

            @Override
            public boolean getAsBoolean() {
                if (Objects.requireNonNull(worker).isClosed() || !reads.equals(beginning.get())) {
                    return false;
                }
                long nowNs = System.nanoTime();
                if (nowNs - lookedNs > LOOK_AT_JOBS_NS) {
                    lookedNs = nowNs;
                    written = jobs.isWrittenFollowed();
                }
                return !written;
            }
        };
    }

    private @Nullable Hit search(Beginning reads, SearchExtent extent, BooleanSupplier goOn) {
        for (String root : DatasetRoots.of(tree, reads.files())) {
            try {
                SampleIndex index = indexes.of(root);
                FirstReads.Snapshot snapshot = reads.reads(index);
                if (snapshot.count() < FEWEST) {
                    continue;
                }
                SeedSearch begun = new SeedSearch(index.size());
                search = begun;
                Optional<FoundOrder> found = begun.search(snapshot, extent, goOn);
                if (found.isPresent()) {
                    return new Hit(found.get(), root);
                }
            } catch (DatasetException | TimeoutException noIndex) {
                assert noIndex != null : "no trainer takes this directory for its root";
            }
        }
        return null;
    }

    private void follow(Beginning reads, Hit hit) {
        try {
            boolean begun = jobs.beginFound(spec(hit), reads.files());
            order = begun ? hit.order : null;
            note = null;
            state = begun ? State.FOUND : State.COLLECTING;
        } catch (InvalidSpecException e) {
            errors.add("the order that was found, '" + hit.order.line() + "', is no job: " + e.getMessage());
            state = State.NONE;
        }
        outOfSyncSinceNs = 0;
        fruitless = 0;
        wideAt = 1;
        reads.searched();
    }

    /** The job as a user would have written it, at the epoch that the reads are of. */
    private JobSpec spec(Hit hit) throws InvalidSpecException {
        String name = NAME;
        for (int i = 2; jobs.present(name) != null; i++) { // a user has one of this name
            name = NAME + "-" + i;
        }
        StringBuilder line = new StringBuilder("name=" + name + " " + hit.order.line());
        if (!hit.root.isEmpty()) {
            line.append(" subset=").append(hit.root);
        }
        if (hit.order.epoch() > 0) {
            line.append(" start_epoch=").append(hit.order.epoch());
        }
        return JobSpec.parse(line.toString());
    }

    private void watch(JobRun run) {
        if (run.isInSync()) {
            outOfSyncSinceNs = 0;
            return;
        }
        long nowNs = System.nanoTime();
        if (outOfSyncSinceNs == 0) {
            outOfSyncSinceNs = nowNs;
        } else if (nowNs - outOfSyncSinceNs > OUT_OF_SYNC_NS) {
            jobs.dropFound();
            note = "dropped, for reads contradicted it: "
                    + Objects.requireNonNull(order).line();
            order = null;
            state = State.COLLECTING;
        }
    }

    @Override
    public void close() {
        beginning.set(null);
        if (worker != null) {
            worker.close();
        }
    }
}
