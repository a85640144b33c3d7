package io.clairfs.tools.node.job;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.tools.node.status.StatusText;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Starts and stops jobs on this node: at once where the dataset is listed, else when it is.
 *
 * <p>The lock of its {@link JobTable} is held by whoever starts or stops; questions take none.
 */
final class JobStarter {
    private static final Logger LOG = System.getLogger(JobTable.class.getName());

    private final Indexes indexes;
    private final Prefetcher prefetcher;
    private final ErrorLog errors;

    /** The jobs that wait for the dataset, and the one whose orders are computed now. */
    private final List<JobSpec> waiting = new CopyOnWriteArrayList<>();

    /** The job that was started last, by name. It may have ended by itself since. */
    private final Map<String, JobSpec> started = new ConcurrentHashMap<>();

    /** What was said last of a job whose file does not answer, by name: the group's jobs are looked at once a second. */
    private final Map<String, String> unanswered = new HashMap<>();

    JobStarter(Indexes indexes, Prefetcher prefetcher, ErrorLog errors) {
        this.indexes = indexes;
        this.prefetcher = prefetcher;
        this.errors = errors;
    }

    /** The jobs that wait for the dataset, and the one whose orders are computed now, as they come and go. */
    List<JobSpec> waiting() {
        return Collections.unmodifiableList(waiting);
    }

    /** The job of this name that was started last and not stopped since. It may have ended by itself. */
    @Nullable
    JobSpec last(String name) {
        return started.get(name);
    }

    /** A user writes this job: what hinders it is told, though it was before. */
    void writtenAgain(String name) {
        unanswered.remove(name);
    }

    /** The group runs these jobs alone: what was said of others is forgotten. */
    void retain(Set<String> names) {
        unanswered.keySet().retainAll(names);
    }

    /** Ends the job of this name, if there is one. */
    void stop(String name) {
        waiting.removeIf(w -> w.name().equals(name));
        started.remove(name);
        unanswered.remove(name);
        prefetcher.stop(name);
        watchAsNeeded();
        prefetcher.activity().happened();
    }

    /**
     * Starts a job anew with other ranks, which go on where they were, or where the hindmost rank here was. They were checked before, but the file of a
     * generator's state may be gone since.
     */
    void start(JobSpec present, Ranks ranks) {
        try {
            JobSpec changed = present.withRanks(ranks);
            JobRun run = prefetcher.job(present.name()).orElse(null);
            long[] positions =
                    run != null && run.spec().equals(present) && run.hasBegun() ? positions(run, ranks) : new long[0];
            start(changed, (index, isReported) -> prefetcher.goOn(changed, index, isReported, positions));
        } catch (InvalidSpecException e) {
            notStarted(present, e);
        }
    }

    private static long[] positions(JobRun run, Ranks ranks) {
        long[] before = run.positions();
        long hindmost = Arrays.stream(before).min().orElse(AccessStream.END);
        int first = run.spec().firstRank();
        return IntStream.rangeClosed(ranks.first(), ranks.last())
                .mapToLong(rank -> rank >= first && rank - first < before.length ? before[rank - first] : hindmost)
                .toArray();
    }

    /** Starts a job, in place of one of the same name if there is one. */
    void start(JobSpec spec) {
        start(spec, new int[0]);
    }

    /** As the other one, for a trainer that has read these files. */
    void start(JobSpec spec, int[] read) {
        start(spec, (index, isReported) -> prefetcher.start(spec, index, isReported, read));
    }

    /** Begins a job over the samples of its subset. */
    @FunctionalInterface
    interface Begin {
        void begin(SampleIndex index, boolean isReported) throws InvalidSpecException;
    }

    /** As the others, begun in this way. */
    void start(JobSpec spec, Begin run) {
        if (!waiting.contains(spec)) {
            waiting.add(spec);
        }
        waiting.removeIf(other -> other.name().equals(spec.name()) && !other.equals(spec));
        started.put(spec.name(), spec);
        prefetcher.activity().happened(); // a daemon that dies while the orders are computed goes on with it
        boolean waits = false;
        try {
            SampleIndex index = indexes.of(spec.subset());
            run.begin(index, indexes.watch(index));
            unanswered.remove(spec.name());
            watchAsNeeded();
            warnOfSmallStaging(spec);
        } catch (TimeoutException stillListing) {
            waits = true;
        } catch (DatasetException e) {
            waits = !indexes.isListed(); // else the source began to fail after the line was checked
            if (!waits) {
                notStarted(spec, e);
            }
        } catch (OrderNotReadyException noAnswer) {
            started.remove(spec.name()); // it is started when it is written, or heard of, once more
            if (isNews(spec.name(), noAnswer)) {
                notStarted(spec, noAnswer);
            }
        } catch (InvalidSpecException e) {
            notStarted(spec, e);
        } finally {
            if (!waits) {
                waiting.remove(spec);
            }
            prefetcher.activity().happened();
        }
    }

    /** Whether it has not been said yet which file of this job does not answer. */
    boolean isNews(String name, OrderNotReadyException noAnswer) {
        String now = String.valueOf(noAnswer.getMessage());
        return !now.equals(unanswered.put(name, now));
    }

    private void notStarted(JobSpec spec, Exception reason) {
        errors.add("job " + spec.name() + " not started: " + reason.getMessage());
    }

    /** Trainings over the same samples have to be told apart by the reports of reads. */
    private void watchAsNeeded() {
        List<String> subsets =
                prefetcher.jobs().stream().map(run -> run.spec().subset()).toList();
        indexes.tellReadersApart(IntStream.range(0, subsets.size())
                .anyMatch(i -> subsets.subList(0, i).stream().anyMatch(before -> overlap(before, subsets.get(i)))));
    }

    private static boolean overlap(String subset, String other) {
        return subset.isEmpty()
                || other.isEmpty()
                || (subset + "/").startsWith(other + "/")
                || (other + "/").startsWith(subset + "/");
    }

    /** The trainer's loaders have a window of samples under way for each rank; a smaller staging buffer cannot stage them in time. */
    private void warnOfSmallStaging(JobSpec spec) {
        long ranks = spec.ranks().count();
        long needed = indexes.meanFileBytes() * spec.window() * ranks;
        if (needed > prefetcher.stagingCapacityBytes()) {
            errors.add("job " + spec.name() + ": the trainer's loaders have about " + StatusText.size(needed)
                    + " in flight, more than the staging buffer holds; mount with a larger --staging");
        }
    }

    /** Starts the jobs that waited for the dataset to be listed. */
    void startWaiting() {
        for (JobSpec spec : List.copyOf(waiting)) {
            try {
                start(spec);
            } catch (RuntimeException | Error e) { // the other jobs must not wait for ever
                errors.add("job " + spec.name() + " not started: " + e);
                LOG.log(Level.ERROR, "a bug in starting the job " + spec.line(), e);
            }
        }
    }
}
