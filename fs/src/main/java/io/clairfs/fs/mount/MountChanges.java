package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.Readiness;

/**
 * Waits until something is mounted or unmounted, anywhere that this process sees. The kernel signals it ({@code proc_pid_mounts(5)}), so the
 * table need not be read again and again. For one thread.
 */
public final class MountChanges implements AutoCloseable {
    private static final byte[] TABLE = "/proc/self/mounts".getBytes(US_ASCII);

    private final int table;

    /** Waits for changes from now on. */
    public MountChanges() throws PosixException {
        table = Posix.openAt(Posix.AT_FDCWD, TABLE, Posix.O_RDONLY);
    }

    /** Returns at the first change since this was made or this method last returned, or after {@code timeoutMs} milliseconds. */
    public void await(int timeoutMs) throws PosixException {
        boolean _ = Readiness.awaitChange(timeoutMs, table);
    }

    @Override
    public void close() {
        Posix.close(table);
    }
}
