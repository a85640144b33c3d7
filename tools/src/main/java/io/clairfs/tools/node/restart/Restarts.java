package io.clairfs.tools.node.restart;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.NumberedListings;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.worker.Activity;
import io.clairfs.cache.worker.Worker;
import io.clairfs.fs.mount.MountedSession;
import io.clairfs.fs.mount.Supervisor;
import io.clairfs.fs.protocol.ProtocolSession;
import io.clairfs.tools.node.config.RestartConfig;
import io.clairfs.tools.node.job.JobTable;
import io.clairfs.tools.node.job.UnfinishedJob;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Has this process started again if it dies: keeps what that needs, and has a supervisor.
 *
 * <p>Life cycle: the daemon makes it, calls {@link #begin} when the dataset is listed, then {@link #keepJobsFromNowOn}, and closes it before all else, so that the
 * supervisor knows of the end. Its lock is held while something is written, which may take as long as the user's home does not answer; {@link #close} tells the
 * supervisor without it.
 */
public final class Restarts implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Restarts.class.getName());
    private static final long PAUSE_MS = 1_000;

    /** While nothing happens. */
    private static final long REST_MS = 5_000;

    private static final long LONGEST_FORGETTING_MS = 2_000;

    private static final long MINUTE_NS = TimeUnit.MINUTES.toNanos(1);
    private static final long TOUCH_NS = TimeUnit.DAYS.toNanos(1);

    /** Within this time the writer of the control file has its answer. */
    private static final long ANSWERED_MS = 100;

    private final ProtocolSession session;
    private final SavedMount mount;
    private final JobTable jobs;
    private final RestartConfig config;
    private final RestartCommand command;
    private final ErrorLog errors;
    private final Worker keeper;
    private final Activity.Looks looks;
    private @Nullable RestartDirectory directory;
    private volatile @Nullable Supervisor supervisor;

    /** All of this process. */
    private Supplier<? extends List<? extends MountedSession>> sessions = List::of;

    /** When a supervisor was started in the place of one that was killed, in the last minute; as {@link System#nanoTime}. */
    private final Deque<Long> startedAgainNs = new ArrayDeque<>();

    /** Whether supervisors were killed so often that none is started any more. */
    private boolean isLeftToWatchdog;

    private long touchedNs = System.nanoTime();

    /** Null before there is a directory, and while the process before this one still has it. */
    private @Nullable RestartLock lock;

    /** Null before anything was written: the process before this one may have left jobs that have ended since. */
    private @Nullable List<UnfinishedJob> kept;

    private @Nullable Map<String, Ranks> keptRanks;
    private volatile boolean closed;
    private boolean replaced;

    /**
     * Keeps nothing yet.
     *
     * @param config how often this process is started again, and with which arguments
     */
    public Restarts(ProtocolSession session, SavedMount mount, JobTable jobs, RestartConfig config, ErrorLog errors) {
        this.session = session;
        this.mount = mount;
        this.jobs = jobs;
        this.config = config;
        this.errors = errors;
        command = new RestartCommand(config);
        looks = jobs.activity().looks(PAUSE_MS, REST_MS);
        keeper = new Worker("restart-keeper", this::keepJobs, errors);
    }

    /**
     * Keeps what a restart needs but the jobs, and starts the supervisor. Does nothing where restarts are not wanted, or not possible. A process that takes a mount
     * over calls it as soon as it answers readers: until then the supervisor of the one before waits, for a minute at most.
     *
     * @param before the mount that this process has taken over; null for a new mount
     * @param all the sessions of this process, as of now; no watchdog ends them from then on
     */
    public synchronized void begin(
            DatasetTree tree, @Nullable Takeover before, Supplier<? extends List<? extends MountedSession>> all)
            throws IOException {
        try {
            if (!closed && config.mostInAMinute() > 0 && session.canBeTakenOver()) {
                sessions = all;
                keepAll(tree, before);
                all.get().forEach(MountedSession::unwatch);
            }
        } finally {
            if (before != null) {
                before.endSupervisor(); // also without a supervisor of its own this process serves the mount
            }
        }
    }

    /**
     * Keeps the jobs, too. Before the jobs of a process before this one run again, they would be lost by it. From now on this program has taken over: the one before an
     * upgrade is not gone back to.
     */
    public synchronized void keepJobsFromNowOn() throws IOException {
        RestartDirectory into = directory();
        if (into != null) {
            keeper.start();
            if (!replaced) { // else it is kept for the upgrade that is under way
                into.forgetScriptBefore();
            }
        }
    }

    private void keepAll(DatasetTree tree, @Nullable Takeover before) throws IOException {
        RestartDirectory into = before == null ? makeDirectory(tree) : goOn(before.directory(), tree);
        directory = into;
        supervise(into);
    }

    private void supervise(RestartDirectory by) throws IOException {
        Supervisor started = session.supervise(by.path(), config.mostInAMinute());
        supervisor = started;
        if (closed) { // meanwhile
            started.close();
        }
    }

    /**
     * Starts another supervisor in the place of one that was killed, which nobody would miss before this process dies, too. If supervisors are killed as often
     * as a process is started again at most, this one is left to a watchdog.
     */
    private synchronized void requireSupervisor() {
        Supervisor last = supervisor;
        RestartDirectory by = directory;
        if (last == null || by == null || !last.hasEnded() || isLeftToWatchdog || closed || replaced) {
            return;
        }
        last.close();
        long now = System.nanoTime();
        startedAgainNs.removeIf(then -> now - then > MINUTE_NS);
        String what = "the supervisor, which starts this process again if it dies, was killed";
        if (startedAgainNs.size() >= config.mostInAMinute()) {
            isLeftToWatchdog = true;
            sessions.get().forEach(MountedSession::watchAgain);
            errors.add(
                    what + " " + (startedAgainNs.size() + 1) + " times within a minute, and none is started any more");
            return;
        }
        startedAgainNs.add(now);
        try {
            supervise(by);
            sessions.get().forEach(MountedSession::unwatch);
            errors.add(what + "; another has its place");
        } catch (IOException | OutOfMemoryError e) { // such as no process more; tried again at the next look
            errors.add(what + ", and no other could be started: " + e.getMessage());
        }
    }

    /** Goes on with the directory of the process before this one. What it has does as well where nothing can be written. */
    private RestartDirectory goOn(RestartDirectory kept, DatasetTree tree) {
        takeLock(kept);
        try {
            command.write(kept);
            mount.keeping(tree.view().kept()).write(kept);
        } catch (IOException e) {
            errors.add("if this process dies it is started as the one before it was: cannot write in " + kept.path()
                    + ": " + e.getMessage());
        }
        return kept;
    }

    /** A new directory, in a temporary one if the user's is full. */
    private RestartDirectory makeDirectory(DatasetTree tree) throws IOException {
        RestartDirectory usual = RestartDirectory.make(mount.mountPoint());
        try {
            fill(usual, tree);
            return usual;
        } catch (IOException full) {
            LOG.log(Level.INFO, "what a restart needs is kept in a temporary directory", full);
            directory = usual;
            forget();
        }
        RestartDirectory other = RestartDirectory.makeTemporary();
        directory = other;
        fill(other, tree);
        return other;
    }

    private void fill(RestartDirectory made, DatasetTree tree) throws IOException {
        takeLock(made);
        command.write(made);
        mount.keeping(tree.view().kept()).write(made);
        NumberedListings.write(made.listing(), tree);
    }

    /** Removes the directory, from which nothing is started any more. */
    private void forget() throws IOException {
        RestartDirectory used = directory;
        RestartLock held = lock;
        directory = null;
        lock = null;
        try {
            if (used != null && Files.exists(used.path())) {
                used.clear(); // under the lock, so who takes it next finds and loses nothing
            }
        } finally {
            if (held != null) {
                held.close(); // before the directory goes, where NFS keeps an open file under another name
            }
        }
        if (used != null) {
            used.removeIfEmpty();
        }
    }

    private void takeLock(RestartDirectory of) {
        if (lock == null) {
            try {
                lock = RestartLock.take(of.path());
            } catch (IOException noLocks) {
                LOG.log(Level.DEBUG, "a file system without locks: " + of.path(), noLocks);
            }
        }
    }

    /** The directory of what a restart needs; null where this process is not started again if it dies. */
    public synchronized @Nullable RestartDirectory directory() {
        Supervisor waits = supervisor;
        return waits == null || waits.hasEnded() || closed ? null : directory;
    }

    /**
     * Ends this process a moment later, without the mount: the supervisor starts the program that the directory names in its place, and this one's again if that
     * does not take over. Such an end does not count as a death.
     *
     * @throws IOException if it cannot be replaced; then it goes on
     */
    public synchronized void replaceProcess() throws IOException {
        if (replaced) {
            return;
        }
        RestartDirectory into = directory();
        if (into == null) {
            throw new IOException("nothing would start it again");
        }
        List<String> program = into.program();
        if (program.isEmpty()) {
            throw new IOException("no program is named; use the command: clairfs upgrade " + mount.mountPoint());
        }
        keep();
        try {
            into.keepScript();
            command.write(into, program);
            into.replace("upgrade", "");
        } catch (IOException e) {
            stayWithThisProgram(into, e);
            throw e;
        }
        Thread _ = Thread.ofPlatform().name("upgrade").start(() -> {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ANSWERED_MS));
            keepLast();
            if (!closed) { // else the supervisor was told that nothing is to be started
                Runtime.getRuntime().halt(0);
            }
        });
        replaced = true;
    }

    /** Undoes what of an upgrade was written: else the supervisor would take a later death of this process for it. */
    private void stayWithThisProgram(RestartDirectory into, IOException reason) {
        try {
            into.forgetUpgrade();
            command.write(into);
            into.forgetScriptBefore();
        } catch (IOException e) {
            reason.addSuppressed(e);
        }
    }

    /** A job that was written since is kept, too: its writer was told that it runs. */
    private void keepLast() {
        try {
            keep();
        } catch (IOException | RuntimeException | Error e) {
            LOG.log(Level.WARNING, "what was written in the last moment before the upgrade is lost", e);
        }
    }

    private void keepJobs() throws IOException {
        looks.begin();
        requireSupervisor();
        keep();
        touch();
        looks.pause();
    }

    /** Temporary files that are as they were ten days ago are removed on many machines. */
    private synchronized void touch() throws IOException {
        if (directory != null && !closed && System.nanoTime() - touchedNs > TOUCH_NS) {
            touchedNs = System.nanoTime();
            directory.touch();
        }
    }

    /** Saves the jobs, and the ranks of those to come, as they are now. The lock is free when the process before this one has ended. */
    private synchronized void keep() throws IOException {
        if (directory == null || closed) {
            return;
        }
        takeLock(directory);
        List<UnfinishedJob> now = jobs.unfinished();
        if (kept == null
                || !UnfinishedJob.areSame(now, kept)) { // once a second at rest, so no text is made to compare it
            SavedJobs.write(directory, SavedJobs.text(now));
            kept = now;
        }
        Map<String, Ranks> announced = jobs.announced();
        if (!announced.equals(keptRanks)) {
            AnnouncedRanks.write(directory, announced);
            keptRanks = announced;
        }
    }

    @Override
    public void close() {
        closed = true;
        Supervisor told = supervisor;
        if (told != null) {
            told.close();
            keeper.close();
        }
        Thread forgetting =
                Thread.ofPlatform().daemon().name("restart-forgetter").start(this::forgetOnce);
        try {
            forgetting.join(LONGEST_FORGETTING_MS); // the mount is still to be ended
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void forgetOnce() {
        try {
            forget();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "what a restart would have needed is left: " + e.getMessage());
        }
    }
}
