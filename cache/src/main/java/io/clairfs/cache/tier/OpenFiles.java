package io.clairfs.cache.tier;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Descriptors of data files for readers: those used last stay open, up to a bound, because a large cache has more segments
 * than a process may have descriptors. One in use is closed when its last reader is done, even when its file is gone already.
 */
final class OpenFiles implements AutoCloseable {
    private final TierDirectory directory;
    private final int most;
    private final Map<Integer, Handle> open = new LinkedHashMap<>(16, 0.75f, true);

    OpenFiles(TierDirectory directory, int most) {
        this.directory = directory;
        this.most = most;
    }

    /** A descriptor with the number of those who use it. */
    static final class Handle {
        private final int fd;
        private int users = 1;
        private boolean dropped;

        private Handle(int fd) {
            this.fd = fd;
        }

        int fd() {
            return fd;
        }
    }

    /** The data file of a segment, to be given back with {@link #release}. */
    synchronized Handle acquire(int number) throws PosixException {
        Handle handle = open.get(number);
        if (handle != null) {
            handle.users++;
            return handle;
        }
        handle = new Handle(directory.open(Segment.dataName(number), Posix.O_RDONLY));
        open.put(number, handle);
        if (open.size() > most) {
            drop(open.keySet().iterator().next());
        }
        return handle;
    }

    synchronized void release(Handle handle) {
        handle.users--;
        if (handle.dropped && handle.users == 0) {
            Posix.close(handle.fd);
        }
    }

    /** Lets go of a segment's file, after it was deleted. */
    synchronized void drop(int number) {
        Handle handle = open.remove(number);
        if (handle != null) {
            handle.dropped = true;
            if (handle.users == 0) {
                Posix.close(handle.fd);
            }
        }
    }

    @Override
    public synchronized void close() {
        for (int number : open.keySet().stream().toList()) {
            drop(number);
        }
    }
}
