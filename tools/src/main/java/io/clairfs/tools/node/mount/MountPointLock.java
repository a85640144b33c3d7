package io.clairfs.tools.node.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.DiskCalls;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps other daemons from a mount point while one mounts there: the kernel would put one mount on top of the other. The directory below the mount is
 * what is locked; the kernel gives the lock up when the process dies.
 */
public final class MountPointLock implements AutoCloseable {
    private static final Logger LOG = System.getLogger(MountPointLock.class.getName());
    private static final int NONE = -1;
    private static final long LONGEST_WAIT_MS = 30_000;
    private static final long POLL_MS = 20;

    private final int descriptor;

    private MountPointLock(int descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Takes the lock of a directory on which nothing is mounted; waits for who has it, but no longer than a mount takes: a filesystem may lock for all its
     * nodes, and a user may have locked the directory too. Where the filesystem has no locks, or this user may not read the directory, there is none to take.
     */
    public static MountPointLock take(Path mountPoint) {
        return take(mountPoint, LONGEST_WAIT_MS);
    }

    static MountPointLock take(Path mountPoint, long mostMs) {
        int descriptor = NONE;
        try {
            descriptor = Posix.openAt(
                    Posix.AT_FDCWD, mountPoint.toString().getBytes(UTF_8), Posix.O_RDONLY | Posix.O_DIRECTORY);
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(mostMs);
            while (!DiskCalls.tryLock(descriptor) && System.nanoTime() < deadline) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(POLL_MS));
            }
        } catch (PosixException e) {
            LOG.log(Level.DEBUG, "no lock of " + mountPoint + ": " + e.getMessage());
        }
        return new MountPointLock(descriptor);
    }

    @Override
    public void close() {
        if (descriptor != NONE) {
            Posix.close(descriptor);
        }
    }
}
