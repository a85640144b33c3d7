package io.clairfs.tools.node;

import io.clairfs.fs.kernel.PageCache;
import io.clairfs.fs.mount.MountChanges;
import io.clairfs.fs.mount.MountedSession;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The connections of one mount to the kernel. The mount is over when one of them is, or when it is detached from the tree. */
final class MountedSessions {
    private static final Logger LOG = System.getLogger(Daemon.class.getName());

    /** The longest wait for a reported change; it only serves to notice the end of this daemon, or a change that the kernel did not report. */
    private static final int MOUNTED_CHECK_MS = 30_000;

    /** The pause between two checks, for machines with frequent mounts and unmounts. */
    private static final long MOUNTED_CHECK_PAUSE_MS = 50;

    private static final long SECOND_LOOK_MS = 100;

    private static final long FAILURE_PAUSE_MS = 10_000;

    private final List<MountedSession> all = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile boolean watched;

    <S extends MountedSession> S add(S session) {
        all.add(session);
        if (watched) {
            endWith(session);
        }
        return session;
    }

    private void endWith(MountedSession session) {
        var _ = session.ended().thenRun(this::end);
    }

    List<MountedSession> all() {
        return all;
    }

    /** Completes when the mount is gone, for any reason, once {@link #watch} was called. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    /** Begins to watch for the end of the mount. */
    void watch(PageCache pages) {
        watched = true;
        all.forEach(this::endWith);
        Thread.ofPlatform().daemon().name("detach-watcher").start(() -> endWhenDetached(pages));
    }

    /** The mount is over when it is detached from the tree, even while this or another process has files of it open. */
    private void endWhenDetached(PageCache pages) {
        boolean mounted = true;
        boolean told = false;
        while (mounted && !ended.isDone()) {
            try (MountChanges changes = new MountChanges()) {
                while (!ended.isDone() && isMounted(pages)) {
                    changes.await(MOUNTED_CHECK_MS);
                    TimeUnit.MILLISECONDS.sleep(MOUNTED_CHECK_PAUSE_MS);
                }
                mounted = false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                mounted = false;
            } catch (IOException | RuntimeException | OutOfMemoryError e) { // such as no free descriptor
                LOG.log(told ? Level.DEBUG : Level.WARNING, "a mount that is detached is noticed later", e);
                told = true;
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(FAILURE_PAUSE_MS));
            }
        }
        end();
    }

    /** Before Linux 5.8 the kernel's table of mounts may lack one while others come and go, as it is read piece by piece: so it is looked at twice. */
    private static boolean isMounted(PageCache pages) throws IOException, InterruptedException {
        if (pages.isMounted()) {
            return true;
        }
        TimeUnit.MILLISECONDS.sleep(SECOND_LOOK_MS);
        return pages.isMounted();
    }

    /** Gives up the connections, so that no reader waits for this process. */
    void cut() {
        all.forEach(MountedSession::cut);
    }

    /** The mount is over. */
    void end() {
        ended.complete(null);
    }
}
