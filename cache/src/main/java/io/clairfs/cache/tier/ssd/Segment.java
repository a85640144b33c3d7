package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One pair of files: {@code 000001.data} with the bytes of samples and nothing else, and {@code 000001.index} with an
 * {@link IndexEntry} for each.
 *
 * <p>Entries stand in the order of their samples, so that cutting both files at one sample leaves a good pair; the sample's
 * bytes are written before its entry, so that an entry means a sample. The sums belong to {@link SegmentLog} and are read and
 * changed under its lock; the files have a lock of their own.
 */
final class Segment {
    /** The most that a data file takes before the next one is begun, bytes; a sample larger than that gets one of its own. */
    static final long LARGEST_BYTES = 1L << Places.OFFSET_BITS;

    static final int MOST_ENTRIES = 1 << Places.ENTRY_BITS;
    private static final int SLOT_MASK = (1 << Places.SEGMENT_BITS) - 1;
    private static final int CLOSED = -1;
    private static final int CLAIMED = -1;

    private final TierDirectory directory;
    private final int number;
    private int dataFd = CLOSED;
    private int indexFd = CLOSED;
    /** From this entry on, the index file has been cut. */
    private int cutAt = Integer.MAX_VALUE;

    /** Length of the data file, written or about to be. */
    long dataBytes;
    /** Entries of the index file, written or about to be. */
    int entries;

    long liveBytes;
    int liveSamples;
    /** Bytes that somebody is writing now, their entries included. */
    long pendingBytes;

    int writers;
    boolean sealed;

    /** Samples that are being sent from the data file, or {@link #CLAIMED}. */
    private final AtomicInteger pins = new AtomicInteger();

    private Segment(TierDirectory directory, int number) {
        this.directory = directory;
        this.number = number;
    }

    /** Makes both files, which must not exist yet. */
    static Segment create(TierDirectory directory, int number) throws PosixException {
        Segment made = new Segment(directory, number);
        int flags = Posix.O_WRONLY | Posix.O_CREAT | Posix.O_EXCL;
        made.dataFd = directory.open(dataName(number), flags);
        try {
            made.indexFd = directory.open(indexName(number), flags);
        } catch (PosixException e) {
            made.closeFiles();
            directory.delete(dataName(number));
            throw e;
        }
        return made;
    }

    /** A segment of an earlier mount, to which nothing is added any more. */
    static Segment existing(TierDirectory directory, int number, long dataBytes, int entries) {
        Segment found = new Segment(directory, number);
        found.dataBytes = dataBytes;
        found.entries = entries;
        found.sealed = true;
        return found;
    }

    static String dataName(int number) {
        return String.format(Locale.ROOT, "%06d.data", number);
    }

    static String indexName(int number) {
        return String.format(Locale.ROOT, "%06d.index", number);
    }

    int number() {
        return number;
    }

    /** What stands for it in a {@link Places place}; 0 is no slot. */
    static int slot(int number) {
        return number & SLOT_MASK;
    }

    int slot() {
        return slot(number);
    }

    /** What both files take, bytes. */
    long diskBytes() {
        return dataBytes + (long) entries * IndexEntry.BYTES;
    }

    /** What nobody needs any more, bytes. */
    long deadBytes() {
        return diskBytes() - liveBytes - pendingBytes;
    }

    /** Nobody adds to it, and nobody is about to. */
    boolean isSettled() {
        return sealed && writers == 0;
    }

    /** Holds the data file's bytes where they are, until {@link #unpin}. Returns false when somebody has claimed the segment. */
    boolean pin() {
        return pins.updateAndGet(now -> now == CLAIMED ? CLAIMED : now + 1) != CLAIMED;
    }

    /** Returns whether nothing is being sent from it any more. */
    boolean unpin() {
        int left = pins.decrementAndGet();
        assert left >= 0 : "unpinned too often";
        return left == 0;
    }

    /** Whether nothing is being sent from it. */
    boolean isUnpinned() {
        return pins.get() <= 0;
    }

    /** Nothing more is sent from it from now on, until {@link #unclaim}. Returns false when something is being sent. */
    boolean claim() {
        return pins.compareAndSet(0, CLAIMED) || pins.get() == CLAIMED;
    }

    void unclaim() {
        pins.compareAndSet(CLAIMED, 0);
    }

    /** Writes a sample, then its entry. */
    void write(IndexEntry entry, MemorySegment sample) throws PosixException {
        TierDirectory.write(dataFd, sample, entry.offset());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(IndexEntry.BYTES);
            entry.encode(bytes);
            TierDirectory.write(indexFd, bytes, (long) entry.entry() * IndexEntry.BYTES);
        }
    }

    /** Makes an entry unreadable, so that its sample does not come back after a restart. */
    synchronized void bury(int entry) throws PosixException {
        if (entry >= cutAt) {
            return;
        }
        int fd = directory.open(indexName(number), Posix.O_WRONLY);
        try (Arena arena = Arena.ofConfined()) {
            TierDirectory.write(fd, arena.allocate(IndexEntry.BYTES), (long) entry * IndexEntry.BYTES);
        } finally {
            Posix.close(fd);
        }
    }

    /** Cuts both files; the index first, because an entry promises its data. */
    synchronized void cut(int toEntries, long toDataBytes) throws PosixException {
        cutAt = toEntries;
        directory.truncate(indexName(number), (long) toEntries * IndexEntry.BYTES);
        directory.truncate(dataName(number), toDataBytes);
    }

    /** Removes both files. */
    synchronized void delete() throws PosixException {
        cutAt = 0;
        directory.delete(indexName(number));
        directory.delete(dataName(number));
    }

    /** Ends writing. */
    void closeFiles() {
        if (dataFd != CLOSED) {
            Posix.close(dataFd);
            dataFd = CLOSED;
        }
        if (indexFd != CLOSED) {
            Posix.close(indexFd);
            indexFd = CLOSED;
        }
    }
}
