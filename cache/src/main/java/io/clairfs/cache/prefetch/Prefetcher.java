package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The loader threads of a node: they follow the streams of all jobs and bring each sample where it is needed next.
 *
 * <p>A loader first looks for a sample to stage, in the order in which the trainers will read; when the staging buffer is full
 * it fills the memory tier further ahead. So one order serves both, and the trainer's next sample always goes first. Pushes
 * into the staging area are few at a time, for they cost processor time that the trainer needs.
 */
public final class Prefetcher implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Prefetcher.class.getName());
    private static final int PUSHES_AT_ONCE = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);
    private static final long IDLE_WAIT_MS = 100;
    private static final long FAILURE_PAUSE_MS = 200;
    private static final int FILL_LOOKS = 4096;
    private static final long END_TIMEOUT_MS = 2_000;

    private final DatasetTree tree;
    private final FetchRouter router;
    private final MemoryTier memory;
    private final StagingBuffer staging;
    private final Counters counters;
    private final ErrorLog errors;
    private final List<JobRun> jobs = new CopyOnWriteArrayList<>();
    private final List<Thread> loaders = new ArrayList<>();
    private final Semaphore pushes = new Semaphore(PUSHES_AT_ONCE, true);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();

    /** Counts what may have given loaders something to do; changed under the lock. */
    private final AtomicLong news = new AtomicLong();

    private volatile boolean closed;

    /**
     * Starts the loaders.
     *
     * @param stagingBytes what may be in the staging area at once
     * @param stagingSamples how many samples may be there at once; each holds a file descriptor
     * @param threads how many samples may be fetched at once
     */
    public Prefetcher(
            DatasetTree tree,
            FetchRouter router,
            MemoryTier memory,
            StagingArea area,
            long stagingBytes,
            int stagingSamples,
            int threads,
            Counters counters,
            ErrorLog errors) {
        this.tree = tree;
        this.router = router;
        this.memory = memory;
        this.counters = counters;
        this.errors = errors;
        staging = new StagingBuffer(area, stagingBytes, stagingSamples);
        for (int i = 0; i < threads; i++) {
            loaders.add(Thread.ofPlatform().daemon().name("loader-" + i).start(this::load));
        }
    }

    /**
     * Starts a job over {@code index}, in place of one of the same name if there is one.
     *
     * @param reported whether {@link #read} will be told of the files that are read
     */
    public JobRun start(JobSpec spec, SampleIndex index, boolean reported) throws InvalidSpecException {
        JobRun run = new JobRun(spec, index, tree, staging);
        if (!reported) {
            run.followByRequests();
        }
        stop(spec.name());
        jobs.add(run);
        wake();
        return run;
    }

    /** Ends the job of this name. Returns whether there was one. */
    public boolean stop(String name) {
        Optional<JobRun> run = job(name);
        run.ifPresent(found -> {
            jobs.remove(found);
            found.close();
        });
        return run.isPresent();
    }

    public Optional<JobRun> job(String name) {
        return jobs.stream().filter(j -> j.spec().name().equals(name)).findFirst();
    }

    /** The jobs that run now, in the order in which they were started. */
    public List<JobRun> jobs() {
        return List.copyOf(jobs);
    }

    /** Readers have closed the first {@code count} of these files, in this order. */
    public void read(int[] files, int count) {
        forEachJob(job -> {
            for (int i = 0; i < count; i++) {
                job.read(files[i]);
            }
            if (job.wantsSearch()) {
                Thread.ofPlatform().daemon().name("search").start(() -> search(job));
            }
        });
    }

    /** A reader had to ask for this file, and it lies where closing is not reported. */
    public void reached(int file) {
        forEachJob(job -> job.reached(file));
    }

    /** Reports of reads were lost. */
    public void reportsLost() {
        counters.eventsLost.increment();
        forEachJob(JobRun::reportsLost);
    }

    @FunctionalInterface
    private interface JobAction {
        void run(JobRun job) throws InvalidSpecException;
    }

    private void forEachJob(JobAction action) {
        for (JobRun job : jobs) {
            try {
                action.run(job);
            } catch (InvalidSpecException e) {
                fail(job, e);
            }
        }
        wake();
    }

    private void search(JobRun job) {
        try {
            job.search();
            wake();
        } catch (InvalidSpecException e) {
            fail(job, e);
        }
    }

    private void fail(JobRun job, InvalidSpecException e) {
        errors.add("job " + job.spec().name() + " ended: " + e.getMessage());
        stop(job.spec().name());
    }

    private void load() {
        while (!closed) {
            long seen = news.get();
            try {
                if (!stageOne() && !fillOne()) {
                    awaitNews(seen);
                }
            } catch (SourceException e) {
                errors.add("prefetching " + e.getMessage());
                pause(FAILURE_PAUSE_MS);
            } catch (Throwable t) {
                if (!closed) {
                    LOG.log(Level.ERROR, "a bug in a loader", t);
                    pause(FAILURE_PAUSE_MS);
                }
            }
        }
    }

    private boolean stageOne() throws SourceException {
        StreamWindow.ToStage next = nextToStage();
        if (next == null) {
            return false;
        }
        if (staging.claim(next.place())) {
            stage(next);
        } else {
            staging.drop(
                    next.leaving()); // the job was stopped meanwhile; what was to make room must not stay half gone
        }
        return true;
    }

    private StreamWindow.@Nullable ToStage nextToStage() {
        List<JobRun> now = jobs();
        int streams = now.stream().mapToInt(JobRun::streams).sum();
        for (JobRun job : now) {
            try {
                StreamWindow.ToStage next = job.nextToStage(staging.capacityBytes() / streams);
                if (next != null) {
                    return next;
                }
            } catch (InvalidSpecException e) {
                fail(job, e);
            }
        }
        return null;
    }

    private void stage(StreamWindow.ToStage next) throws SourceException {
        SampleBuffer buffer = null;
        SourceException failure = null;
        try {
            buffer = router.fetch(next.file());
        } catch (SourceException e) {
            failure = e;
        }
        pushes.acquireUninterruptibly();
        try {
            // On the same thread: pages that were freed just now are the ones that the kernel gives out next.
            staging.drop(next.leaving());
            if (buffer != null) {
                staging.stage(next.place(), buffer);
                counters.staged.increment();
            }
        } catch (IOException e) {
            LOG.log(
                    Level.DEBUG,
                    "not staged: " + PythonText.show(tree.entry(next.file()).path()),
                    e);
            staging.fail(next.place());
        } finally {
            pushes.release();
            if (buffer != null) {
                buffer.release();
            }
        }
        if (failure != null) {
            staging.fail(next.place());
            wake();
            throw failure;
        }
        if (!next.leaving().isEmpty()) {
            wake();
        }
    }

    private boolean fillOne() throws SourceException {
        for (JobRun job : jobs) {
            for (int look = 0; look < FILL_LOOKS; look++) {
                int file = nextToFill(job);
                if (file == FillCursor.NONE) {
                    break;
                }
                if (!memory.contains(file)
                        && router.underWay(file) == null
                        && memory.hasRoom(tree.entry(file).size())) {
                    router.fetch(file).release();
                    return true;
                }
            }
        }
        return false;
    }

    private int nextToFill(JobRun job) {
        if (!memory.hasRoom(1)) {
            return FillCursor.NONE;
        }
        try {
            return job.nextToFill();
        } catch (InvalidSpecException e) {
            fail(job, e);
            return FillCursor.NONE;
        }
    }

    private void awaitNews(long seen) throws InterruptedException {
        long left = TimeUnit.MILLISECONDS.toNanos(IDLE_WAIT_MS);
        lock.lock();
        try {
            while (news.get() == seen && left > 0 && !closed) {
                left = work.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    private void wake() {
        lock.lock();
        try {
            news.incrementAndGet();
            work.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
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

    /** Ends all jobs and drops what is staged; loaders stuck in the source are left behind after a moment. */
    @Override
    public void close() {
        closed = true;
        wake();
        jobs.forEach(job -> stop(job.spec().name()));
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_TIMEOUT_MS);
        for (Thread loader : loaders) {
            try {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                loader.join(Math.max(1, left));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        staging.close();
    }
}
