package io.clairfs.fs.protocol;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.SharedDescriptor;
import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseCallbacks.Operation;
import io.clairfs.fs.mount.FuseConnection;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountedSession;
import io.clairfs.fs.mount.Supervisor;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A mount whose requests this process takes from the kernel itself. A read-only tree that never changes needs a dozen of the protocol's operations
 * and no record of what the kernel knows. Why not libfuse: docs/decisions/own-protocol.md.
 *
 * <p>Life cycle: {@link #mount} mounts, starts the {@link RequestThreads}, and returns a session that answers. The daemon closes it after the page
 * cache. It ends when the kernel ends the connection, by {@link #close}, any other unmount, or {@link #cut}.
 *
 * <p>Locks: it has none beside those of {@link MountedSession}. That of {@link RequestThreads} guards their counts, and none is held while a
 * request is answered. A request thread never takes the lock under which sessions start, because a start waits for a probe that it answers.
 */
public final class ProtocolSession extends MountedSession {
    private static final Logger LOG = System.getLogger(ProtocolSession.class.getName());

    /** The negotiation bounds requests that no thread waits for. Each other request has a waiting thread of its reader. */
    private static final int MOST_THREADS = Negotiation.MAX_BACKGROUND + 896;

    private static final Path DEVICES = Path.of("/sys/class/bdi");
    private static final String READ_AHEAD_KB = "1024";

    private final RequestDispatcher dispatcher;
    private final boolean canBeTakenOver;

    private ProtocolSession(
            Path point,
            CompletableFuture<Integer> ended,
            SharedDescriptor channel,
            RequestDispatcher dispatcher,
            boolean canBeTakenOver) {
        super(point, ended, channel);
        this.dispatcher = dispatcher;
        this.canBeTakenOver = canBeTakenOver;
    }

    /**
     * Mounts {@code filesystem} at {@code point}, an empty directory.
     *
     * @param options as after {@code -o}; see {@link MountOptions}
     * @throws MountException with the reason when it cannot be mounted
     */
    public static ProtocolSession mount(Path point, List<String> options, NodeFilesystem filesystem, ErrnoTable errnos)
            throws IOException {
        MountOptions parsed = MountOptions.of(options);
        return begin(() -> start(point, parsed, filesystem, errnos));
    }

    private static ProtocolSession start(Path point, MountOptions options, NodeFilesystem filesystem, ErrnoTable errnos)
            throws IOException {
        SharedDescriptor channel = new SharedDescriptor(DeviceMount.mount(point, options));
        CompletableFuture<Negotiation> accepted = new CompletableFuture<>();
        RequestDispatcher dispatcher = new RequestDispatcher(filesystem, errnos, channel, accepted);
        RequestThreads threads = new RequestThreads("fuse-request", channel, dispatcher::dispatch, MOST_THREADS);
        Negotiation agreed;
        try {
            threads.start();
            agreed = awaitAgreement(point, accepted);
        } catch (IOException e) {
            Fusermount.detach(point);
            throw e;
        }
        readAhead(point);
        return new ProtocolSession(point, threads.ended(), channel, dispatcher, agreed.canBeTakenOver());
    }

    /**
     * Goes on with the session of a process that has died. {@code filesystem} must have the same numbers as that one's.
     *
     * <p>By now another mount may be in its place: see {@link #isMounted}.
     *
     * @param device the session's descriptor, which this process has inherited
     * @param number the device of its mount as in /proc/self/mountinfo; null if nobody says, and it is the one that is mounted now
     * @param predecessor the number of that process, some threads of which may not have ended yet
     */
    public static ProtocolSession takeOver(
            Path point,
            int device,
            @Nullable String number,
            NodeFilesystem filesystem,
            ErrnoTable errnos,
            long predecessor)
            throws IOException {
        return beginSupervised(() -> goOn(point, device, filesystem, errnos, predecessor), number);
    }

    private static ProtocolSession goOn(
            Path point, int device, NodeFilesystem filesystem, ErrnoTable errnos, long predecessor) throws IOException {
        SharedDescriptor channel = new SharedDescriptor(Posix.duplicate(device));
        Posix.close(device);
        RequestDispatcher dispatcher = new RequestDispatcher(filesystem, errnos, channel, new CompletableFuture<>());
        RequestThreads threads = new RequestThreads("fuse-request", channel, dispatcher::dispatch, MOST_THREADS);
        threads.start();
        UnansweredRequests.begin(channel, predecessor);
        return new ProtocolSession(point, threads.ended(), channel, dispatcher, true);
    }

    /** Whether the kernel lets another process go on with the session: Linux 6.9 or newer. */
    public boolean canBeTakenOver() {
        return canBeTakenOver;
    }

    @Override
    public Supervisor supervise(Path directory, int restarts) throws IOException {
        return super.supervise(directory, restarts);
    }

    private static Negotiation awaitAgreement(Path point, CompletableFuture<Negotiation> accepted)
            throws MountException {
        try {
            return accepted.get(START_TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof MountException refused
                    ? refused
                    : new MountException("cannot mount at " + point + " (" + e.getCause() + ")");
        } catch (TimeoutException e) {
            throw new MountException(
                    "the kernel did not accept the mount at " + point + " within " + START_TIMEOUT_MS + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MountException("interrupted while mounting " + point);
        }
    }

    /** Raises the kernel's read-ahead from 128 KiB to the largest request, a MiB, where this process may: as root. */
    private static void readAhead(Path point) {
        try {
            Path setting = DEVICES.resolve(FuseConnection.device(point)).resolve("read_ahead_kb");
            if (Files.isWritable(setting)) {
                Files.writeString(setting, READ_AHEAD_KB);
            }
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "read-ahead of " + point + " stays as it is: " + e.getMessage());
        }
    }

    @Override
    public long requests(Operation operation) {
        return dispatcher.requests(operation);
    }
}
