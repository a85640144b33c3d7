package io.clairfs.fs.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.FoundEntries;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.worker.Worker;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Learns which files were read, without a message from the kernel to the daemon on the reader's path. Inotify on the mount's
 * directories reports every file that a reader closes.
 *
 * <p>During reads the queue is drained every few milliseconds rather than waited for, because waking a sleeping thread would cost
 * the reader time. After a while without reads, the next read wakes the watcher. Reads are followed less closely where a directory
 * cannot be watched, which {@link #watch} reports, and after the queue overflows, which the {@link Reader} is told.
 *
 * <p>Life cycle: the daemon makes it once the mount is there, which starts its worker if the kernel gives a queue. {@link #watch} adds
 * directories. The daemon closes it before the prefetcher, so that no read is reported to a job that ended. The worker closes the
 * queue when it ends.
 *
 * <p>Locks: its one lock guards {@code byWatch}. A directory is looked up through the mount under it, so no thread that answers the
 * kernel takes it: {@link #isWatched} takes none. The {@link Reader} and the listing are called without it.
 */
public final class ConsumptionWatcher implements AutoCloseable {
    private static final Logger LOG = System.getLogger(ConsumptionWatcher.class.getName());
    private static final long DRAIN_EVERY_MS = 5;

    /** After so many looks that found nothing the watcher waits for the next read. */
    private static final int IDLE_LOOKS = 100;

    private static final int BUFFER_BYTES = 256 * 1024;

    /** Those of an event without its name. */
    static final int EVENT_BYTES = 16;

    private static final long LISTED_ALREADY_MS = 1_000;

    private final DatasetTree tree;
    private final byte[] mountPoint;
    private final Reader reader;
    private final OwnCloses ownCloses;
    private final ReaderCloses readerCloses;
    private final @Nullable WatchQueue queue;
    /** Why there is no queue. */
    private final String noQueue;

    private final Set<Directory> watched = ConcurrentHashMap.newKeySet();
    private final Set<Directory> unwatched = ConcurrentHashMap.newKeySet();

    /**
     * The kernel's watches by number. Guarded by itself: making a watch and adding it here is one step, because its first events may be read
     * before its number is known.
     */
    private final Map<Integer, Directory> byWatch = new HashMap<>();

    /** Whether opens are reported besides, so that they come between two closes of one file. Guarded by {@code byWatch}. */
    private boolean readersApart;

    private final Worker worker;

    /** Looks in a row that found nothing. Only the worker uses this and the next five fields. */
    private int inVain;

    /** The name of the event that is handled. */
    private byte[] name = new byte[256];

    private final FoundEntries found = new FoundEntries();

    /** The files of this look that readers closed: the first {@link #count}. */
    private int[] files = new int[1024];

    private int count;
    private final MemorySegment buffer = Arena.ofAuto().allocate(BUFFER_BYTES, 8);

    /** Receives reports of reads. The watcher's worker calls it; it must not touch the mount. */
    public interface Reader {
        /** Readers closed the first {@code count} of these files, in this order. */
        void read(int[] files, int count);

        /** Returns whether a reader sent a request for this file since its last close. */
        default boolean isAsked(int file) {
            return false;
        }

        /**
         * Returns whether a reader sent a request for this file since its last close, and forgets it. The kernel reports a reader's close and
         * one of this process right behind it as one; that one counts as a read if this returns true.
         */
        default boolean takeAsked(int file) {
            return false;
        }

        /** Reports were lost, as when the queue overflowed: readers closed an unknown number of other files. */
        void reportsLost();
    }

    /** Starts to watch a mount in which this process opens nothing itself. */
    public ConsumptionWatcher(DatasetTree tree, Path mountPoint, Reader reader, ErrorLog errors) {
        this(tree, mountPoint, reader, errors, new OwnCloses(System::nanoTime), WatchQueue::open);
    }

    /**
     * Starts the worker. Nothing is watched before {@link #watch}, and nothing ever if the kernel gives no queue.
     *
     * @param pages knows the files of that mount that this process closes itself
     */
    public ConsumptionWatcher(DatasetTree tree, Path mountPoint, Reader reader, ErrorLog errors, PageCache pages) {
        this(tree, mountPoint, reader, errors, pages.ownCloses(), WatchQueue::open);
    }

    /** Makes the queue. */
    @FunctionalInterface
    interface QueueMaker {
        WatchQueue open() throws PosixException;
    }

    ConsumptionWatcher(
            DatasetTree tree, Path mountPoint, Reader reader, ErrorLog errors, OwnCloses ownCloses, QueueMaker maker) {
        this.ownCloses = ownCloses;
        readerCloses = new ReaderCloses(reader, ownCloses, buffer);
        this.tree = tree;
        this.mountPoint = mountPoint.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
        this.reader = reader;
        WatchQueue opened = null;
        String reason = "";
        try {
            opened = maker.open();
        } catch (PosixException e) {
            reason = e.getMessage() + "; raise fs.inotify.max_user_instances";
        }
        queue = opened;
        noQueue = reason;
        worker = new Worker("consumption-watcher", this::drainOrWait, errors);
        if (opened != null) {
            WatchQueue last = opened;
            worker.atEnd(() -> {
                        ownCloses.lookingEnds();
                        last.close();
                    })
                    .start();
        }
    }

    /** Watches these directories. Returns how many of them cannot be watched; if any, {@code failures} gets one line. */
    public int watch(List<Directory> directories, java.util.function.Consumer<String> failures) {
        int missing = 0;
        String reason = "";
        if (queue == null) {
            unwatched.addAll(directories);
            failures.accept("reads cannot be watched (" + noQueue + "); they are followed less closely");
            return directories.size();
        }
        for (Directory directory : directories) {
            if (watched.contains(directory)) {
                continue;
            }
            try {
                watch(queue, directory);
                unwatched.remove(directory);
            } catch (PosixException e) {
                missing++;
                unwatched.add(directory);
                reason = e.getMessage();
            }
        }
        if (missing > 0) {
            failures.accept(missing + " of " + directories.size() + " directories cannot be watched (" + reason
                    + "); reads there are followed less closely; raise fs.inotify.max_user_watches");
        }
        return missing;
    }

    private void watch(WatchQueue in, Directory directory) throws PosixException {
        synchronized (byWatch) {
            int opens = readersApart ? KernelCalls.IN_OPEN : 0;
            int number = in.watch(path(directory), KernelCalls.IN_CLOSE_NOWRITE | opens | KernelCalls.IN_ONLYDIR);
            byWatch.put(number, directory);
            watched.add(directory);
        }
    }

    /**
     * Whether two readers who read a file one right after the other are to be reported as two, not as one. Costs one more event of the kernel
     * for each read. Readers who have the file open at the same time may be reported as one all the same.
     */
    public void tellReadersApart(boolean apart) {
        synchronized (byWatch) {
            if (queue == null || readersApart == apart) {
                return;
            }
            readersApart = apart;
        }
        for (Directory directory : watched) { // the lock is free in between, for reports that come meanwhile
            try {
                watch(queue, directory);
            } catch (PosixException e) {
                LOG.log(Level.DEBUG, "readers are not told apart in one directory: " + e.getMessage());
            }
        }
    }

    /** How many directories could not be watched. */
    public int unwatched() {
        return unwatched.size();
    }

    /** Whether reads of files in this directory are reported. */
    public boolean isWatched(Directory directory) {
        return watched.contains(directory);
    }

    private byte[] path(Directory directory) {
        byte[] below = directory.path();
        byte[] path = Arrays.copyOf(mountPoint, mountPoint.length + 1 + below.length);
        path[mountPoint.length] = '/';
        System.arraycopy(below, 0, path, mountPoint.length + 1, below.length);
        return path;
    }

    private void drainOrWait() throws InterruptedException {
        WatchQueue events = Objects.requireNonNull(queue, "without one the worker is not started");
        try {
            long filled = drain(events);
            inVain = filled == 0 ? inVain + 1 : 0;
            if (inVain > IDLE_LOOKS) {
                ownCloses.lookingEnds();
                events.await();
            } else if (filled <= BUFFER_BYTES / 2) {
                TimeUnit.MILLISECONDS.sleep(DRAIN_EVERY_MS);
            }
        } catch (PosixException e) {
            LOG.log(Level.ERROR, "the kernel reports no more reads; they are followed less closely", e);
            watched.clear();
            worker.end();
        } catch (SourceException | RuntimeException | Error e) {
            reader.reportsLost(); // those that this look took from the queue
            throw new IllegalStateException("reports of reads were lost", e);
        }
    }

    /** Handles the events in the queue. Returns their bytes; if they fill more than half of the buffer, there may be more. */
    private long drain(WatchQueue events) throws PosixException, SourceException {
        long look = ownCloses.lookBegins();
        long filled = events.read(buffer);
        boolean isEmptied = filled <= BUFFER_BYTES / 2;
        count = 0;
        boolean lost = false;
        try {
            for (long at = 0; at < filled; ) {
                int watch = buffer.get(JAVA_INT, at);
                int mask = buffer.get(JAVA_INT, at + 4);
                int nameBytes = buffer.get(JAVA_INT, at + 12);
                if ((mask & KernelCalls.IN_Q_OVERFLOW) != 0) {
                    lost = true;
                } else if ((mask & KernelCalls.IN_IGNORED) != 0) {
                    forget(watch);
                } else if ((mask & KernelCalls.IN_CLOSE_NOWRITE) != 0
                        && (mask & KernelCalls.IN_ISDIR) == 0
                        && nameBytes > 0) {
                    int file = file(watch, at + EVENT_BYTES, nameBytes);
                    if (file >= 0 && readerCloses.isRead(file, at, filled, isEmptied)) {
                        add(file);
                    }
                }
                at += EVENT_BYTES + nameBytes;
            }
        } finally {
            if (isEmptied) { // also forgets reports that were lost; those of the closes that it makes now are to come
                ownCloses.emptied(look);
            }
        }
        if (isEmptied) {
            readerCloses.emptied(this::add);
        }
        if (count > 0) {
            reader.read(files, count);
        }
        if (lost) {
            reader.reportsLost();
        }
        return filled;
    }

    private void add(int file) {
        if (count == files.length) {
            files = Arrays.copyOf(files, count * 2);
        }
        files[count++] = file;
    }

    private void forget(int watch) {
        synchronized (byWatch) {
            Directory directory = byWatch.remove(watch);
            if (directory != null) {
                watched.remove(directory);
            }
        }
    }

    /** The file of a directory's event, by its name, which is padded with zeros in the buffer. */
    private int file(int watch, long at, int paddedBytes) throws SourceException {
        @Nullable Directory directory;
        synchronized (byWatch) {
            directory = byWatch.get(watch);
        }
        if (directory == null) {
            return -1;
        }
        if (name.length < paddedBytes) {
            name = new byte[paddedBytes];
        }
        MemorySegment.copy(buffer, JAVA_BYTE, at, name, 0, paddedBytes);
        int length = paddedBytes;
        while (length > 0 && name[length - 1] == 0) {
            length--;
        }
        Listing listing = tree.list(directory, LISTED_ALREADY_MS);
        int entry = found.find(listing, name, length);
        return entry >= 0 && listing.kind(entry) == Listing.Kind.FILE ? listing.base() + entry : -1;
    }

    /** Ends watching. */
    @Override
    public void close() {
        worker.end();
        try {
            if (queue != null) {
                queue.wake();
            }
        } catch (PosixException e) {
            LOG.log(Level.DEBUG, "the consumption watcher ends with the next read: " + e.getMessage());
        }
        worker.close();
    }
}
