package io.clairfs.tools.node.job;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Jobs;
import io.clairfs.tools.node.cluster.GroupJobs;
import io.clairfs.tools.node.status.StatusText;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of this node: those that run, those that wait for the dataset to be listed, and the ranks that read here of jobs that are to come. What is
 * done here the group is told, and what the group says is done here.
 *
 * <p>Its own lock is also that of who looks at several things of it at once.
 *
 * <p>Life cycle: the daemon makes it, and it has nothing to close. Its lock comes first: that of the prefetcher's jobs, of planning and of {@code GroupJobs} are
 * taken inside, and nothing that holds one of these calls this class.
 */
public final class JobTable {
    private static final Logger LOG = System.getLogger(JobTable.class.getName());

    private final Indexes indexes;
    private final Prefetcher prefetcher;
    private final @Nullable GroupJobs group;
    private final ErrorLog errors;
    private final List<JobSpec> waiting = new ArrayList<>();

    /** By job, which ranks read here as far as anybody said; of jobs that are not known yet, too. */
    private final Map<String, Ranks> ranksHere = new TreeMap<>();

    /** By name, what was started last; it may have ended by itself since. */
    private final Map<String, JobSpec> started = new HashMap<>();

    /** What was stopped on any node of the group: scripts stop a job on each of theirs, and all but the first are late. */
    private Set<String> stoppedInGroup = Set.of();

    public JobTable(Indexes indexes, Prefetcher prefetcher, @Nullable GroupJobs group, ErrorLog errors) {
        this.indexes = indexes;
        this.prefetcher = prefetcher;
        this.group = group;
        this.errors = errors;
    }

    public boolean isInGroup() {
        return group != null;
    }

    /** Jobs that run, and jobs that wait for the dataset. */
    public synchronized List<JobSpec> present() {
        return Stream.concat(prefetcher.jobs().stream().map(JobRun::spec), waiting.stream())
                .toList();
    }

