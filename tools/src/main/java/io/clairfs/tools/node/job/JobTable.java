package io.clairfs.tools.node.job;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.worker.Activity;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Jobs;
import io.clairfs.tools.node.cluster.GroupJobs;
import io.clairfs.tools.node.status.StatusText;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of this node: those that run, those that wait for the dataset to be listed, and the ranks that read here of jobs that are still to
 * come. It tells the group of changes here, and follows the group's.
 *
 * <p>Life cycle: the daemon makes it, and it has nothing to close.
 *
 * <p>Locks: its own lock is held while something changes, which may take minutes, because the orders of a large job are computed; a file that
 * does not answer is waited for with a bound. A caller that checks before it changes holds it, too. Questions take no lock, and are answered
 * meanwhile. It comes first: those of {@link Indexes}, the prefetcher's jobs, planning and {@code GroupJobs} are taken inside, and no holder of
 * one of these calls this class.
 */
public final class JobTable {
    private static final Logger LOG = System.getLogger(JobTable.class.getName());

    /**
     * A job is told to the group once more when the group has not known it for so long. While two halves of it merge, their jobs come one after the
     * other.
     */
    private static final long LOST_NS = TimeUnit.SECONDS.toNanos(5);

    private final Indexes indexes;
    private final Prefetcher prefetcher;
    private final @Nullable GroupJobs group;
    private final ErrorLog errors;
    private final LongSupplier clockNs;

    /** The jobs that wait for the dataset, and the one whose orders are computed now. */
    private final List<JobSpec> waiting = new CopyOnWriteArrayList<>();

    /** The announced ranks that read here, by job. Jobs that are not known yet are included. */
    private final Map<String, Ranks> ranksHere = new ConcurrentSkipListMap<>();

    /** The job that was started last, by name. It may have ended by itself since. */
    private final Map<String, JobSpec> started = new ConcurrentHashMap<>();

    /** The jobs that were stopped on any node of the group. A script stops its job on every node, and only the first stop finds it running. */
    private volatile Set<String> stoppedInGroup = Set.of();

    /** Since when the group does not know a job that runs here, by name. */
    private final Map<String, Long> unknownSinceNs = new HashMap<>();

    /** What was said last of a job whose file does not answer, by name: the group's jobs are looked at once a second. */
    private final Map<String, String> unanswered = new HashMap<>();

    /** The job that no user wrote, while it runs. */
    private volatile @Nullable JobSpec found;

    /** Jobs of users whose trainer had left them for the one that was found, when the process before this one died. */
    private final Set<JobSpec> leftBefore = ConcurrentHashMap.newKeySet();

    /** A table without jobs; {@code clockNs} is as {@link System#nanoTime}. */
    public JobTable(
            Indexes indexes, Prefetcher prefetcher, @Nullable GroupJobs group, ErrorLog errors, LongSupplier clockNs) {
        this.clockNs = clockNs;
        this.indexes = indexes;
        this.prefetcher = prefetcher;
        this.group = group;
        this.errors = errors;
    }

    public boolean isInGroup() {
        return group != null;
    }

    /** What happens on this node; reads of trainers and changes of this table are told to it. */
    public Activity activity() {
        return prefetcher.activity();
    }

    /** Jobs that run, and jobs that wait for the dataset or whose orders are computed now, which come in place of one of the same name. */
    public List<JobSpec> present() {
        Map<String, JobSpec> byName = new LinkedHashMap<>();
        List<JobSpec> soon = List.copyOf(waiting); // first: they go from there to those that run
        prefetcher.jobs().forEach(run -> byName.put(run.spec().name(), run.spec()));
        soon.forEach(spec -> byName.put(spec.name(), spec));
        return List.copyOf(byName.values());
    }

