package io.clairfs.tools.node.job;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.worker.Activity;
import io.clairfs.peer.directory.Jobs;
import io.clairfs.tools.node.cluster.GroupJobs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.LongSupplier;
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
    private final Prefetcher prefetcher;
    private final @Nullable GroupJobs group;
    private final JobStarter starter;
    private final @Nullable GroupFollower follower;

    /** The announced ranks that read here, by job. Jobs that are not known yet are included. */
    private final Map<String, Ranks> ranksHere = new ConcurrentSkipListMap<>();

    /** The job that no user wrote, while it runs. */
    private volatile @Nullable JobSpec found;

    /** Jobs of users whose trainer had left them for the one that was found, when the process before this one died. */
    private final Set<JobSpec> leftBefore = ConcurrentHashMap.newKeySet();

    /** A table without jobs; {@code clockNs} is as {@link System#nanoTime}. */
    public JobTable(
            Indexes indexes, Prefetcher prefetcher, @Nullable GroupJobs group, ErrorLog errors, LongSupplier clockNs) {
        this.prefetcher = prefetcher;
        this.group = group;
        starter = new JobStarter(indexes, prefetcher, errors);
        follower = group == null
                ? null
                : new GroupFollower(group, prefetcher, starter, ranksHere, this::stop, errors, clockNs);
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
        List<JobSpec> soon = List.copyOf(starter.waiting()); // first: they go from there to those that run
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
                || starter.last(name) != null
                || (follower != null && follower.wasStopped(name));
    }

    /** The announced ranks that read here, by job. Jobs that are not known yet are included. */
    public Map<String, Ranks> ranksHere() {
        Map<String, Ranks> now = new TreeMap<>();
        ranksHere.forEach(
                now::put); // the constructor takes a sorted map's size and then its entries, which may be fewer by then
        return now;
    }

    /** Starts a job, in place of one of the same name if there is one. */
    public synchronized void begin(JobSpec spec) {
        dropFound();
        starter.writtenAgain(spec.name());
        if (spec.ranks().count() > 0 || spec.keys().containsKey("ranks")) {
            ranksHere.put(spec.name(), spec.ranks());
        }
        if (!isUntouched(spec)) {
            starter.start(spec);
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
        starter.start(spec, read);
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
        for (JobSpec spec :
                starter.waiting()) { // a loop, for a daemon at rest asks once a second and has compiled no stream
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
            starter.start(present, ranks);
        }
        if (group != null) {
            group.wake();
        }
        activity().happened();
    }

    /** The jobs of {@link #present} as another process can go on with them. */
    public List<UnfinishedJob> unfinished() {
        List<JobSpec> soon = List.copyOf(starter.waiting());
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
        now.keySet().removeIf(name -> starter.last(name) != null);
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
        starter.start(spec, (index, isReported) -> prefetcher.goOn(spec, index, isReported, job.positions()));
        if (job.isFound() && prefetcher.job(spec.name()).isEmpty()) {
            found = null;
        }
    }

    private void stop(String name) {
        if (found != null && found.name().equals(name)) {
            found = null;
        }
        ranksHere.remove(name);
        starter.stop(name);
    }

    /** Whether the same job runs here already, because another node started it first, and none of its samples has been read. */
    private boolean isUntouched(JobSpec spec) {
        return group != null
                && prefetcher
                        .job(spec.name())
                        .filter(run -> isSame(run.spec(), spec) && !run.hasBegun())
                        .isPresent();
    }

    static boolean isSame(@Nullable JobSpec one, JobSpec other) {
        return one != null
                && one.ranks().equals(other.ranks())
                && one.lineForAll().equals(other.lineForAll());
    }

    /**
     * Follows the group: starts, changes and stops jobs that were started, changed and stopped on other nodes. Returns the ranks that read here,
     * by job, for the group's jobs.
     */
    public synchronized Map<String, Ranks> follow(Jobs.Known known) {
        return follower == null ? Map.of() : follower.follow(known);
    }

    /** Starts the jobs that waited for the dataset to be listed. */
    public synchronized void startWaiting() {
        starter.startWaiting();
    }
}
