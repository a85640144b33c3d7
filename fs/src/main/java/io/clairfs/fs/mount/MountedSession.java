package io.clairfs.fs.mount;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.SharedDescriptor;
import io.clairfs.fs.mount.FuseCallbacks.Operation;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One FUSE mount of this process, from mount to unmount.
 *
 * <p>Life cycle: {@link #begin} starts a session, makes it known to the {@link Watchdog}, and returns when the mount has answered a probe.
 * {@link #close} takes the mount out of the tree and waits, within a bound, for the session to end.
 *
 * <p>Locks: one for all sessions of the process, held while a session starts and for nothing else. That of the {@link Watchdog} is taken inside it,
 * and alone when a session ends.
 */
public abstract class MountedSession implements AutoCloseable {
    /** How long the kernel may take to accept a session, milliseconds. */
    protected static final long START_TIMEOUT_MS = 30_000;

    private static final Logger LOG = System.getLogger(MountedSession.class.getName());
    private static final long END_TIMEOUT_MS = 2_000;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path DEVICE = Path.of("/dev/fuse");

    /** Sessions start one after the other, so that a descriptor that appears meanwhile is the new session's. */
    private static final ReentrantLock STARTING = new ReentrantLock();

    /** Sessions whose descriptors may still be open; guarded by {@code STARTING}. */
    private static final List<MountedSession> SESSIONS = new ArrayList<>();

    private final Path point;
    private final CompletableFuture<Integer> ended;
    private final SharedDescriptor channel;
    private volatile Watchdog.@Nullable Watch watch;

    /** That of the mount, which no other has while this one exists, detached or not; null before it is known. */
    private volatile @Nullable String device;

    /**
     * A session that the kernel has accepted.
     *
     * @param served completes when it is served no more
     * @param channel its own descriptor, which is closed then
     */
    protected MountedSession(Path point, CompletableFuture<Integer> served, SharedDescriptor channel) {
        this.point = point;
        this.channel = channel;
        ended = served.whenComplete((_, _) -> channel.close());
    }

    /** Makes a session. */
    @FunctionalInterface
    protected interface Start<S> {
        S start() throws IOException;
    }

    /** Starts a session while no other starts, and checks that it works. */
    protected static <S extends MountedSession> S begin(Start<S> start) throws IOException {
        return begin(start, true, null);
    }

    /**
     * As {@link #begin}, for a session that a supervisor of another process holds: no watchdog may end it when this process dies.
     *
     * @param number the device of its mount as in /proc/self/mountinfo; null if it is the one at the mount point
     */
    protected static <S extends MountedSession> S beginSupervised(Start<S> start, @Nullable String number)
            throws IOException {
        return begin(start, false, number);
    }

    private static <S extends MountedSession> S begin(Start<S> start, boolean watched, @Nullable String number)
            throws IOException {
        STARTING.lock();
        try {
            S session = start.start();
            SESSIONS.add(session);
            take(session, watched, number);
            return session;
        } finally {
            STARTING.unlock();
        }
    }

    private static void take(MountedSession session, boolean watched, @Nullable String number) throws IOException {
        try {
            session.device = number != null ? number : device(session.point());
            if (watched) {
                session.watch();
            }
            session.probe();
        } catch (IOException | OutOfMemoryError e) { // the latter where no thread can be started
            if (watched) { // else the mount stays, for the next process
                session.close();
            }
            throw e;
        }
    }

    /**
     * The device of what was mounted just now. Before Linux 5.8 the kernel's table of mounts may lack one while others come and go, as it is read piece by
     * piece: so it is looked at twice.
     */
    private static String device(Path point) throws IOException {
        String first = FuseConnection.device(point);
        return first.equals(FuseConnection.NONE) ? FuseConnection.device(point) : first;
    }

    /** The open descriptors of FUSE sessions, without those of known sessions. For {@link Start}. */
    static Set<Integer> unknownDescriptors() throws IOException {
        SESSIONS.removeIf(session -> session.ended.isDone() && session.channel.isGivenBack());
        Set<Integer> known =
                new HashSet<>(); // listed first, so that a session that ends meanwhile is not taken for unknown
        for (MountedSession session : SESSIONS) {
            known.addAll(session.libraryDescriptors());
            if (!session.channel.isGivenBack()) {
                known.add(session.channel.number());
            }
        }
        Set<Integer> found = sessionDescriptors();
        found.removeAll(known);
        return found;
    }

    /** Descriptors besides the channel that a library has opened for this session and not closed yet. */
    Set<Integer> libraryDescriptors() {
        return Set.of();
    }

    private void watch() {
        try {
            Watchdog.Watch fresh = Watchdog.over(point, number());
            watch = fresh;
            var _ = ended.whenComplete((_, _) -> fresh.close());
        } catch (IOException | OutOfMemoryError e) {
            LOG.log(Level.WARNING, "if this process is killed, it may stay until " + point + " is unmounted", e);
        }
    }

    /**
     * Has the process started again if it dies, from the directory of what that needs. The connection then stays, so {@link #unwatch} all sessions
     * of the process.
     *
     * @param restarts most restarts within a minute
     */
    protected Supervisor supervise(Path directory, int restarts) throws IOException {
        try {
            return Supervisor.start(point, channel, number(), directory, restarts);
        } catch (IOException | OutOfMemoryError e) {
            watchAgain();
            throw e;
        }
    }

    private String number() {
        return Objects.requireNonNull(device, "known when the session has begun");
    }

    /** Whether this session is what is mounted at its mount point: it was not taken away, with or without another in its place. */
    public final boolean isMounted() throws IOException {
        String mine = device;
        if (mine == null || !channel.enter()) {
            return false;
        }
        try {
            return FuseConnection.isMounted(point, mine, channel.number());
        } finally {
            channel.leave();
        }
    }

    /** Has the watchdog leave the connection alone: the process is started again if it dies, and that ends or goes on with the connection. */
    public final void unwatch() {
        Watchdog.Watch before = watch;
        watch = null;
        if (before != null) {
            before.close();
        }
    }

    /** Has a watchdog end the connection after all, if this process is killed and cannot end: nothing will start it again. */
    public final void watchAgain() {
        if (watch == null && !ended.isDone()) {
            watch();
        }
    }

    /** Checks that the new mount answers. */
    private void probe() throws IOException {
        FileStatus root = Posix.statAt(Posix.AT_FDCWD, bytes(point), 0);
        if (!root.isDirectory()) {
            throw new MountException("the mount at " + point + " does not answer as a directory");
        }
    }

    private static byte[] bytes(Path path) {
        return path.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static Set<Integer> sessionDescriptors() throws IOException {
        Set<Integer> found = new HashSet<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path link : all) {
                try {
                    if (Files.readSymbolicLink(link).equals(DEVICE)) {
                        found.add(Integer.parseInt(link.getFileName().toString()));
                    }
                } catch (IOException closedMeanwhile) {
                    // the descriptor of the listing itself, or another thread's
                    LOG.log(Level.TRACE, "gone", closedMeanwhile);
                }
            }
        }
        return found;
    }

    public final Path point() {
        return point;
    }

    /** The descriptor on which the kernel talks to this session, for notifications. The session closes it when it has ended. */
    public final SharedDescriptor channel() {
        return channel;
    }

    /** How often the kernel has requested {@code operation}. A look-up of a name counts as {@code GETATTR}. */
    public abstract long requests(Operation operation);

    /** Completes when the kernel is answered no more, after {@link #close} or any other unmount. */
    public final CompletableFuture<Integer> ended() {
        return ended;
    }

    /**
     * Unmounts. A mount in use is detached: it is gone for later users, and the session ends with its last use. Where it was detached before, and another
     * is mounted in its place, that one stays.
     */
    @Override
    public final void close() {
        if (!ended.isDone()) {
            try {
                detach();
            } catch (IOException e) {
                LOG.log(Level.WARNING, e.getMessage());
            }
        }
        boolean _ = awaitEnd(END_TIMEOUT_MS);
    }

    private void detach() throws IOException {
        if (device == null || isInTable()) {
            Fusermount.detach(point);
        }
    }

    /** Looks twice, as {@link #device(Path)} does. */
    private boolean isInTable() throws IOException {
        boolean isFirst = isMounted();
        return isFirst || isMounted();
    }

    /**
     * Gives up the connection to the kernel, so that no reader waits for an answer. For a process that is about to end: the kernel would do so
     * when the process has ended, but a thread that waits for a dead source may keep it from ending.
     */
    public final void cut() {
        if (ended.isDone()) {
            return;
        }
        try {
            int nothing = Posix.openAt(Posix.AT_FDCWD, bytes(Path.of("/dev/null")), Posix.O_RDONLY);
            channel.replaceBy(nothing);
            Set<Integer> open = sessionDescriptors();
            for (int descriptor : libraryDescriptors()) {
                if (open.contains(descriptor)) { // else the library has closed it just now
                    Posix.replace(descriptor, nothing);
                }
            }
            Posix.close(nothing);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "the connection of " + point + " is left to the kernel: " + e.getMessage());
        }
    }

    /** Waits for the end, {@code timeoutMs} milliseconds at most. Returns whether it came; it does not while a file of a detached mount is open. */
    public final boolean awaitEnd(long timeoutMs) {
        try {
            ended.get(timeoutMs, TimeUnit.MILLISECONDS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (java.util.concurrent.TimeoutException e) {
            return false;
        } catch (java.util.concurrent.ExecutionException e) {
            throw new AssertionError(e);
        }
    }
}
