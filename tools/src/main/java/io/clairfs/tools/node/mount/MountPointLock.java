package io.clairfs.tools.node.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.DiskCalls;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.fs.mount.MountException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;

/**
 * Keeps other daemons from a mount point while one mounts there: the kernel would put one mount on top of the other. The directory below the mount is
 * what is locked; the kernel gives the lock up when the process dies.
 */
public final class MountPointLock implements AutoCloseable {
    private static final Logger LOG = System.getLogger(MountPointLock.class.getName());
    private static final int NONE = -1;

    private final int descriptor;

    private MountPointLock(int descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Takes the lock of a directory on which nothing is mounted. Where the filesystem has no locks, or this user may not read the directory, there is
     * none to take.
     *
     * @throws MountException if another process mounts there now
     */
    public static MountPointLock take(Path mountPoint) throws MountException {
        int descriptor = NONE;
        try {
            descriptor = Posix.openAt(
                    Posix.AT_FDCWD, mountPoint.toString().getBytes(UTF_8), Posix.O_RDONLY | Posix.O_DIRECTORY);
            if (DiskCalls.tryLock(descriptor)) {
                return new MountPointLock(descriptor);
            }
            Posix.close(descriptor);
        } catch (PosixException e) {
            LOG.log(Level.DEBUG, "no lock of " + mountPoint + ": " + e.getMessage());
            return new MountPointLock(descriptor);
        }
        throw new MountException("mount point " + mountPoint
                + " is busy: another process is mounting there; wait for it, or choose another directory");
    }

    @Override
    public void close() {
        if (descriptor != NONE) {
            Posix.close(descriptor);
        }
    }
}
