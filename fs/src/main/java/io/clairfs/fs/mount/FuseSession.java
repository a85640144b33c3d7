package io.clairfs.fs.mount;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.SharedDescriptor;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One FUSE mount of this process, from mount to unmount.
 *
 * <p>libfuse's blocking main loop runs on a thread of its own; {@link #mount} returns when the kernel has accepted the session
 * and answered a probe. {@link #close} takes the mount out of the tree and waits, within a bound, for the loop to end.
 */
public final class FuseSession implements AutoCloseable {
    private static final Logger LOG = System.getLogger(FuseSession.class.getName());
    private static final long START_TIMEOUT_MS = 10_000;
    private static final long END_TIMEOUT_MS = 2_000;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path DEVICE = Path.of("/dev/fuse");

    /** Sessions start one after the other, so that the descriptor that appears meanwhile is the new session's. */
    private static final ReentrantLock STARTING = new ReentrantLock();

    /** Those whose descriptors may still be open; guarded by the lock. */
    private static final List<FuseSession> SESSIONS = new ArrayList<>();

    private final Path point;
    private final CompletableFuture<Integer> ended;
    private final GuardedCallbacks callbacks;

    /** libfuse's own, which it closes when the loop ends. */
    private final int descriptor;

    private final SharedDescriptor channel;

    private FuseSession(
            Path point, CompletableFuture<Integer> ended, GuardedCallbacks callbacks, int descriptor, int copy) {
        this.point = point;
        this.ended = ended;
        this.callbacks = callbacks;
        this.descriptor = descriptor;
        channel = new SharedDescriptor(copy);
        var _ = ended.whenComplete((_, _) -> channel.close());
    }

    /**
     * Mounts {@code callbacks} at {@code point}, an empty directory.
     *
     * @param options as after {@code -o}
     * @throws MountException with the reason when it cannot be mounted
     */
    public static FuseSession mount(Path point, List<String> options, FuseCallbacks callbacks, ErrnoTable errnos)
            throws IOException {
        STARTING.lock();
        try {
            Set<Integer> strangers = unknownDescriptors();
            Arena arena = Arena.ofShared();
            GuardedCallbacks guarded = new GuardedCallbacks(callbacks, errnos, arena);
            CompletableFuture<Integer> ended = run(point, options, guarded, arena);
            awaitInit(point, guarded, ended);
            FuseSession session = of(point, ended, guarded, strangers);
            SESSIONS.add(session);
            try {
                session.watch();
                session.probe();
            } catch (IOException e) {
                session.close();
                throw e;
            }
            return session;
        } finally {
            STARTING.unlock();
        }
    }

    private static FuseSession of(
            Path point, CompletableFuture<Integer> ended, GuardedCallbacks guarded, Set<Integer> strangers)
            throws IOException {
        try {
            int descriptor = freshDescriptor(strangers);
            return new FuseSession(point, ended, guarded, descriptor, Posix.duplicate(descriptor));
        } catch (IOException e) {
            Fusermount.detach(point);
            throw e;
        }
    }

    /**
     * The one that libfuse has opened. It may have the number of an earlier session that has just ended, so what counts is whose a number is, not whether
     * it was there before; and that session may not have said yet that it has ended.
     */
    private static int freshDescriptor(Set<Integer> strangers) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_TIMEOUT_MS);
        while (true) {
            Set<Integer> fresh = unknownDescriptors();
            fresh.removeAll(strangers);
            if (fresh.size() == 1) {
                return fresh.iterator().next();
            }
            if (System.nanoTime() > deadline) {
                throw new MountException(
                        "the FUSE session's descriptor was not found among this process's descriptors");
            }
            try {
                TimeUnit.MILLISECONDS.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new MountException("interrupted while mounting");
            }
        }
    }

    /** Those on which the kernel talks to somebody, and to no session here. */
    private static Set<Integer> unknownDescriptors() throws IOException {
        SESSIONS.removeIf(session -> session.ended.isDone() && session.channel.isGivenBack());
        Set<Integer> known =
                new HashSet<>(); // before what there is: one that ends meanwhile is then not taken for unknown
        for (FuseSession session : SESSIONS) {
            if (!session.ended.isDone()) {
                known.add(session.descriptor);
            }
            if (!session.channel.isGivenBack()) {
                known.add(session.channel.number());
            }
        }
        Set<Integer> found = sessionDescriptors();
        found.removeAll(known);
        return found;
    }

    private static CompletableFuture<Integer> run(
            Path point, List<String> options, GuardedCallbacks guarded, Arena arena) {
        List<String> arguments =
                new ArrayList<>(List.of("clairfs", point.toString(), "-f", "-o", String.join(",", options)));
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("fuse " + point).start(() -> {
            try {
                ended.complete(Native.libfuse()
                        .fuse_main_real(
                                arguments.size(),
                                arguments.toArray(String[]::new),
                                guarded.operations(),
                                jnr.ffi.Struct.size(guarded.operations()),
                                null));
                arena.close();
            } catch (Throwable t) {
                LOG.log(Level.ERROR, "the FUSE session of " + point + " failed", t);
                ended.complete(-1);
            }
        });
        return ended;
    }

    private static void awaitInit(Path point, GuardedCallbacks guarded, CompletableFuture<Integer> ended)
            throws MountException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(START_TIMEOUT_MS);
        try {
            while (!guarded.initialized().await(1, TimeUnit.MILLISECONDS)) {
                if (ended.isDone()) {
                    throw new MountException("libfuse refused to mount " + point + "; its own line says why");
                }
                if (System.nanoTime() > deadline) {
                    throw new MountException(
                            "the kernel did not accept the mount at " + point + " within " + START_TIMEOUT_MS + " ms");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MountException("interrupted while mounting " + point);
        }
    }

    private void watch() {
        try {
            Watchdog.Watch watch = Watchdog.over(point, FuseConnection.device(point));
            var _ = ended.whenComplete((_, _) -> watch.close());
        } catch (IOException e) {
            LOG.log(Level.WARNING, "if this process is killed, it may stay until " + point + " is unmounted", e);
        }
    }

    /** One answer of the new mount shows that it works. */
    private void probe() throws IOException {
        FileStatus root = Posix.statAt(Posix.AT_FDCWD, bytes(point), 0);
        if (!root.isDirectory()) {
            throw new MountException("the mount at " + point + " does not answer as a directory");
        }
    }

    private static byte[] bytes(Path path) {
        return path.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
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

    public Path point() {
        return point;
    }

    /** On which the kernel talks to this session, for notifications. It is this session's own, and closed when the loop has ended. */
    public SharedDescriptor channel() {
        return channel;
    }

    /** How often the kernel has asked for {@code operation}. Looking a name up is asking for its attributes. */
    public long requests(FuseCallbacks.Operation operation) {
        return callbacks.requests(operation);
    }

    /** Completes when the loop has ended, be it by {@link #close} or by somebody's {@code umount}. */
    public CompletableFuture<Integer> ended() {
        return ended;
    }

    /** Unmounts: in the ordinary way if nobody uses it, else detached, so that it is gone for everybody who comes later. */
    @Override
    public void close() {
        if (!ended.isDone()) {
            try {
                Fusermount.detach(point);
            } catch (MountException e) {
                LOG.log(Level.WARNING, e.getMessage());
            }
        }
        awaitEnd(END_TIMEOUT_MS);
    }

    /**
     * Gives up the connection to the kernel, so that nobody is left waiting for an answer; for a process that is about to end. The kernel would do
     * so when the process has ended, but a thread of it that waits for a dead source may keep it from ending.
     */
    public void cut() {
        if (ended.isDone()) {
            return;
        }
        try {
            int nothing = Posix.openAt(Posix.AT_FDCWD, bytes(Path.of("/dev/null")), Posix.O_RDONLY);
            channel.replaceBy(nothing);
            if (sessionDescriptors().contains(descriptor)) { // else libfuse has closed it just now
                Posix.replace(descriptor, nothing);
            }
            Posix.close(nothing);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "the connection of " + point + " is left to the kernel: " + e.getMessage());
        }
    }

    /** Waits for the loop to end. Returns whether it did; it does not while somebody holds a file of a detached mount open. */
    public boolean awaitEnd(long timeoutMs) {
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
