package io.clairfs.tools.node;

import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.mount.FuseSession;
import io.clairfs.tools.node.restart.Takeover;
import io.clairfs.tools.node.restart.UnmountedException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Mounts the control files of a mount that goes on and had none at first, as while its user's fusermount is being replaced. The dataset is served
 * meanwhile.
 *
 * <p>Life cycle: the daemon makes it, which starts its thread, and closes it before the dataset's session. The thread ends when the control files are there.
 * The lock guards whether it is closed, and is not held while something is mounted.
 */
final class LateControlFiles implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Daemon.class.getName());
    private static final long PAUSE_MS = 1_000;
    private static final long END_TIMEOUT_MS = 2_000;

    private final Takeover.ControlMounting mounting;
    private final MountedSessions sessions;
    private final ErrorLog errors;
    private final Thread thread;
    private boolean closed;
    private @Nullable FuseSession mounted;

    /** {@code mounting} is tried once a second. */
    LateControlFiles(Takeover.ControlMounting mounting, MountedSessions sessions, ErrorLog errors) {
        this.mounting = mounting;
        this.sessions = sessions;
        this.errors = errors;
        thread = Thread.ofPlatform().daemon().name("control-mount").start(this::run);
    }

    private void run() {
        try {
            do {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            } while (!isOver());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (UnmountedException e) {
            LOG.log(Level.INFO, e.getMessage());
            sessions.end();
        }
    }

    /** Tries once. */
    private boolean isOver() throws UnmountedException {
        try {
            keep(mounting.mount());
            return true;
        } catch (UnmountedException e) {
            throw e;
        } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
            LOG.log(Level.DEBUG, "mounting the control files, is tried again", e);
            return isClosed();
        }
    }

    private void keep(FuseSession session) {
        boolean isTooLate;
        synchronized (this) {
            isTooLate = closed;
            mounted = session;
        }
        if (isTooLate) {
            session.close();
            return;
        }
        sessions.add(session);
        errors.add("the control files are there again");
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Takes the control files away, if they came. A mount that is under way is waited for, within a bound. */
    @Override
    public void close() {
        FuseSession session;
        synchronized (this) {
            closed = true;
            session = mounted;
        }
        thread.interrupt();
        if (session != null) {
            session.close();
        }
        try {
            thread.join(END_TIMEOUT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
