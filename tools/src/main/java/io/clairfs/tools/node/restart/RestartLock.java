package io.clairfs.tools.node.restart;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Says that a {@link RestartDirectory} is in use, to whoever shares the file system, in whichever namespace. The kernel gives it up when the process
 * dies.
 */
final class RestartLock implements AutoCloseable {
    static final String FILE = "lock";

    private final FileChannel file;

    private RestartLock(FileChannel file) {
        this.file = file;
    }

    /** Takes the lock of a directory. Returns null when another process, or this one, has it. */
    static @Nullable RestartLock take(Path directory) throws IOException {
        FileChannel file =
                FileChannel.open(directory.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = null;
        try {
            lock = file.tryLock();
        } catch (OverlappingFileLockException ours) {
            assert lock == null;
        } finally {
            if (lock == null) {
                file.close();
            }
        }
        return lock == null ? null : new RestartLock(file);
    }

    /** Whether a process has the lock of a directory. False where the file system has no locks. */
    static boolean isTaken(Path directory) {
        try (RestartLock free = take(directory)) {
            return free == null;
        } catch (IOException noLocks) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
