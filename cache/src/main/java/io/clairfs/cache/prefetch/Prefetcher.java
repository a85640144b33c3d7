package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.follow.SampleLocation;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.JobPlanner;
import io.clairfs.cache.placement.Planning;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.stage.StagingArea;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.status.NodeTraffic;
import io.clairfs.cache.worker.Worker;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The jobs of a node and the threads that bring their samples where they are needed next.
 *
 * <p>Loaders stage samples right before the trainers ({@link StagingPrefetcher}). Fillers fill each tier further ahead
 * ({@link TierPrefetcher}) with what the plan wants there ({@link Planning}).
 *
 * <p>Life cycle: the daemon makes it, which starts all its threads, and closes it before the admission and the tiers. It has no lock of its
 * own, and calls {@link Planning}, {@link LoaderShares} and jobs one after another without holding a lock. {@link #asked} takes none of
 * their locks, for a reader waits for it.
 */
public final class Prefetcher implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Prefetcher.class.getName());
    private static final int WRITERS = 2;
    private static final int MOST_ASKED = 64;

    /** As many as may wait at once; they are passed on every few milliseconds. */
    private static final int MOST_WAITED = 65_536;

    private static final int MOST_REACHED = 65_536;

    private static final long FAILURE_PAUSE_MS = 200;

    private final DatasetTree tree;
    private final Planning planning;
    private final Admission admission;
    private final StagingBuffer staging;
    private final LoaderShares shares;
    private final Counters counters;
    private final ReportedFailures failures = new ReportedFailures(System::nanoTime);
    private final ErrorLog errors;
    private final List<JobRun> jobs = new CopyOnWriteArrayList<>();
    private final List<Worker> workers = new ArrayList<>();

    private final ReadAttribution attribution = new ReadAttribution(jobs);

    /** While there are several jobs: files that readers asked for; when it is full, further ones are dropped. */
    private final ArrayBlockingQueue<Integer> asked = new ArrayBlockingQueue<>(MOST_ASKED);

    /** Waits of readers that were not passed on to jobs yet; when it is full, further ones are not counted. */
    private final LinkedBlockingQueue<Waited> waited = new LinkedBlockingQueue<>(MOST_WAITED);

    private record Waited(int file, long startNs, long endNs) {}

    /** Files that readers asked for and whose closes are not reported; when it is full, further ones are dropped. */
    private final ArrayBlockingQueue<Integer> reached = new ArrayBlockingQueue<>(MOST_REACHED);

    private final Worker follower;

    /** Wakes loaders. */
    private final WorkSignal signal = new WorkSignal();

    /** Wakes threads that end what peers have sent ahead of time. */
    private final WorkSignal answers = new WorkSignal();

    private final StagingPrefetcher stager;

    /** Wake the threads of each tier, which also look for work by themselves. */
    private final List<WorkSignal> tierSignals = new CopyOnWriteArrayList<>();

    /** How many reads were reported. */
    private final AtomicLong reportedReads = new AtomicLong();

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
        this.tree = tree;
        this.counters = counters;
        this.errors = errors;
        this.admission = admission;
        planning = new Planning(admission, planner, jobs, this::wakeAll, errors);
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
        stager = new StagingPrefetcher(
                tree, router, admission, inUse, staging, shares, signal, answers, settings.loaders(), counters);
        Work load = () -> {
            heedAsked();
            return stager.stageOne();
        };
        start("loader-", StagingPrefetcher.threads(settings.loaders()), load, signal);
        if (router.hasPeers()) {
            start("answer-", StagingPrefetcher.threadsForAnswers(), stager::endOneAnswered, answers);
        }
        for (int tier = 0; tier < admission.residents().tiers().size(); tier++) {
            TierPrefetcher filler = new TierPrefetcher(tier, admission, router, shares);
            String role = admission.residents().tiers().get(tier).name() + "-filler-";
            WorkSignal ofTier = new WorkSignal();
            tierSignals.add(ofTier);
            start(role, settings.fillers().get(tier), filler::fillOne, ofTier);
            if (tier > 0) { // a filler may wait for the source while other threads queue samples
                int to = tier;
                start(
                        admission.residents().tiers().get(tier).name() + "-writer-",
                        WRITERS,
                        () -> admission.writeNext(to),
                        ofTier);
            }
        }
        follower = new Worker("follower-by-requests", this::heedReached, errors);
        workers.add(follower);
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
            try {
                if (!work.run()) {
                    scout = news.await(seen);
                } else if (scout) {
                    news.wake();
                    scout = false;
                }
            } catch (JobFailedException e) {
                fail(e.job(), String.valueOf(e.getMessage()));
            } catch (SourceException e) {
                if (failures.isNews(String.valueOf(e.getMessage()))) {
                    errors.add("prefetching " + e.getMessage());
                }
                TimeUnit.MILLISECONDS.sleep(FAILURE_PAUSE_MS);
            }
        }
    }

    private void check(StagedSampleChecker checker) {
        long reads = reportedReads.get();
        if (checker.look(jobs, reads != readsAtLastCheck)) {
            signal.wake();
        }
        readsAtLastCheck = reads;
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(checker.pauseMs()));
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
        JobRun run = new JobRun(spec, index, tree, staging, System::nanoTime);
        for (int file : read) {
            run.read(file);
        }
        return start(run, reported);
    }

    /**
     * Starts a job that another process has begun.
     *
     * @param positions of its trainers, as {@link JobRun#positions} told there
     */
    public JobRun goOn(JobSpec spec, SampleIndex index, boolean reported, long[] positions)
            throws InvalidSpecException {
        EpochOrders orders = new EpochOrders(spec.sampler(index), index.size(), System::nanoTime);
        return start(new JobRun(spec, index, tree, staging, orders, System::nanoTime, positions), reported);
    }

    private JobRun start(JobRun run, boolean reported) {
        JobSpec spec = run.spec();
        if (!reported) {
            run.followByRequests();
        }
        remove(spec.name());
        run.traffic(NodeTraffic.of(counters));
        jobs.add(run);
        planning.jobsChanged();
        shares.add(run); // behind the plan, for a sample that is staged before would be fetched again to be kept
        wakeAll();
        return run;
    }

    /** Ends the job of this name. Returns whether there was one. */
    public boolean stop(String name) {
        boolean found = remove(name);
        if (found) {
            planning.jobsChanged();
        }
        return found;
    }

    private boolean remove(String name) {
        return job(name).map(this::remove).orElse(false);
    }

    private boolean remove(JobRun job) {
        if (!jobs.remove(job)) {
            return false;
        }
        shares.remove(job);
        job.close();
        return true;
    }

    /** Ends a job, unless it was replaced meanwhile. */
    private void fail(JobRun job, String reason) {
        if (remove(job)) {
            errors.add("job " + job.spec().name() + " ended: " + reason);
            planning.jobsChanged();
        }
    }

    public Optional<JobRun> job(String name) {
        return jobs.stream().filter(j -> j.spec().name().equals(name)).findFirst();
    }

    /** The jobs that run now, in the order in which they were started. */
    public List<JobRun> jobs() {
        return List.copyOf(jobs);
    }

    /** Whether this file was staged, though pages of it may be gone. */
    public boolean isPartlyStaged(int file) {
        return staging.isPartlyStaged(file);
    }

    /** Readers have closed the first {@code count} of these files, in this order. */
    public void read(int[] files, int count) {
        reportedReads.addAndGet(count);
        heedAsked();
        heedWaited();
        for (int i = 0; i < count; i++) {
            int file = files[i];
            attribution.read(file, (reader, read) -> forEach(List.of(reader), job -> job.read(read)));
            admission.read(file);
        }
        NodeTraffic traffic = NodeTraffic.of(counters);
        forEach(jobs, job -> {
            job.traffic(traffic);
            if (job.wantsSearch()) {
                beginSearch(job);
            }
        });
        trainersHaveRead(count);
    }

    private void beginSearch(JobRun job) {
        try {
            Thread.ofPlatform().daemon().name("search").start(() -> search(job));
        } catch (OutOfMemoryError noThread) {
            job.searchNotBegun(); // it is tried again
        }
    }

    /** So many samples, so there may be room for as many. A loader that finds work wakes another. */
    private void trainersHaveRead(int samples) {
        if (!jobs.isEmpty()) {
            signal.wake(Math.min(samples, StagingPrefetcher.firstToWake()));
        }
    }

    /** How often loaders were woken for what happened. */
    long newsForLoaders() {
        return signal.seen();
    }

    /** A reader had to ask for this file, and gets the whole of it; its close will be reported. */
    public void asked(int file) {
        if (jobs.size() > 1) {
            asked.offer(file); // whose trainer it was is decided later, with locks of jobs
        } else {
            asked(jobs, file);
        }
    }

    private void asked(List<JobRun> readers, int file) {
        for (JobRun job : readers) {
            job.asked(file, admission.residents()::isInMemory);
        }
    }

    private void heedAsked() {
        for (Integer file = asked.poll(); file != null; file = asked.poll()) {
            asked(attribution.jobsOf(file), file);
        }
    }

    /**
     * A reader has waited for an answer about this file, from one {@link System#nanoTime} to another. Takes no lock of a job, for readers may wait
     * with the caller.
     */
    public void waited(int file, long startNs, long endNs) {
        if (!jobs.isEmpty()) {
            boolean _ = waited.offer(new Waited(file, startNs, endNs));
        }
    }

    private void heedWaited() {
        for (Waited next = waited.poll(); next != null; next = waited.poll()) {
            for (JobRun job : attribution.jobsOf(next.file)) {
                job.waited(next.file, next.startNs, next.endNs);
            }
        }
    }

    /** What the epochs of a job took until now. */
    public JobRun.Times timesOf(JobRun job) {
        heedWaited();
        return job.times();
    }

    /** A reader had to ask for this file, and its close will not be reported. Takes no lock of a job, as {@link #asked}. */
    public void reached(int file) {
        if (!jobs.isEmpty()) {
            boolean _ = reached.offer(file);
            follower.unpark();
        }
    }

    private void heedReached() {
        heedWaited();
        NodeTraffic traffic = NodeTraffic.of(counters);
        int count = 0;
        for (Integer file = reached.poll(); file != null; file = reached.poll()) {
            int read = file;
            forEach(attribution.jobsOf(read), job -> {
                job.reached(read);
                job.traffic(traffic);
            });
            count++;
        }
        if (count == 0) {
            LockSupport.park();
        } else {
            trainersHaveRead(count);
        }
    }

    /** Reports of reads were lost. */
    public void reportsLost() {
        counters.eventsLost.increment();
        forEach(jobs, JobRun::reportsLost);
        signal.wake();
    }

    @FunctionalInterface
    private interface JobAction {
        void run(JobRun job) throws InvalidSpecException;
    }

    private void forEach(List<JobRun> some, JobAction action) {
        for (JobRun job : some) {
            try {
                action.run(job);
            } catch (InvalidSpecException e) {
                fail(job, String.valueOf(e.getMessage()));
            }
        }
    }

    private void search(JobRun job) {
        try {
            if (job.search()) {
                planning.trainerMoved();
            }
            signal.wake();
        } catch (InvalidSpecException e) {
            fail(job, String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "looking for the trainer of job " + job.spec().name(), e);
            errors.add("looking for the trainer of job " + job.spec().name() + " failed: " + e);
        }
    }

    /**
     * Looks for the trainer of a job once more by what was read last. Returns whether it follows the prediction then. May take a while.
     */
    public boolean searchNow(JobRun job) {
        try {
            boolean follows = job.searchNow();
            if (follows) {
                planning.trainerMoved();
                signal.wake();
            }
            return follows;
        } catch (InvalidSpecException e) {
            fail(job, String.valueOf(e.getMessage()));
            return false;
        }
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

    /** Where this file is, and when it is wanted. May take a second for a dataset of millions. */
    public SampleLocation whereabouts(int file) {
        List<SampleLocation.NextUse> uses = new ArrayList<>();
        forEach(jobs, job -> {
            SampleLocation.NextUse use = job.nextUse(file);
            if (use != null) {
                uses.add(use);
            }
        });
        return new SampleLocation(
                staging.isStaged(file), admission.residents().holdersOf(file), admission.plannedFor(file), uses);
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
        jobs.forEach(job -> remove(job.spec().name()));
        wakeAll();
        Worker.closeAll(workers);
        stager.close();
        staging.close();
    }
}
