package io.clairfs.tools.node.restart;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.NumberedListings;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.view.View;
import io.clairfs.fs.mount.FuseConnection;
import io.clairfs.fs.mount.FuseSession;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountTable;
import io.clairfs.fs.mount.MountedSession;
import io.clairfs.tools.node.job.UnfinishedJob;
import io.clairfs.tools.node.mount.MountProcess;
import io.clairfs.tools.node.mount.MountProcess.State;
import io.clairfs.tools.node.mount.RestartProcesses;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The mount of a process that died, for the process that goes on with it.
 *
 * @param directory what that one kept
 * @param mount where the mount is
 * @param number the device of the mount as in /proc/self/mountinfo; null if the supervisor, which knows it, is gone
 * @param predecessor the number of that process, of which threads may be left
 * @param supervisor the number of the process that started this one
 */
public record Takeover(
        RestartDirectory directory,
        SavedMount mount,
        @Nullable String number,
        long predecessor,
        long supervisor) {
    /** The session's device, as the supervisor hands it on. */
    public static final int DEVICE = 3;

    private static final int CONTROL_TRIES = 20;
    private static final long CONTROL_PAUSE_MS = 100;
    private static final int PREDECESSOR_LOOKS = 100;
    private static final long PORT_PAUSE_MS = 1_000;
    private static final Logger LOG = System.getLogger(Takeover.class.getName());

    /**
     * Reads what was kept in {@code directory}.
     *
     * @param mountPoint of the session that the supervisor holds; null if it does not say
     * @throws IOException also if it was kept for another mount: its numbers mean other files
     */
    public static Takeover of(Path directory, @Nullable Path mountPoint, long predecessor, long supervisor)
            throws IOException {
        RestartDirectory kept = new RestartDirectory(directory);
        SavedMount mount = SavedMount.read(kept);
        if (mountPoint != null && !mountPoint.equals(mount.mountPoint())) {
            throw new IOException("what " + directory + " has is of " + mount.mountPoint() + ", not of " + mountPoint);
        }
        return new Takeover(kept, mount, RestartProcesses.number(supervisor), predecessor, supervisor);
    }

    /**
     * Looks, before this process touches anything, whether the mount is still there.
     *
     * @throws UnmountedException if it is not, after the end of the supervisor; another may be in its place
     */
    public void requireMounted() throws IOException {
        Path point = mount.mountPoint();
        if (!FuseConnection.isMounted(point, number != null ? number : FuseConnection.device(point), DEVICE)) {
            throw unmounted();
        }
    }

    /** As {@link #requireMounted()}, when this process has the session. */
    public void requireMounted(MountedSession session) throws IOException {
        if (!session.isMounted()) {
            throw unmounted();
        }
    }

    /** The supervisor knows the mount by its number alone, which may be that of another by now. */
    private UnmountedException unmounted() {
        ProcessHandle.current()
                .parent()
                .filter(parent -> parent.pid() == supervisor)
                .ifPresent(_ -> endSupervisor());
        AbandonedRestarts.removeIfUnused(directory.path());
        return new UnmountedException(mount.mountPoint());
    }

    /** The tree with the numbers by which the kernel knows it. */
    public DatasetTree tree(Source source, View view, int parallelism, Consumer<String> warnings) throws IOException {
        return DatasetTree.restored(NumberedListings.read(directory.listing(), view), source, parallelism, warnings);
    }

    /**
     * Looks whether a process that makes this view could go on with the tree, without reading it.
     *
     * @throws IOException the reason why it could not
     */
    public void requireTree(View view) throws IOException {
        NumberedListings.requireReadable(directory.listing(), view);
    }

    /** The jobs that ran. A file that cannot be read is a warning: the mount is worth more. */
    public List<UnfinishedJob> jobs(Consumer<String> warnings) {
        try {
            return SavedJobs.read(directory, warnings);
        } catch (IOException e) {
            warnings.accept("the jobs of the process before this one are lost: " + e.getMessage());
            return List.of();
        }
    }

    /** Mounts the control files. */
    @FunctionalInterface
    public interface ControlMounting {
        FuseSession mount() throws IOException;
    }

    /**
     * Takes the control files of that process out of the tree, for nobody answers there, and mounts new ones. A program that mounted for that process
     * may still be about to, so this is tried for some seconds.
     *
     * @param session of the dataset; if it is not mounted any more, the control files are another's
     */
    public FuseSession replaceControlFiles(MountedSession session, ControlMounting mounting) throws IOException {
        for (int left = CONTROL_TRIES; ; left--) {
            try {
                return replaceControlFilesOnce(session, mounting);
            } catch (UnmountedException e) {
                throw e;
            } catch (IOException e) {
                if (left == 0) {
                    throw e;
                }
                LOG.log(Level.INFO, "mounting the control files once more: " + e.getMessage());
            }
            try {
                TimeUnit.MILLISECONDS.sleep(CONTROL_PAUSE_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while mounting the control files", e);
            }
        }
    }

    /** The same, tried once. */
    public FuseSession replaceControlFilesOnce(MountedSession session, ControlMounting mounting) throws IOException {
        removeControlFiles(session);
        requireMounted(session);
        return mounting.mount();
    }

    private void removeControlFiles(MountedSession session) throws IOException {
        Path point = mount.control().path();
        while (MountTable.at(point).isPresent()) {
            requireMounted(session);
            try {
                Fusermount.detach(point);
            } catch (MountException e) {
                if (MountTable.at(point).isPresent()) {
                    throw e;
                }
            }
        }
    }

    /** What needs the ports of the process before this one. */
    @FunctionalInterface
    public interface OnItsPorts {
        void run() throws Exception;
    }

    /**
     * Runs {@code step} when that process's last thread has ended, which keeps its ports, or after some seconds all the same; and again once a second
     * while it fails and that thread is still there. Requests that keep it from ending are answered meanwhile.
     */
    public void runOnItsPorts(OnItsPorts step) throws Exception {
        for (int left = PREDECESSOR_LOOKS; left > 0 && isPredecessorThere(); left--) {
            TimeUnit.MILLISECONDS.sleep(CONTROL_PAUSE_MS);
        }
        boolean isTold = false;
        while (true) {
            boolean isTaken = isPredecessorThere();
            try {
                step.run();
                return;
            } catch (IOException e) {
                if (!isTaken) {
                    throw e;
                }
                LOG.log(
                        isTold ? Level.DEBUG : Level.INFO,
                        "the process before this one has not ended, tries again: " + e.getMessage());
                isTold = true;
            }
            TimeUnit.MILLISECONDS.sleep(PORT_PAUSE_MS);
        }
    }

    private boolean isPredecessorThere() {
        return MountProcess.state(predecessor) != State.GONE;
    }

    /** Ends the supervisor that started this process, which has one of its own now. */
    void endSupervisor() {
        boolean told = ProcessHandle.of(supervisor).map(ProcessHandle::destroy).orElse(false);
        if (!told) {
            LOG.log(Level.WARNING, "the supervisor " + supervisor + " was not there any more");
        }
    }
}
