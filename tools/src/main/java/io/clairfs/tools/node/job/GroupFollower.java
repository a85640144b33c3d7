package io.clairfs.tools.node.job;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Jobs;
import io.clairfs.tools.node.cluster.GroupJobs;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Has this node do what was written on other nodes of its group. The lock of its {@link JobTable} is held by whoever follows. */
final class GroupFollower {
    /**
     * A job is told to the group once more when the group has not known it for so long. While two halves of it merge, their jobs come one after the
     * other.
     */
    private static final long LOST_NS = TimeUnit.SECONDS.toNanos(5);

    private final GroupJobs group;
    private final Prefetcher prefetcher;
    private final JobStarter starter;
    private final Map<String, Ranks> ranksHere;
    private final Consumer<String> stop;
    private final ErrorLog errors;
    private final LongSupplier clockNs;

    /** The jobs that were stopped on any node of the group. A script stops its job on every node, and only the first stop finds it running. */
    private volatile Set<String> stopped = Set.of();

    /** Since when the group does not know a job that runs here, by name. */
    private final Map<String, Long> unknownSinceNs = new HashMap<>();

    /**
     * Nothing is followed yet.
     *
     * @param ranksHere the announced ranks that read here, by job; changed here, too
     * @param stop ends the job of a name on this node
     * @param clockNs as {@link System#nanoTime}
     */
    GroupFollower(
            GroupJobs group,
            Prefetcher prefetcher,
            JobStarter starter,
            Map<String, Ranks> ranksHere,
            Consumer<String> stop,
            ErrorLog errors,
            LongSupplier clockNs) {
        this.group = group;
        this.prefetcher = prefetcher;
        this.starter = starter;
        this.ranksHere = ranksHere;
        this.stop = stop;
        this.errors = errors;
        this.clockNs = clockNs;
    }

    /** Whether the job of this name was stopped on any node, when the group was looked at last. */
    boolean wasStopped(String name) {
        return stopped.contains(name);
    }

    /**
     * Follows the group: starts, changes and stops jobs that were started, changed and stopped on other nodes. Returns the ranks that read here,
     * by job, for the group's jobs.
     */
    Map<String, Ranks> follow(Jobs.Known known) {
        if (group.hasUntold()) {
            return Map.of();
        }
        stopped = known.stopped();
        known.stopped().stream()
                .filter(name -> starter.last(name) != null
                        || prefetcher.job(name).isPresent()) // one goes on where that in its place was not started
                .forEach(stop);
        starter.retain(known.running().keySet());
        known.running().values().forEach(job -> follow(job, group.self()));
        tellLost(known);
        Map<String, Ranks> here = new TreeMap<>();
        ranksHere.forEach((name, ranks) -> {
            if (known.running().containsKey(name)) {
                here.put(name, ranks);
            }
        });
        return here;
    }

    private void tellLost(Jobs.Known known) {
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
        JobSpec before = starter.last(job.name());
        try {
            String said = job.ranks().get(self);
            if (said != null && !ranksHere.containsKey(job.name())) {
                ranksHere.put(job.name(), Ranks.parse(said)); // announced by this node before it was mounted again
                prefetcher.activity().happened();
            }
            Ranks here = ranksHere.getOrDefault(job.name(), Ranks.NONE);
            if (before != null && isOf(before, job) && before.ranks().equals(here)) {
                return; // it is not read anew: a file that it names may be gone by now
            }
            JobSpec wanted = JobSpec.parse(job.lines(), here);
            if (!JobTable.isSame(before, wanted)) {
                starter.start(wanted);
            }
        } catch (OrderNotReadyException noAnswer) { // the next look at the group's jobs tries again
            if (before == null && starter.isNews(job.name(), noAnswer)) {
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
}
