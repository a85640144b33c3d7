package io.clairfs.fs.kernel;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.MemorySegment;

/** A queue of inotify's. */
interface WatchQueue extends AutoCloseable {
    /** Watches the directory at {@code path} from now on. Returns the watch's number in the queue's events. */
    int watch(byte[] path, int events) throws PosixException;

    /** Reads the events that are there. Returns their bytes, or 0 when there are none. */
    long read(MemorySegment into) throws PosixException;

    @Override
    void close();

    /** A new one of the kernel's. */
    static WatchQueue open() throws PosixException {
        int fd = KernelCalls.inotify();
        return new WatchQueue() {
            @Override
            public int watch(byte[] path, int events) throws PosixException {
                return KernelCalls.watch(fd, path, events);
            }

            @Override
            public long read(MemorySegment into) throws PosixException {
                return KernelCalls.readAvailable(fd, into);
            }

            @Override
            public void close() {
                Posix.close(fd);
            }
        };
    }
}
