package io.clairfs.tools.node.cluster;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.worker.Worker;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Jobs;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the jobs of this node and those of its group the same: it tells the other nodes what is written here, and follows what they write.
 *
 * <p>Telling may take as long as the group takes to agree on its members. A worker tells, so no writer of a job waits for it. News from before
 * the join is told after it. While there is untold news, the jobs of the other nodes are not followed, because they might be older. News that no
 * member has taken is told again, and so is what the group has lost.
 *
 * <p>Life cycle: {@link PeerGroup} makes it, begins it when this node has joined, and closes it before the node leaves. After {@link #leave} it begins again.
 *
 * <p>Locks: its lock guards the untold news and the worker. It comes after those of {@code JobTable} and {@link PeerGroup}, and no other lock is
 * taken inside. The worker follows the group without it.
 */
public final class GroupJobs implements AutoCloseable {
    private static final Logger LOG = System.getLogger(GroupJobs.class.getName());
    private static final long LOOK_EVERY_MS = 1_000;

    /** Follows the group's jobs on this node. */
    @FunctionalInterface
    public interface Follower {
        /** Starts, changes and stops jobs. Returns the ranks that read here, by job. */
        Map<String, Ranks> follow(Jobs.Known jobs);
    }

    private sealed interface News {
        String name();
    }

    private record Started(String name, String line) implements News {}

    private record Lost(String name, String line) implements News {}

    /** A job that runs here alone, for the group could not be joined: a job of that name that the group runs goes first. */
    private record Offered(String name, String line) implements News {}

    private record Stopped(String name) implements News {}

    private final ErrorLog errors;
    private final Queue<News> untold = new ArrayDeque<>();
    private final Semaphore changes = new Semaphore(0);
    private volatile String self;
    private @Nullable Worker worker;

    /** Whether the group has gone on without this node for a while. */
    private boolean alone;

    /**
     * Nothing is told or followed before {@link #begin}.
     *
     * @param self the name of this node in the group
     */
    public GroupJobs(String self, ErrorLog errors) {
        this.self = self;
        this.errors = errors;
    }

    /** This node's name. */
    public String self() {
        return self;
    }

    /** Sets this node's name, before {@link #begin}: the address that it is made of may not be known earlier. */
    void named(String name) {
        self = name;
    }

    /** A job was started or changed here. */
    public synchronized void started(JobSpec spec) {
        untold.add(new Started(spec.name(), spec.lineForAll()));
        wake();
    }

    /** The group does not know a job any more that runs here. Told to a group that has ended it, this changes nothing. */
    public synchronized void lost(JobSpec spec) {
        untold.add(new Lost(spec.name(), spec.lineForAll()));
        wake();
    }

    /** A job was stopped here. */
    public synchronized void stopped(String name) {
        untold.add(new Stopped(name));
        wake();
    }

    /** Whether the other nodes do not know yet what was written here. */
    public synchronized boolean hasUntold() {
        return !untold.isEmpty();
    }

    /** Wakes the worker: something may have changed, here or on other nodes. */
    public void wake() {
        changes.release();
    }

    /** A join has failed. Of what was written here before the next one the group hears only which jobs run, and those of its own go first. */
    synchronized void joinFailed() {
        alone = true;
    }

    /** This node is out of the group, which is the same as a join that failed. It interrupts nothing: a job that is being started runs on here. */
    void leave() {
        Worker ending = ended();
        joinFailed();
        if (ending != null) {
            ending.end();
            wake();
            ending.close();
        }
    }

    private synchronized @Nullable Worker ended() {
        Worker ending = worker;
        worker = null;
        return ending;
    }

    private List<News> offers() {
        Map<String, News> last = new LinkedHashMap<>();
        untold.forEach(news -> last.put(news.name(), news));
        last.values().stream()
                .filter(Stopped.class::isInstance)
                .forEach(each -> errors.add("job " + each.name()
                        + " was stopped here before this node was in the group: stop it again if the group runs it"));
        return last.values().stream()
                .<News>mapMulti((each, offers) -> {
                    switch (each) {
                        case Started(String name, String line) -> offers.accept(new Offered(name, line));
                        case Offered untilNow -> offers.accept(untilNow);
                        case Lost _, Stopped _ -> {}
                    }
                })
                .toList();
    }

    /** Starts to tell and to follow, after this node has joined. {@code every} is called about once a second. */
    synchronized void begin(Jobs jobs, Follower follower, Runnable every) {
        if (worker == null) {
            if (alone) {
                List<News> offers = offers();
                untold.clear();
                untold.addAll(offers);
                alone = false;
            }
            worker = new Worker("group-jobs", () -> tellAndFollow(jobs, follower, every), errors).start();
        }
    }

    private void tellAndFollow(Jobs jobs, Follower follower, Runnable every) throws InterruptedException {
        boolean _ = changes.tryAcquire(LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
        int _ = changes.drainPermits();
        try {
            tellAll(jobs);
            follow(jobs, follower);
            jobs.tellAgain();
        } catch (TimeoutException e) {
            LOG.log(Level.WARNING, "telling the group of jobs, again in a second: " + e.getMessage());
        }
        every.run();
    }

    private void follow(Jobs jobs, Follower follower) throws TimeoutException {
        Jobs.Known now = jobs.now();
        Map<String, Ranks> here = follower.follow(now);
        for (Job job : now.running().values()) {
            Ranks ranks = here.get(job.name());
            if (ranks != null && !jobs.hasRanks(job.name(), ranks.text())) {
                jobs.putRanks(job.name(), ranks.text());
            }
        }
        jobs.removeRanksOfStopped();
    }

    private void tellAll(Jobs jobs) throws TimeoutException {
        for (News next = peek(); next != null; next = peek()) {
            switch (next) {
                case Started(String name, String line) -> tellStarted(jobs, name, line);
                case Lost(String name, String line) -> write(name, () -> jobs.putBack(name, line));
                case Offered(String name, String line) -> offer(jobs, name, line);
                case Stopped(String name) -> jobs.remove(name);
            }
            synchronized (this) {
                untold.poll(); // only after telling: until then the others' jobs may be older
            }
        }
    }

    private synchronized @Nullable News peek() {
        return untold.peek();
    }

    /** A line that the group knows already is no change: the other nodes go on as they are. */
    private void tellStarted(Jobs jobs, String name, String line) throws TimeoutException {
        Job known = jobs.now().running().get(name);
        if (known != null && known.lines().equals(line)) {
            return;
        }
        write(name, () -> jobs.put(name, line));
    }

    private void offer(Jobs jobs, String name, String line) throws TimeoutException {
        Job theirs = jobs.now().running().get(name);
        if (theirs == null) {
            write(name, () -> jobs.put(name, line));
        } else if (!theirs.lines().equals(line)) {
            errors.add("job " + name
                    + " was written here before this node was in the group, which runs another of that name:"
                    + " write it again to change that one");
        }
    }

    /** Writes a job into the group's map. */
    @FunctionalInterface
    private interface Write {
        void run() throws TimeoutException;
    }

    private void write(String name, Write job) throws TimeoutException {
        try {
            job.run();
        } catch (IllegalArgumentException e) {
            errors.add("job " + name + " runs on this node only: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        Worker ending = ended();
        if (ending != null) {
            ending.end();
            ending.interrupt();
            ending.close();
        }
    }
}
