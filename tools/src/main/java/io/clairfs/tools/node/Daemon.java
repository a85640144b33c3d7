package io.clairfs.tools.node;

import io.clairfs.tools.OpenParts;
import io.clairfs.tools.node.config.MountConfig;
import io.clairfs.tools.node.mount.MountCheck;
import io.clairfs.tools.node.mount.MountPointLock;
import io.clairfs.tools.node.restart.RestartDirectory;
import io.clairfs.tools.node.restart.Takeover;
import io.clairfs.tools.node.restart.UnmountedException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One mount and everything behind it: what brings samples ({@link SampleParts}), the mount itself ({@link MountParts}), jobs and control files ({@link
 * ControlParts}), and what comes when the dataset is listed ({@link AfterListing}).
 *
 * <p>Life cycle: {@code clairfs mount} starts and closes it. {@link #start} returns when the mount and its control files answer; the listing
 * goes on meanwhile. {@link #close} first releases the readers that wait, because a push may wait for one of them. Then it closes the parts in
 * the reverse order of their start; each has its bound.
 *
 * <p>Locks: only {@link #close} holds its lock, so that a second caller waits for the first. No lock is held when it is taken. Those of the
 * parts are taken inside, and no part calls this class.
 */
public final class Daemon implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Daemon.class.getName());

    private final MountConfig config;
    private final OpenParts parts = new OpenParts("the mount");
    private final MountedSessions sessions = new MountedSessions();
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Whether the log says that the mount serves its dataset, so that it has to say when that ends. */
    private volatile boolean isListed;

    /** What is done when nothing stands in the way of a mount any more. */
    @FunctionalInterface
    public interface Beginning {
        void run() throws IOException;
    }

    /** Goes on with a mount. If a part fails to start, the mount stays, and this process has to end. */
    public static Daemon takeOver(MountConfig config, Takeover takeover) throws IOException {
        return new Daemon(config, takeover);
    }

    /** Mounts, after {@code beginning}. If a part fails to start, the parts that were started before it are closed. */
    public static Daemon start(MountConfig config, Beginning beginning) throws IOException {
        MountCheck.check(config.source(), config.mountPoint(), RestartDirectory::isAboutToStart);
        try (MountPointLock _ = MountPointLock.take(config.mountPoint())) {
            MountCheck.checkMountPoint(config.mountPoint()); // another may have mounted there meanwhile
            beginning.run();
            return new Daemon(config, null);
        }
    }

    private Daemon(MountConfig config, @Nullable Takeover takeover) throws IOException {
        this.config = config;
        ProgramLock.hold();
        try {
            if (takeover != null) {
                takeover.requireMounted();
            }
            DaemonContext context = DaemonContext.of(config, takeover, parts);
            SampleParts samples = SampleParts.start(context);
            MountParts mount = MountParts.start(context, samples, sessions);
            ControlParts control = ControlParts.start(context, samples, mount, sessions);
            parts.add(control.restarts()); // added again, so that the supervisor knows first that the mount ends
            parts.add(samples.reader()); // added again, so that it is closed first
            sessions.watch(mount.pages());
            AfterListing afterwards = new AfterListing(context, samples, mount, control, sessions);
            Thread.ofPlatform().daemon().name("indexer").start(() -> afterwards.run(() -> isListed = true));
        } catch (IOException | RuntimeException | Error e) {
            // A mount that is still there stays, for the process that the supervisor starts next.
            if (takeover == null || e instanceof UnmountedException) {
                close();
            }
            throw e;
        }
    }

    public MountConfig config() {
        return config;
    }

    /** Completes when the mount is gone, for any reason. */
    public CompletableFuture<Void> ended() {
        return sessions.ended();
    }

    /** Gives up the connections to the kernel, so that no reader waits for this process, which is about to end. */
    public void cut() {
        sessions.cut();
    }

    /** A second caller waits for the first. */
    @Override
    public synchronized void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        if (isListed) {
            LOG.log(Level.INFO, config.mountPoint() + " ends");
        }
        parts.close();
        cut();
        sessions.end();
    }
}
