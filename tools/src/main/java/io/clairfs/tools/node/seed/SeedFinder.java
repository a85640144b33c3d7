package io.clairfs.tools.node.seed;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.seed.FoundOrder;
import io.clairfs.cache.seed.RepeatedOrder;
import io.clairfs.cache.seed.SearchExtent;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.worker.Activity;
import io.clairfs.cache.worker.Worker;
import io.clairfs.fs.read.FirstRequests;
import io.clairfs.tools.node.job.Indexes;
import io.clairfs.tools.node.job.JobTable;
import io.clairfs.tools.node.seed.SeedStatus.State;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds the order of a trainer that no job describes, and runs the job that a user would have written. See docs/decisions/find-the-seed.md.
 *
 * <p>Readers leave their first requests in a {@link Beginning}. A thread searches them while processors are idle ({@link IdleTurns}), when there are
 * enough or nobody has read for a moment. An order that is found becomes a {@link FoundJob}; it is dropped when the next reads contradict it, or
 * when a user writes a job. Where none is found, an {@link OrderLearner} sees whether the second epoch repeats the first. Nothing is searched
 * while a job of a user is followed.
 *
 * <p>Life cycle: the daemon makes it, which begins to collect, starts its thread by {@link #begin} and closes it before the prefetcher.
 * {@link #asked} takes no lock. The thread holds none of its own when it calls the jobs; what others may see of it is volatile.
 */
public final class SeedFinder implements FirstRequests, AutoCloseable {
    /** So many reads are searched, and again when there are more. */
    private static final int[] STEPS = {32, 64, 128, 200, 400, 1000};

    /** With so many reads an order of a known family is found, so others are looked at wherever they are. */
    private static final int ENOUGH = 200;

    /** If no more follow, so many are enough, and fewer than the least tell nothing. */
    private static final int ENOUGH_OF_FEW = 64;

    private static final int FEWEST = 16;

    /** A daemon that has just begun compiles itself, and answers its first readers: both need processors. */
    private static final long FIRST_SEARCH_NS = TimeUnit.SECONDS.toNanos(1);

    private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long LOOK_WHILE_TOLD_MS = 1_000;
    private static final long REST_WHILE_TOLD_MS = 5_000;
    private static final long LOOK_AT_REST_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long LOOK_AT_CLOSES_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK_AT_READS_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LOOK_AT_JOBS_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private static final String OFF_BY_OPTION = "the mount does not search for it (--find-seed off)";
    private static final String OFF_IN_GROUP = "nodes of a group do not search for it: write the job";
    private static final String OFF_FOR_JOB = "a job tells it";
    private static final String LEARNED = "sampler=order-file";
    private static final String REMEMBERED =
            "this epoch is remembered: if the next one repeats it, its order is known then";

    private final RootSearch search;
    private final FoundJob job;
    private final OrderLearner learner = new OrderLearner();
    private final Indexes indexes;
    private final JobTable jobs;
    private final @Nullable Worker worker;
    private final Activity.Looks looks;

    /** Where readers leave their requests; null when nobody searches. */
    private final AtomicReference<@Nullable Beginning> beginning = new AtomicReference<>();

    private volatile State state = State.OFF;
    private volatile @Nullable String note;

    // What follows belongs to the thread.
    private @Nullable Beginning current;
    private int searchedReads;

    /** What reads of this beginning have contradicted. */
    private @Nullable String contradicted;

    private int fruitless;
    private int wideAt = 1;

    /**
     * Begins to collect, unless it is not {@code wanted}.
     *
     * @param jobs where found jobs run; those of a group are not found
     */
    public SeedFinder(
            boolean wanted, Path mountPoint, DatasetTree tree, Indexes indexes, JobTable jobs, ErrorLog errors) {
        search = new RootSearch(tree, indexes);
        job = new FoundJob(jobs, OrderFolder.of(mountPoint), errors, System::nanoTime);
        this.indexes = indexes;
        this.jobs = jobs;
        looks = jobs.activity().looks(LOOK_WHILE_TOLD_MS, REST_WHILE_TOLD_MS);
        if (wanted && !jobs.isInGroup()) {
            worker = new Worker("seed-finder", this::step, errors);
            state = State.COLLECTING;
            beginning.set(new Beginning(System.nanoTime()));
            learner.begin();
        } else {
            worker = null;
            note = wanted ? OFF_IN_GROUP : OFF_BY_OPTION;
        }
    }

    /** Begins to search. Called once, when the jobs of the process before this one go on. */
    public void begin() {
        if (worker != null) {
            worker.start();
        }
    }

    @Override
    public void asked(int thread, int file) {
        Beginning now = beginning.get();
        if (now == null) {
            return;
        }
        learner.asked(thread, file);
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

    @Override
    public void closed(int[] files, int count) {
        learner.closed(files, count);
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
        String found = job.text();
        String said = note;
        State now = state;
        if (now == State.FOUND && found == null) { // it is stopped just now
            now = State.COLLECTING;
        }
        if (said == null && now == State.NONE && learner.remembered() > 0) {
            said = REMEMBERED;
        }
        return new SeedStatus(
                now,
                reads == null ? 0 : reads.count(),
                search.candidates(),
                found,
                found == null || !job.canBeWritten() ? null : job.line(),
                said);
    }

    /** Whether this is the job that was found. */
    public boolean isFound(JobSpec spec) {
        JobRun run = jobs.found();
        return run != null && run.spec().equals(spec);
    }

    private void step() {
        looks.begin();
        long pauseNs = look();
        if (state == State.OFF) { // a job tells it, which only what happens can change
            looks.pause();
        } else {
            LockSupport.parkNanos(pauseNs);
        }
    }

    /** Does what there is to do. Returns how long to pause then, nanoseconds. */
    private long look() {
        if (jobs.isWrittenFollowed()) {
            if (jobs.found() == null) {
                job.forget();
            } else {
                job.drop(); // the trainer of the user's job has come back to it
            }
            learner.stop();
            note = OFF_FOR_JOB;
            state = State.OFF;
            return TimeUnit.MILLISECONDS.toNanos(LOOK_WHILE_TOLD_MS);
        }
        if (state == State.OFF) {
            state = State.COLLECTING;
            note = null;
            if (!jobs.hasWritten()) { // else the reads of a trainer that contradicts the job are there
                beginning.set(new Beginning(System.nanoTime()));
                learner.begin();
            }
        }
        job.takeOver();
        if (job.hasBegun() && isFollowed()) {
            state = State.FOUND;
            return LOOK_NS;
        }
        if (state == State.FOUND) { // it was stopped
            state = State.COLLECTING;
        }
        Beginning reads = beginning.get();
        if (reads == null) { // closed
            return LOOK_NS;
        }
        if (!reads.equals(current)) {
            current = reads;
            state = State.COLLECTING;
            searchedReads = 0;
            contradicted = null;
            learner.begin();
        }
        if (isLearned()) {
            followLearned();
            return LOOK_NS;
        }
        if (isDue(reads) && indexes.isListed()) {
            search(reads);
            return 1;
        }
        boolean pausing = isPausing(reads);
        if (pausing && state == State.NONE) {
            reads.searched();
        }
        long rest = learner.isAtWork() ? LOOK_AT_CLOSES_NS : LOOK_AT_REST_NS;
        return pausing || reads.isSearched() ? rest : LOOK_AT_READS_NS;
    }

    /** Whether the job that was found still runs. */
    private boolean isFollowed() {
        switch (job.look()) {
            case FOLLOWED -> {
                return true;
            }
            case NONE -> {}
            case CONTRADICTED -> {
                note = "dropped, for reads contradicted it: " + job.line();
                job.drop();
                Beginning reads = beginning.get();
                if (reads != null && reads.equals(current)) {
                    contradicted = job.origin();
                    reads.searchAgain();
                }
            }
        }
        return false;
    }

    private boolean isDue(Beginning reads) {
        if (reads.isSearched() || reads.ageNs(System.nanoTime()) < FIRST_SEARCH_NS) {
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
        RootSearch.Hit hit = search.search(reads, SearchExtent.USUAL, FEWEST, goOn);
        if (hit == null && enough && searchedReads < ENOUGH && goOn.getAsBoolean()) {
            fruitless++;
            if (fruitless >= wideAt) { // an order that was not found is rarely found at the next epoch
                wideAt *= 2;
                hit = search.search(reads, SearchExtent.WIDE, FEWEST, goOn);
            }
        }
        if (hit != null && !hit.line().equals(contradicted)) {
            searchedReads = count;
            state = job.begin(hit.order(), hit.root(), hit.order().epoch(), reads.files())
                    ? State.FOUND
                    : State.COLLECTING;
            found(reads);
        } else if (goOn.getAsBoolean()) {
            searchedReads = count;
            state = enough ? State.NONE : State.COLLECTING;
            if (hit != null || count >= STEPS[STEPS.length - 1]) {
                reads.searched();
            }
        }
    }

    private void followLearned() {
        OrderLearner.Learned learned = Objects.requireNonNull(learner.learned());
        RepeatedOrder order = learned.order();
        FoundOrder fits = new FoundOrder(LEARNED, 1, order.fits(), order.reads(), order.chance());
        state = job.beginRepeated(order.order(), 0, order.readers(), fits, "", 1, learned.read())
                ? State.FOUND
                : State.COLLECTING;
        Beginning reads = beginning.get();
        if (reads != null) {
            current = reads;
            found(reads);
        }
    }

    private void found(Beginning reads) {
        note = null;
        learner.stop();
        fruitless = 0;
        wideAt = 1;
        reads.searched();
    }

    /** Whether the order is known without a search. */
    private boolean isLearned() {
        try {
            return learner.isAtWork() && (learner.hasNews() ? learner.look(indexes.ofLately("")) : learner.isKnown());
        } catch (DatasetException | TimeoutException noIndex) {
            return false;
        }
    }

    /** Whether a search may go on: until the daemon ends, another training begins, a user's job is followed, or the order is learned. */
    private BooleanSupplier goOn(Beginning reads) {
        return new BooleanSupplier() {
            private long lookedNs = System.nanoTime();
            private boolean written;
            private final IdleTurns turns = new IdleTurns();

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
                turns.next();
                return !written && !isLearned();
            }
        };
    }

    @Override
    public void close() {
        beginning.set(null);
        if (worker != null) {
            worker.close();
            learner.stop();
            job.clear();
        }
    }
}
