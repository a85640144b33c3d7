package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.follow.JobTimes;
import io.clairfs.cache.follow.SampleLocation;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.BeginningSampler;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.FileLooks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.JobPlanner;
import io.clairfs.cache.placement.Planning;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.stage.StagingArea;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.status.NodeTraffic;
import io.clairfs.cache.worker.Activity;
import io.clairfs.cache.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The jobs of a node and the threads that bring their samples where they are needed next.
 *
 * <p>Loaders stage samples right before the trainers ({@link StagingPrefetcher}). Fillers fill each tier further ahead
 * ({@link TierPrefetcher}) with what the plan wants there ({@link Planning}). What readers do comes to the jobs by way of
 * {@link ReaderEvents}.
 *
 * <p>Life cycle: the daemon makes it, which starts all its threads, and closes it before the admission and the tiers. It has no lock of its
 * own, and calls {@link Planning}, {@link LoaderShares} and jobs one after another without holding a lock. {@link #asked} takes none of
 * their locks, for a reader waits for it.
 */
public final class Prefetcher implements AutoCloseable {
    private static final int WRITERS = 2;
    private static final long FAILURE_PAUSE_MS = 200;

    /** How long staged samples are left alone while nobody reads, and while nothing at all happens. */
    private static final long CHECK_PAUSE_MS = 1_000;

    private static final long CHECK_AT_REST_MS = 4_000;

    private final DatasetTree tree;
    private final Planning planning;
    private final Admission admission;
    private final StagingBuffer staging;
    private final LoaderShares shares;
    private final Counters counters;
    private final ReportedFailures failures = new ReportedFailures(System::nanoTime);
    private final ErrorLog errors;
    private final List<Worker> workers = new ArrayList<>();
    private final RunningJobs jobs;
    private final ReaderEvents events;

    private final Activity activity = new Activity();
    private final Activity.Looks checks = activity.looks(CHECK_PAUSE_MS, CHECK_AT_REST_MS);

    /** Wakes loaders. */
    private final WorkSignal signal = new WorkSignal(activity, this::mayLoadersRest);

    /** Wakes threads that end what peers have sent ahead of time. */
    private final WorkSignal answers = new WorkSignal(activity, () -> true);

    private final StagingPrefetcher stager;

    /** For threads that may not wait for an order file that does not answer. */
    private final FileLooks looks;

    /** Wake the threads of each tier, which also look for work by themselves. */
    private final List<WorkSignal> tierSignals = new CopyOnWriteArrayList<>();

    /** Only the checker uses it. */
    private long readsAtLastCheck;

    /** Starts the workers, which have nothing to do before the first job. */
    public Prefetcher(
            DatasetTree tree,
            FetchRouter router,
            Admission admission,
            SamplesInUse inUse,
            JobPlanner planner,
            StagingArea area,
            PrefetchSettings settings,
            Counters counters,
            ErrorLog errors) {
        this(tree, router, admission, inUse, planner, area, settings, counters, errors, new FileLooks());
    }

    /** As the other constructor, with looks at order files that {@code looks} bounds. */
    public Prefetcher(
            DatasetTree tree,
            FetchRouter router,
            Admission admission,
            SamplesInUse inUse,
            JobPlanner planner,
            StagingArea area,
            PrefetchSettings settings,
            Counters counters,
            ErrorLog errors,
            FileLooks looks) {
        this.looks = looks;
        this.tree = tree;
        this.counters = counters;
        this.errors = errors;
        this.admission = admission;
        List<JobRun> running = new CopyOnWriteArrayList<>();
        planning = new Planning(admission, planner, running, this::wakeAll, errors);
        staging = new StagingBuffer(area, settings.stagingBytes(), settings.stagingSamples());
        shares = new LoaderShares(
                switch (settings.sharing()) {
                    case FIXED -> LoaderAssignment.fixed();
                    case BALANCED -> new BalancedAssignment(tree, router, router.rates());
                },
                settings.stagingBytes(),
                settings.loaders(),
                admission::isPlanPending,
                System::nanoTime);
        jobs = new RunningJobs(running, planning, shares, signal, activity, errors);
        events = new ReaderEvents(jobs, admission, counters, activity, errors, this::trainersHaveRead);
        stager = new StagingPrefetcher(
                tree, router, admission, inUse, staging, shares, signal, answers, settings.loaders(), counters);
        Work load = () -> {
            events.heedAsked();
            return isWorkDone(stager.stageOne());
        };
        start("loader-", StagingPrefetcher.threads(settings.loaders()), load, signal);
        if (router.hasPeers()) {
            start("answer-", StagingPrefetcher.threadsForAnswers(), () -> isWorkDone(stager.endOneAnswered()), answers);
        }
        for (int tier = 0; tier < admission.residents().tiers().size(); tier++) {
            TierPrefetcher filler = new TierPrefetcher(tier, admission, router, shares, activity);
            String role = admission.residents().tiers().get(tier).name() + "-filler-";
            WorkSignal ofTier = new WorkSignal(activity, () -> true);
            tierSignals.add(ofTier);
            start(role, settings.fillers().get(tier), filler::fillOne, ofTier);
            if (tier > 0) { // a filler may wait for the source while other threads queue samples
                int to = tier;
                start(
                        admission.residents().tiers().get(tier).name() + "-writer-",
                        WRITERS,
                        () -> isWorkDone(admission.writeNext(to)),
                        ofTier);
            }
        }
        workers.add(events.follower());
        StagedSampleChecker checker = new StagedSampleChecker(staging, counters, System::nanoTime);
        workers.add(new Worker("staged-checker", () -> check(checker), errors));
        admission.onQueued(tier -> tierSignals.get(tier).wake(1));
        workers.forEach(Worker::start);
    }

    /** One piece of work. Returns whether there was any. */
    @FunctionalInterface
    private interface Work {
        boolean run() throws SourceException, JobFailedException;
    }

    private void start(String role, int count, Work work, WorkSignal news) {
        for (int i = 0; i < count; i++) {
            workers.add(new Worker(role + i, new Repeated(work, news), errors));
        }
    }

    /** Does a kind of work as long as there is any, and waits for news when there is none. */
    private final class Repeated implements Worker.Step {
        private final Work work;
        private final WorkSignal news;
        private boolean scout;

        Repeated(Work work, WorkSignal news) {
            this.work = work;
            this.news = news;
        }

        @Override
        public void run() throws InterruptedException {
            long seen = news.seen();
            long happened = activity.seen();
            try {
                if (!work.run()) {
                    scout = news.await(seen);
                } else if (scout && activity.seen() != happened) { // else it has only looked, and looks on
                    news.wake();
                    scout = false;
                }
            } catch (JobFailedException e) {
                jobs.fail(e.job(), String.valueOf(e.getMessage()));
            } catch (SourceException e) {
                if (failures.isNews(String.valueOf(e.getMessage()))) {
                    errors.add("prefetching " + e.getMessage());
                }
                TimeUnit.MILLISECONDS.sleep(FAILURE_PAUSE_MS);
            }
        }
    }

    private boolean isWorkDone(boolean isDone) {
        if (isDone) {
            activity.happened();
        }
        return isDone;
    }

    /** A plan is waited for with a bound, and an order that comes late is looked for; neither gives news when it is over. */
    private boolean mayLoadersRest() {
        return !admission.isPlanPending() && jobs.all().stream().allMatch(job -> job.awaitedOrder() == null);
    }

    private void check(StagedSampleChecker checker) {
        checks.begin();
        long reads = events.reported();
        if (checker.look(jobs.all(), reads != readsAtLastCheck)) {
            signal.wake(StagingPrefetcher.firstToWake());
        }
        readsAtLastCheck = reads;
        if (checker.isAtRest()) {
            checks.pause();
        } else {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(checker.pauseMs()));
        }
    }

    /** What happens here. */
    public Activity activity() {
        return activity;
    }

    /**
     * Starts a job over {@code index}, in place of one of the same name if there is one.
     *
     * @param reported whether {@link #read} will be told of the files that are read
     */
    public JobRun start(JobSpec spec, SampleIndex index, boolean reported) throws InvalidSpecException {
        return start(spec, index, reported, new int[0]);
    }

    /**
     * As the other one, for a trainer that has begun.
     *
     * @param read the files that it has read, in this order
     */
    public JobRun start(JobSpec spec, SampleIndex index, boolean reported, int[] read) throws InvalidSpecException {
        return begin(spec, index, reported, new long[0], read);
    }

    /**
     * Starts a job that another process has begun.
     *
     * @param positions of its trainers, as {@link JobRun#positions} told there
     */
    public JobRun goOn(JobSpec spec, SampleIndex index, boolean reported, long[] positions)
            throws InvalidSpecException {
        return begin(spec, index, reported, positions, new int[0]);
    }

    /** The caller holds up other jobs meanwhile, so it waits for order files for a bounded time. */
    private JobRun begin(JobSpec spec, SampleIndex index, boolean reported, long[] positions, int[] read)
            throws InvalidSpecException {
        BeginningSampler sampler = new BeginningSampler(spec.sampler(index), spec.orderFile(), index.size(), looks);
        EpochOrders orders = new EpochOrders(sampler, index.size(), System::nanoTime);
        JobRun run = new JobRun(spec, index, tree, staging, orders, System::nanoTime, positions);
        for (int file : read) {
            run.read(file);
        }
        sampler.begun();
        return start(run, reported);
    }

    private JobRun start(JobRun run, boolean reported) {
        if (!reported) {
            run.followByRequests();
        }
        run.orders().computeAside(Prefetcher::startOrderThread, signal::wake);
        run.plannerOrders().lookAside(Prefetcher::startPlannerOrderThread, planning::ordersAnswered);
        run.traffic(NodeTraffic.of(counters));
        jobs.add(run);
        wakeAll();
        return run;
    }

    /** One at a time for each job. It may hang in a file system, and then outlives its job. */
    private static void startOrderThread(Runnable work) {
        Thread.ofPlatform().daemon().name("next-order").start(work);
    }

    /** As the other one, for the planner's looks at files. */
    private static void startPlannerOrderThread(Runnable work) {
        Thread.ofPlatform().daemon().name("planner-order").start(work);
    }

    /** Ends the job of this name. Returns whether there was one. */
    public boolean stop(String name) {
        return jobs.stop(name);
    }

    public Optional<JobRun> job(String name) {
        return jobs.job(name);
    }

    /** The jobs that run now, in the order in which they were started. */
    public List<JobRun> jobs() {
        return List.copyOf(jobs.all());
    }

    /** Whether this file was staged, though pages of it may be gone. */
    public boolean isPartlyStaged(int file) {
        return staging.isPartlyStaged(file);
    }

    /** Readers have closed the first {@code count} of these files, in this order. */
    public void read(int[] files, int count) {
        events.read(files, count);
    }

    /** So many samples, so there may be room for as many. A loader that finds work wakes another. */
    private void trainersHaveRead(int samples) {
        if (!jobs.all().isEmpty()) {
            signal.wake(Math.min(samples, StagingPrefetcher.firstToWake()));
        }
    }

    /** How often loaders were woken for what happened. */
    long newsForLoaders() {
        return signal.seen();
    }

    /** A reader had to ask for this file, and gets the whole of it; its close will be reported. */
    public void asked(int file) {
        events.asked(file);
    }

    /**
     * A reader has waited for an answer about this file, from one {@link System#nanoTime} to another. Takes no lock of a job, for readers may wait
     * with the caller.
     */
    public void waited(int file, long startNs, long endNs) {
        events.waited(file, startNs, endNs);
    }

    /** What the epochs of a job took until now. */
    public JobTimes timesOf(JobRun job) {
        events.heedWaited();
        return job.times();
    }

    /** A reader had to ask for this file, and its close will not be reported. Takes no lock of a job, as {@link #asked}. */
    public void reached(int file) {
        events.reached(file);
    }

    /** Reports of reads were lost. */
    public void reportsLost() {
        counters.eventsLost.increment();
        jobs.forEach(jobs.all(), JobRun::reportsLost);
        signal.wake();
        activity.happened();
    }

    /**
     * Looks for the trainer of a job once more by what was read last. Returns whether it follows the prediction then. May take a while.
     */
    public boolean searchNow(JobRun job) {
        return jobs.searchNow(job);
    }

    /** Plans again, for tiers or nodes have changed, as when a disk's samples were found. */
    public void tiersChanged() {
        planning.jobsChanged();
        wakeAll();
    }

    private void wakeAll() {
        signal.wake();
        answers.wake();
        tierSignals.forEach(WorkSignal::wake);
    }

    /** How many loaders are assigned to each rank of a job here now, in order of ranks. */
    public int[] loadersOf(JobRun job) {
        return shares.assigned(job);
    }

    /**
     * Where this file is, and when it is wanted. May take a second for a dataset of millions.
     *
     * @throws OrderNotReadyException when an order file does not answer, so that it is not known when it is wanted
     */
    public SampleLocation whereabouts(int file) throws OrderNotReadyException {
        List<SampleLocation.NextUse> uses = new ArrayList<>();
        List<OrderNotReadyException> unanswered = new ArrayList<>();
        jobs.forEach(jobs.all(), job -> {
            if (!unanswered.isEmpty()) {
                return; // one file that hangs is waited for, not that of each job
            }
            try {
                SampleLocation.NextUse use = job.nextUse(file, epoch -> order(job, epoch));
                if (use != null) {
                    uses.add(use);
                }
            } catch (OrderNotReadyException e) {
                unanswered.add(e); // the job goes on
            }
        });
        if (!unanswered.isEmpty()) {
            throw unanswered.getFirst();
        }
        return new SampleLocation(
                staging.isStaged(file), admission.residents().holdersOf(file), admission.plannedFor(file), uses);
    }

    /**
     * The answer to a question about the orders of a job, for a caller whom others wait for.
     *
     * @throws OrderNotReadyException when its order file does not answer in time
     */
    public <T> T ask(JobRun job, FileLooks.Question<T> question) throws InvalidSpecException {
        return looks.ofOrder(job.spec().orderFile(), job.index().size(), question);
    }

    /**
     * The order of an epoch of a job, for such a caller. One that the job keeps is there though its file may not answer; another is not kept, so it
     * evicts none in use.
     *
     * @throws OrderNotReadyException when it cannot be computed yet, or its file does not answer in time
     */
    public EpochOrder order(JobRun job, int epoch) throws InvalidSpecException {
        EpochOrder kept = job.orders().kept(epoch);
        return kept != null ? kept : ask(job, () -> job.orders().peek(epoch));
    }

    /** The looks at order files that threads take which may not wait for one that does not answer. */
    public FileLooks looks() {
        return looks;
    }

    public long stagingCapacityBytes() {
        return staging.capacityBytes();
    }

    public long stagedBytes() {
        return staging.usedBytes();
    }

    public int stagedSamples() {
        return staging.samples();
    }

    /** Ends all jobs and drops what is staged; threads stuck in the source are left behind after a moment. */
    @Override
    public void close() {
        workers.forEach(Worker::end); // before the jobs end under them
        planning.close();
        jobs.removeAll();
        wakeAll();
        Worker.closeAll(workers);
        stager.close();
        staging.close();
    }
}
