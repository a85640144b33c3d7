package io.clairfs.fs.kernel;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.Readiness;
import java.lang.foreign.MemorySegment;

/** An inotify queue. */
interface WatchQueue extends AutoCloseable {
    /** Watches the directory at {@code path} from now on. Returns the watch's number in the queue's events. */
    int watch(byte[] path, int events) throws PosixException;

    /** Reads the events that are there. Returns their bytes, or 0 when there are none. */
    long read(MemorySegment into) throws PosixException;

    /** Waits until there are events, or {@link #wake} was called. */
    void await() throws PosixException;

    /** Ends every wait, later ones too. */
    void wake() throws PosixException;

    @Override
    void close();

    /** Opens a queue of the kernel. */
    static WatchQueue open() throws PosixException {
        int fd = KernelCalls.inotify();
        int wakeUp;
        try {
            wakeUp = KernelCalls.event();
        } catch (PosixException e) {
            Posix.close(fd);
            throw e;
        }
        return new WatchQueue() {
            private boolean closed;

            @Override
            public int watch(byte[] path, int events) throws PosixException {
                return KernelCalls.watch(fd, path, events);
            }

            @Override
            public long read(MemorySegment into) throws PosixException {
                return KernelCalls.readAvailable(fd, into);
            }

            @Override
            public void await() throws PosixException {
                boolean _ = Readiness.await(Readiness.FOREVER, fd, wakeUp);
            }

            @Override
            public synchronized void wake() throws PosixException {
                if (!closed) {
                    KernelCalls.makeReadable(wakeUp);
                }
            }

            @Override
            public synchronized void close() {
                closed = true;
                Posix.close(fd);
                Posix.close(wakeUp);
            }
        };
    }
}
