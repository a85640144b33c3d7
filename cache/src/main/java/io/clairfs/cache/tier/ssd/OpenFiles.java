package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Descriptors of data files for readers. Those used last stay open, up to a bound: a large cache has more segments than a process may have
 * descriptors. One in use is closed when its last reader is done, even when its file is deleted already.
 */
final class OpenFiles implements AutoCloseable {
    private final Opening files;
    private final int most;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Integer, Handle> open = new LinkedHashMap<>(16, 0.75f, true);

    /** How many threads open a file, and the segments that were dropped meanwhile: their files are not kept open. */
    private int opening;

    private final Set<Integer> droppedMeanwhile = new HashSet<>();

    OpenFiles(TierDirectory directory, int most) {
        this(number -> directory.open(Segment.dataName(number), Posix.O_RDONLY), most);
    }

    OpenFiles(Opening files, int most) {
        this.files = files;
        this.most = most;
    }

    /** Opens the data file of a segment. */
    @FunctionalInterface
    interface Opening {
        int open(int number) throws PosixException;
    }

    /** A descriptor with its number of users. */
    static final class Handle {
        private final int fd;
        private int users = 1;
        private boolean dropped;
        private volatile @Nullable FileChannel channel;

        private Handle(int fd) {
            this.fd = fd;
        }

        int fd() {
            return fd;
        }

        /** The same file as a channel, open as long as the descriptor; null when it cannot be opened. */
        @Nullable
        FileChannel channel() {
            FileChannel known = channel;
            return known != null ? known : openChannel();
        }

        private synchronized @Nullable FileChannel openChannel() {
            try {
                if (channel == null) {
                    channel = FileChannel.open(Path.of("/proc/self/fd/" + fd), StandardOpenOption.READ);
                }
                return channel;
            } catch (IOException e) {
                return null; // out of descriptors: the sample is read instead
            }
        }

        private void close() {
            Posix.close(fd);
            FileChannel made = channel;
            if (made != null) {
                try {
                    made.close();
                } catch (IOException e) {
                    throw new AssertionError("nothing was written", e);
                }
            }
        }
    }

    /** The data file of a segment; the caller must {@link #release} it. */
    Handle acquire(int number) throws PosixException {
        Handle known = acquireIfOpen(number);
        if (known != null) {
            return known;
        }
        begin();
        Handle opened = null;
        try {
            opened = new Handle(files.open(number)); // may wait for the disk
        } finally {
            if (opened == null) {
                boolean _ = wasDropped(number);
            }
        }
        lock.lock();
        try {
            if (wasDropped(number)) {
                opened.dropped = true;
                return opened;
            }
            Handle handle = open.get(number);
            if (handle != null) { // another thread was faster
                opened.close();
                handle.users++;
                return handle;
            }
            handle = opened;
            open.put(number, handle);
            if (open.size() > most) {
                close(open.keySet().iterator().next());
            }
            return handle;
        } finally {
            lock.unlock();
        }
    }

    private void begin() {
        lock.lock();
        try {
            opening++;
        } finally {
            lock.unlock();
        }
    }

    /** Ends an opening. Returns whether the segment was dropped since any that is under way began. */
    private boolean wasDropped(int number) {
        lock.lock();
        try {
            opening--;
            boolean dropped = droppedMeanwhile.contains(number);
            if (opening == 0) {
                droppedMeanwhile.clear();
            }
            return dropped;
        } finally {
            lock.unlock();
        }
    }

    /** The same if it is open already, otherwise null. */
    @Nullable
    Handle acquireIfOpen(int number) {
        lock.lock();
        try {
            Handle handle = open.get(number);
            if (handle != null) {
                handle.users++;
            }
            return handle;
        } finally {
            lock.unlock();
        }
    }

    void release(Handle handle) {
        lock.lock();
        try {
            handle.users--;
            if (handle.dropped && handle.users == 0) {
                handle.close();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Closes a segment's file when its last reader is done. */
    void drop(int number) {
        lock.lock();
        try {
            close(number);
            if (opening > 0) {
                droppedMeanwhile.add(number);
            }
        } finally {
            lock.unlock();
        }
    }

    private void close(int number) {
        lock.lock();
        try {
            Handle handle = open.remove(number);
            if (handle != null) {
                handle.dropped = true;
                if (handle.users == 0) {
                    handle.close();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            for (int number : open.keySet().stream().toList()) {
                close(number);
            }
        } finally {
            lock.unlock();
        }
    }
}
