package io.clairfs.cache.prefetch;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.status.NodeTraffic;
import io.clairfs.cache.worker.Activity;
import io.clairfs.cache.worker.Worker;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/**
 * What readers do, on its way to the jobs whose trainers they may be ({@link ReadAttribution}).
 *
 * <p>Readers wait with those who tell it: {@link #asked}, {@link #waited} and {@link #reached} take no lock of a job while there are several, and
 * leave the rest to {@link #read}, to the loaders and to a thread of its own.
 */
final class ReaderEvents {
    private static final int MOST_ASKED = 64;

    /** As many as may wait at once; they are passed on every few milliseconds. */
    private static final int MOST_WAITED = 65_536;

    private static final int MOST_REACHED = 65_536;

    private final RunningJobs jobs;
    private final Admission admission;
    private final Counters counters;
    private final Activity activity;
    private final IntConsumer samplesRead;
    private final ReadAttribution attribution;

    /** While there are several jobs: files that readers asked for; when it is full, further ones are dropped. */
    private final ArrayBlockingQueue<Integer> asked = new ArrayBlockingQueue<>(MOST_ASKED);

    /** Waits of readers that were not passed on to jobs yet; when it is full, further ones are not counted. */
    private final LinkedBlockingQueue<Waited> waited = new LinkedBlockingQueue<>(MOST_WAITED);

    private record Waited(int file, long startNs, long endNs) {}

    /** Files that readers asked for and whose closes are not reported; when it is full, further ones are dropped. */
    private final ArrayBlockingQueue<Integer> reached = new ArrayBlockingQueue<>(MOST_REACHED);

    private final Worker follower;

    /** How many reads were reported. */
    private final AtomicLong reported = new AtomicLong();

    /** {@code samplesRead} hears how many samples trainers have read, so that there may be room for as many. */
    ReaderEvents(
            RunningJobs jobs,
            Admission admission,
            Counters counters,
            Activity activity,
            ErrorLog errors,
            IntConsumer samplesRead) {
        this.jobs = jobs;
        this.admission = admission;
        this.counters = counters;
        this.activity = activity;
        this.samplesRead = samplesRead;
        attribution = new ReadAttribution(jobs.all());
        follower = new Worker("follower-by-requests", this::heedReached, errors);
    }

    /** The thread that {@link #reached} needs; the caller starts and ends it. */
    Worker follower() {
        return follower;
    }

    /** How many reads were reported. */
    long reported() {
        return reported.get();
    }

    /** Readers have closed the first {@code count} of these files, in this order. */
    void read(int[] files, int count) {
        reported.addAndGet(count);
        heedAsked();
        heedWaited();
        for (int i = 0; i < count; i++) {
            int file = files[i];
            attribution.read(file, (reader, read) -> jobs.forEach(List.of(reader), job -> job.read(read)));
            admission.read(file);
        }
        searchAsNeeded();
        samplesRead.accept(count);
        activity.happened();
    }

    private void searchAsNeeded() {
        NodeTraffic traffic = NodeTraffic.of(counters);
        jobs.forEach(jobs.all(), job -> {
            job.traffic(traffic);
            if (job.wantsSearch()) {
                jobs.beginSearch(job);
            }
        });
    }

    /** A reader had to ask for this file, and gets the whole of it; its close will be reported. */
    void asked(int file) {
        if (jobs.all().size() > 1) {
            asked.offer(file); // whose trainer it was is decided later, with locks of jobs
        } else {
            asked(jobs.all(), file);
        }
    }

    private void asked(List<JobRun> readers, int file) {
        for (JobRun job : readers) {
            job.asked(file, admission.residents()::isInMemory);
        }
    }

    /** Passes on what was {@linkplain #asked asked} for. */
    void heedAsked() {
        for (Integer file = asked.poll(); file != null; file = asked.poll()) {
            asked(attribution.jobsOf(file), file);
        }
    }

    /** A reader has waited for an answer about this file, from one {@link System#nanoTime} to another. */
    void waited(int file, long startNs, long endNs) {
        if (!jobs.all().isEmpty()) {
            boolean _ = waited.offer(new Waited(file, startNs, endNs));
        }
    }

    /** Passes on how long readers have {@linkplain #waited waited}. */
    void heedWaited() {
        for (Waited next = waited.poll(); next != null; next = waited.poll()) {
            for (JobRun job : attribution.jobsOf(next.file)) {
                job.waited(next.file, next.startNs, next.endNs);
            }
        }
    }

    /** A reader had to ask for this file, and its close will not be reported. */
    void reached(int file) {
        if (!jobs.all().isEmpty()) {
            boolean _ = reached.offer(file);
            follower.unpark();
        }
    }

    private void heedReached() {
        heedWaited();
        int count = 0;
        for (Integer file = reached.poll(); file != null; file = reached.poll()) {
            int read = file;
            jobs.forEach(attribution.jobsOf(read), job -> job.reached(read));
            count++;
        }
        if (count == 0) {
            LockSupport.park();
        } else {
            searchAsNeeded();
            samplesRead.accept(count);
            activity.happened();
        }
    }
}
