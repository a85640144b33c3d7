package io.clairfs.tools.node.mount;

import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.fs.mount.FuseConnection;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountTable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/** Checks before a mount whether it can work, so that each problem gets one clear line. */
public final class MountCheck {
    private static final Path DEVICE = Path.of("/dev/fuse");
    private static final String OUR_TYPE = "fuse.clairfs";
    private static final long ANSWER_TIMEOUT_MS = 10_000;

    /** As long as the supervisor waits for a new process. */
    private static final long RESTART_TIMEOUT_MS = 60_000;

    private static final long RESTART_POLL_MS = 100;

    private MountCheck() {}

    /**
     * Refuses a mount that cannot work; removes the mount that a killed daemon left at the mount point.
     *
     * @param isBeingStarted whether the process of the mount at a mount point is being started again, which is waited for, unless the mount
     *     refuses this user. As long as it is, the mount is not removed
     */
    public static void check(Path source, Path mountPoint, Predicate<Path> isBeingStarted) throws IOException {
        checkSource(source);
        checkFusermount();
        clearDeadMount(mountPoint, isBeingStarted);
        checkMountPoint(mountPoint);
        if (source.startsWith(mountPoint) || mountPoint.startsWith(source)) {
            throw new MountException("source " + source + " and mount point " + mountPoint
                    + " lie inside one another; choose a mount point elsewhere");
        }
        checkDevice();
    }

    /**
     * The path as in the kernel's mount table: without links. A path that cannot be resolved keeps its own last name. Mounts of ours are not
     * resolved, because they may not answer.
     */
    public static Path real(Path path) {
        Path absolute = path.toAbsolutePath();
        Path plain = absolute.normalize();
        Path parent = plain.getParent();
        try {
            if (isOurs(plain)) {
                return plain;
            }
            Path below = parent == null ? plain : parent.toRealPath().resolve(plain.getFileName());
            return isOurs(below) ? below : absolute.toRealPath();
        } catch (IOException missingOrDead) {
            return parent == null ? plain : real(parent).resolve(plain.getFileName());
        }
    }

    private static void checkSource(Path source) throws MountException {
        if (!Files.exists(source)) {
            throw new MountException("source " + source + " does not exist");
        }
        if (!Files.isDirectory(source)) {
            throw new MountException("source " + source + " is not a directory");
        }
        if (!Files.isReadable(source) || !Files.isExecutable(source)) {
            throw new MountException("source " + source + " cannot be read by this user; check its permissions");
        }
    }

    /** Refuses a mount point that is missing, not empty, or has a mount. */
    public static void checkMountPoint(Path mountPoint) throws IOException {
        Optional<MountTable.Mount> mounted = MountTable.at(mountPoint);
        if (mounted.isPresent()) {
            throw new MountException("mount point " + mountPoint + " is busy: "
                    + mounted.get().device() + " (" + mounted.get().type() + ") is mounted there; unmount it first: "
                    + (mounted.get().type().equals(OUR_TYPE) ? "clairfs umount " : "umount ") + mountPoint);
        }
        if (!Files.exists(mountPoint, LinkOption.NOFOLLOW_LINKS)) {
            throw new MountException("mount point " + mountPoint + " does not exist; make it: mkdir -p " + mountPoint);
        }
        if (!Files.isDirectory(mountPoint)) {
            throw new MountException("mount point " + mountPoint + " is not a directory");
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(mountPoint)) {
            if (entries.iterator().hasNext()) {
                throw new MountException("mount point " + mountPoint + " is not empty; choose an empty directory");
            }
        }
    }

    /** Without fusermount an ordinary user cannot mount, and nobody can unmount. */
    private static void checkFusermount() throws MountException {
        Path program = Fusermount.find();
        if (program == null) {
            throw new MountException("fusermount is not on the PATH: install the package 'fuse'");
        }
        if (ProcessIdentity.userId() != 0 && !Fusermount.mayMountForUsers(program)) {
            throw new MountException(program + " may not mount for ordinary users: as root, chown root " + program
                    + " && chmod 4755 " + program);
        }
    }

    private static void checkDevice() throws MountException {
        if (!Files.exists(DEVICE)) {
            throw new MountException(
                    "there is no /dev/fuse: load the kernel module (modprobe fuse), or give the container the device"
                            + " (--device /dev/fuse)");
        }
        if (!Files.isReadable(DEVICE) || !Files.isWritable(DEVICE)) {
            throw new MountException("/dev/fuse may not be opened by this user: as root, chmod 0666 /dev/fuse");
        }
    }

    /** Removes a mount of ours whose daemon is gone: it answers only ENOTCONN. */
    private static void clearDeadMount(Path mountPoint, Predicate<Path> isBeingStarted) throws IOException {
        if (isOurs(mountPoint) && isDead(mountPoint, isBeingStarted)) {
            remove(mountPoint);
        }
    }

    /**
     * Removes a mount of ours that no process serves any more, with its control files, even while they are in use. Processes that wait for
     * one of its files get an error.
     */
    public static void remove(Path mountPoint) throws IOException {
        FuseConnection.abort(mountPoint);
        if (isOurs(mountPoint)) {
            Fusermount.detach(mountPoint);
        }
        ControlPoint.removeLeftOf(mountPoint);
    }

    /** Whether a dataset is mounted at {@code mountPoint}. */
    public static boolean isOurs(Path mountPoint) throws IOException {
        return MountTable.at(mountPoint).filter(m -> m.type().equals(OUR_TYPE)).isPresent();
    }

    /**
     * Whether no daemon serves the mount at {@code mountPoint}, and none will; its control files are always live. A daemon that hangs is not dead, nor is
     * one that answers another user alone, or whose control files are not to be seen from here. One that was killed, and that the kernel keeps from ending,
     * is dead and does not answer either. Before one that is being started has control files it may serve readers for long.
     */
    private static boolean isDead(Path mountPoint, Predicate<Path> isBeingStarted) throws IOException {
        Path status = mountPoint.resolve(DatasetMount.CONTROL_DIRECTORY).resolve("status.json");
        ControlRead.Answer answer = ControlRead.read(status, ANSWER_TIMEOUT_MS);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RESTART_TIMEOUT_MS);
        while (answer instanceof ControlRead.Answer.Refused refused
                && !refused.isOfPermission()
                && isBeingStarted.test(mountPoint)) {
            if (System.nanoTime() > deadline) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(RESTART_POLL_MS));
            answer = ControlRead.read(status, ANSWER_TIMEOUT_MS);
        }
        return switch (answer) {
            case ControlRead.Answer.Content _ -> false;
            case ControlRead.Answer.Refused refused ->
                refused.isOfDeadMount()
                        || (!refused.isOfPermission()
                                && MountProcess.of(mountPoint).isEmpty());
            case ControlRead.Answer.Silence _ ->
                MountProcess.of(mountPoint).isEmpty() && !isBeingStarted.test(mountPoint);
        };
    }
}