    /** The job of this name if it runs or waits for the dataset. */
    @Nullable
    public JobSpec present(String name) {
        return present().stream()
                .filter(spec -> spec.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Whether a job of this name is or was there. */
    public synchronized boolean isKnown(String name) {
        return present(name) != null
                || ranksHere.containsKey(name)
                || started.containsKey(name)
                || stoppedInGroup.contains(name);
    }

    /** By job, which ranks read here as far as anybody said; of jobs that are not known yet, too. */
    public synchronized Map<String, Ranks> ranksHere() {
        return new TreeMap<>(ranksHere);
    }

    /** Of how many jobs that never ran here somebody said which ranks read here. */
    public synchronized int jobsToCome() {
        return (int) ranksHere.keySet().stream()
                .filter(name -> !started.containsKey(name))
                .count();
    }

    /** Starts a job, or makes another of the one of its name. */
    public synchronized void begin(JobSpec spec) {
        if (spec.ranks().count() > 0 || spec.keys().containsKey("ranks")) {
            ranksHere.put(spec.name(), spec.ranks());
        }
        if (!isUntouched(spec)) {
            start(spec);
        }
        if (group != null) {
            group.started(spec);
        }
    }

    /** Ends a job, in the whole group. */
    public synchronized void end(String name) {
        stop(name);
        if (group != null) {
            group.stopped(name);
        }
    }

    /** These ranks of a job, which may be still to come, read here. */
    public synchronized void readHere(String name, Ranks ranks) {
        ranksHere.put(name, ranks);
        JobSpec present = present(name);
        if (present != null) {
            start(withRanks(present, ranks));
        }
        if (group != null) {
            group.wake();
        }
    }

    private void stop(String name) {
        waiting.removeIf(w -> w.name().equals(name));
        ranksHere.remove(name);
        started.remove(name);
        prefetcher.stop(name);
    }

    /** Whether this very job runs already and nobody has read anything of it: another node was quicker to start it here. */
    private boolean isUntouched(JobSpec spec) {
        return group != null
                && prefetcher
                        .job(spec.name())
                        .filter(run -> isSame(run.spec(), spec) && !run.hasBegun())
                        .isPresent();
    }

    private static boolean isSame(@Nullable JobSpec one, JobSpec other) {
        return one != null
                && one.ranks().equals(other.ranks())
                && one.lineForAll().equals(other.lineForAll());
    }

    private static JobSpec withRanks(JobSpec spec, Ranks ranks) {
        try {
            return spec.withRanks(ranks);
        } catch (InvalidSpecException e) {
            throw new AssertionError("checked before", e);
        }
    }

    private void start(JobSpec spec) {
        waiting.removeIf(w -> w.name().equals(spec.name()));
        started.put(spec.name(), spec);
        try {
            SampleIndex index = indexes.of(spec.subset());
            prefetcher.start(spec, index, indexes.watch(index));
            warnOfSmallStaging(spec);
        } catch (TimeoutException stillListing) {
            waiting.add(spec);
        } catch (DatasetException e) {
            if (indexes.isListed()) {
                errors.add("job " + spec.name() + " not started: " + e.getMessage());
            } else {
                waiting.add(spec); // the source began to fail after the line was checked
            }
        } catch (InvalidSpecException e) {
            errors.add("job " + spec.name() + " not started: " + e.getMessage());
        }
    }

    /**
     * Does what the group says: starts jobs that were written on other nodes, changes those that were changed there, stops those that
     * were stopped. Returns which ranks read here, by job, for jobs that the group has.
     */
    public synchronized Map<String, Ranks> follow(Jobs.Known known) {
        if (group == null || group.hasUntold()) {
            return Map.of();
        }
        stoppedInGroup = known.stopped();
        known.stopped().stream().filter(name -> started.containsKey(name)).forEach(this::stop);
        known.running().values().forEach(job -> follow(job, group.self()));
        for (JobRun run : prefetcher.jobs()) {
            if (!known.running().containsKey(run.spec().name())) {
                group.started(run.spec()); // the group has lost it
            }
        }
        Map<String, Ranks> here = new TreeMap<>(ranksHere);
        here.keySet().retainAll(known.running().keySet());
        return here;
    }

    private void follow(Job job, String self) {
        JobSpec before = started.get(job.name());
        try {
            String said = job.ranks().get(self);
            if (said != null && !ranksHere.containsKey(job.name())) {
                ranksHere.put(job.name(), Ranks.parse(said)); // this node, before it was mounted again
            }
            JobSpec wanted = JobSpec.parse(job.lines(), ranksHere.getOrDefault(job.name(), Ranks.NONE));
            if (!isSame(before, wanted)) {
                start(wanted);
            }
        } catch (InvalidSpecException e) {
            if (!Ranks.NONE.equals(ranksHere.put(job.name(), Ranks.NONE))) {
                errors.add("job " + job.name() + ": no rank reads here: " + e.getMessage());
            }
        }
    }

    /** The loaders of a rank have a window of samples under way at once; less than that cannot be staged in time. */
    private void warnOfSmallStaging(JobSpec spec) {
        long ranks = spec.ranks().count();
        long needed = indexes.meanFileBytes() * spec.window() * ranks;
        if (needed > prefetcher.stagingCapacityBytes()) {
            errors.add("job " + spec.name() + ": the trainer's loaders have about " + StatusText.size(needed)
                    + " under way at once, more than the staging buffer holds; mount with a larger --staging");
        }
    }

    /** The dataset is listed: starts the jobs that waited for it. */
    public synchronized void startWaiting() {
        List<JobSpec> now = List.copyOf(waiting);
        waiting.clear();
        for (JobSpec spec : now) {
            try {
                start(spec);
            } catch (RuntimeException | Error e) { // the others are not to wait for ever because of it
                errors.add("job " + spec.name() + " not started: " + e);
                LOG.log(Level.ERROR, "a bug in starting the job " + spec.line(), e);
            }
        }
    }
}