    /** The job of this name if it runs or waits for the dataset. */
    @Nullable
    public JobSpec present(String name) {
        return present().stream()
                .filter(spec -> spec.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Whether there is or was a job of this name. */
    public boolean isKnown(String name) {
        return present(name) != null
                || ranksHere.containsKey(name)
                || started.containsKey(name)
                || stoppedInGroup.contains(name);
    }

    /** The announced ranks that read here, by job. Jobs that are not known yet are included. */
    public Map<String, Ranks> ranksHere() {
        Map<String, Ranks> now = new TreeMap<>();
        ranksHere.forEach(
                now::put); // the constructor takes a sorted map's size and then its entries, which may be fewer by then
        return now;
    }

    /** The number of jobs that have not started here although ranks of them are known to read here. */
    public int jobsToCome() {
        return (int) ranksHere.keySet().stream()
                .filter(name -> !started.containsKey(name))
                .count();
    }

    /** Starts a job, in place of one of the same name if there is one. */
    public synchronized void begin(JobSpec spec) {
        dropFound();
        unanswered.remove(spec.name()); // who writes it is told
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

    /** Ends a job in the whole group. */
    public synchronized void end(String name) {
        stop(name);
        if (group != null) {
            group.stopped(name);
        }
    }

    /**
     * Starts a job that no user wrote, for a trainer that has read these files, unless a trainer follows a job that a user wrote: it may have left
     * that job and come back, so it is looked for there first. Only for a node without a group. Returns whether it runs now.
     */
    public boolean beginFound(JobSpec spec, int[] read) {
        for (JobRun run : prefetcher.jobs()) {
            if (isWritten(run) && !isLeft(run) && prefetcher.searchNow(run)) {
                return false;
            }
        }
        return beginSearched(spec, read);
    }

    private synchronized boolean beginSearched(JobSpec spec, int[] read) {
        if (group != null || isWrittenFollowed()) {
            return false;
        }
        dropFound();
        found = spec; // before it runs: nobody may take it for a user's
        start(spec, read);
        boolean runs = prefetcher.job(spec.name()).isPresent();
        if (!runs) {
            found = null;
        }
        return runs;
    }

    /** Ends the job that no user wrote, if there is one. */
    public synchronized void dropFound() {
        JobSpec job = found;
        found = null;
        if (job != null) {
            stop(job.name());
        }
    }

    /** The job that no user wrote; null when none runs. */
    @Nullable
    public JobRun found() {
        return prefetcher.jobs().stream()
                .filter(run -> run.spec().equals(found))
                .findFirst()
                .orElse(null);
    }

    /** Looks for the trainer of a job once more by what was read last. Returns whether it follows the prediction then. May take a while. */
    public boolean searchNow(JobRun run) {
        return prefetcher.searchNow(run);
    }

    /** Whether there is a job that a user wrote. */
    public boolean hasWritten() {
        return present().stream().anyMatch(spec -> !spec.equals(found));
    }

    /**
     * Whether a user wrote a job that waits for the dataset, or whose trainer reads in its order, as far as there are reads. One that was lost
     * sight of is followed until a search for it was in vain.
     */
    public boolean isWrittenFollowed() {
        for (JobSpec spec : waiting) { // a loop, for a daemon at rest asks once a second and has compiled no stream
            if (!spec.equals(found)) {
                return true;
            }
        }
        for (JobRun run : prefetcher.jobs()) {
            if (isWritten(run) && isFollowed(run)) {
                return true;
            }
        }
        return false;
    }

    /** A job that was left before this process began has to be seen to be lost before it can be seen to be followed again. */
    private boolean isFollowed(JobRun run) {
        if (run.isLost()) {
            leftBefore.remove(run.spec());
            return false;
        }
        return !isLeft(run) || (found == null && run.hasBegun());
    }

    private boolean isLeft(JobRun run) {
        return leftBefore.contains(run.spec());
    }

    private boolean isWritten(JobRun run) {
        return !run.spec().equals(found);
    }

    /** Sets the ranks of a job that read here. The job may be still to come. */
    public synchronized void readHere(String name, Ranks ranks) {
        if (found != null && found.name().equals(name)) {
            found = null; // a user has taken it over
        }
        ranksHere.put(name, ranks);
        JobSpec present = present(name);
        if (present != null && !present.ranks().equals(ranks)) { // else its trainers go on
            start(present, ranks);
        }
        if (group != null) {
            group.wake();
        }
        activity().happened();
    }

    /** The jobs of {@link #present} as another process can go on with them. */
    public List<UnfinishedJob> unfinished() {
        List<JobSpec> soon = List.copyOf(waiting);
        List<UnfinishedJob> all = new ArrayList<>();
        for (JobRun run : prefetcher.jobs()) {
            if (!has(soon, run.spec().name())) {
                all.add(new UnfinishedJob(
                        run.spec(), run.positions(), run.spec().equals(found)));
            }
        }
        for (JobSpec spec : soon) {
            all.add(new UnfinishedJob(spec, new long[0], spec.equals(found)));
        }
        return all;
    }

    private static boolean has(List<JobSpec> specs, String name) {
        for (JobSpec spec : specs) {
            if (spec.name().equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** The ranks that read here of jobs that are still to come, by job. */
    public Map<String, Ranks> announced() {
        Map<String, Ranks> now = ranksHere();
        now.keySet().removeAll(started.keySet());
        return now;
    }

    /**
     * Goes on with the jobs of the process before this one, and with the ranks of those that are still to come. The group is not told: it knows
     * the jobs.
     */
    public synchronized void goOn(List<UnfinishedJob> unfinished, Map<String, Ranks> announced) {
        announced.forEach(ranksHere::putIfAbsent);
        if (unfinished.stream().anyMatch(UnfinishedJob::isFound)) {
            unfinished.stream().filter(job -> !job.isFound()).forEach(job -> leftBefore.add(job.spec()));
        }
        unfinished.forEach(this::goOn);
    }

    private void goOn(UnfinishedJob job) {
        JobSpec spec = job.spec();
        if (!job.isFound() && (spec.ranks().count() > 0 || spec.keys().containsKey("ranks"))) {
            ranksHere.put(spec.name(), spec.ranks());
        }
        if (job.isFound()) {
            found = spec;
        }
        start(spec, (index, isReported) -> prefetcher.goOn(spec, index, isReported, job.positions()));
        if (job.isFound() && prefetcher.job(spec.name()).isEmpty()) {
            found = null;
        }
    }

    private void stop(String name) {
        if (found != null && found.name().equals(name)) {
            found = null;
        }
        waiting.removeIf(w -> w.name().equals(name));
        ranksHere.remove(name);
        started.remove(name);
        unanswered.remove(name);
        prefetcher.stop(name);
        watchAsNeeded();
        activity().happened();
    }

    /** Whether the same job runs here already, because another node started it first, and none of its samples has been read. */
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

    /** Starts a job anew with other ranks. They were checked before, but the file of a generator's state may be gone since. */
    private void start(JobSpec present, Ranks ranks) {
        try {
            start(present.withRanks(ranks));
        } catch (InvalidSpecException e) {
            notStarted(present, e);
        }
    }

    private void start(JobSpec spec) {
        start(spec, new int[0]);
    }

    private void start(JobSpec spec, int[] read) {
        start(spec, (index, isReported) -> prefetcher.start(spec, index, isReported, read));
    }

    /** Begins a job over the samples of its subset. */
    @FunctionalInterface
    private interface Begin {
        void begin(SampleIndex index, boolean isReported) throws InvalidSpecException;
    }

    private void start(JobSpec spec, Begin run) {
        if (!waiting.contains(spec)) {
            waiting.add(spec);
        }
        waiting.removeIf(other -> other.name().equals(spec.name()) && !other.equals(spec));
        started.put(spec.name(), spec);
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
            activity().happened();
        }
    }

    /** Whether it has not been said yet which file of this job does not answer. */
    private boolean isNews(String name, OrderNotReadyException noAnswer) {
        String now = String.valueOf(noAnswer.getMessage());
        return !now.equals(unanswered.put(name, now));
    }

    private void notStarted(JobSpec spec, Exception reason) {
        errors.add("job " + spec.name() + " not started: " + reason.getMessage());
    }

    /**
     * Follows the group: starts, changes and stops jobs that were started, changed and stopped on other nodes. Returns the ranks that read here,
     * by job, for the group's jobs.
     */
    public synchronized Map<String, Ranks> follow(Jobs.Known known) {
        if (group == null || group.hasUntold()) {
            return Map.of();
        }
        stoppedInGroup = known.stopped();
        known.stopped().stream()
                .filter(name -> started.containsKey(name)
                        || prefetcher.job(name).isPresent()) // one goes on where that in its place was not started
                .forEach(this::stop);
        unanswered.keySet().retainAll(known.running().keySet());
        known.running().values().forEach(job -> follow(job, group.self()));
        tellLost(known, group);
        Map<String, Ranks> here = ranksHere();
        here.keySet().retainAll(known.running().keySet());
        return here;
    }

    private void tellLost(Jobs.Known known, GroupJobs group) {
        long now = clockNs.getAsLong();
        Map<String, JobSpec> unknown = new HashMap<>();
        prefetcher.jobs().forEach(run -> unknown.put(run.spec().name(), run.spec()));
        unknown.keySet().removeAll(known.running().keySet());
        unknown.keySet().removeAll(known.stopped());
        unknownSinceNs.keySet().retainAll(unknown.keySet());
        unknown.forEach((name, spec) -> {
            Long since = unknownSinceNs.putIfAbsent(name, now);
            if (since != null && now - since >= LOST_NS) {
                unknownSinceNs.remove(name);
                group.lost(spec);
            }
        });
    }

    private void follow(Job job, String self) {
        JobSpec before = started.get(job.name());
        try {
            String said = job.ranks().get(self);
            if (said != null && !ranksHere.containsKey(job.name())) {
                ranksHere.put(job.name(), Ranks.parse(said)); // announced by this node before it was mounted again
            }
            Ranks here = ranksHere.getOrDefault(job.name(), Ranks.NONE);
            if (before != null && isOf(before, job) && before.ranks().equals(here)) {
                return; // it is not read anew: a file that it names may be gone by now
            }
            JobSpec wanted = JobSpec.parse(job.lines(), here);
            if (!isSame(before, wanted)) {
                start(wanted);
            }
        } catch (OrderNotReadyException noAnswer) { // the next look at the group's jobs tries again
            if (before == null && isNews(job.name(), noAnswer)) {
                errors.add("job " + job.name() + " is still to be started: " + noAnswer.getMessage());
            }
        } catch (
                InvalidSpecException
                        e) { // of a job that is known the ranks were changed, and who changed them was told
            if (!isOf(before, job) && !Ranks.NONE.equals(ranksHere.put(job.name(), Ranks.NONE))) {
                errors.add("job " + job.name() + ": no rank reads here: " + e.getMessage());
            }
        }
    }

    private static boolean isOf(@Nullable JobSpec one, Job job) {
        return one != null && one.lineForAll().equals(job.lines());
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
    public synchronized void startWaiting() {
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
