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
 * <p>Entries have the order of their samples, so that cutting both files at one sample leaves a valid pair. A sample's bytes are written
 * before its entry, so that an entry implies its sample. The sums belong to {@link SegmentLog} and are read and changed under its lock; the
 * files have a lock of their own.
 */
final class Segment {
    /** The most bytes of a data file before the next one is begun; a larger sample gets a file of its own. */
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

    /** Bytes of the data file, written or reserved. */
    long dataBytes;
    /** Entries of the index file, written or reserved. */
    int entries;

    long liveBytes;
    int liveSamples;
    /** Bytes that are being written, their entries included. */
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

    /** Its number in a {@link Places place}; 0 is no slot. */
    static int slot(int number) {
        return number & SLOT_MASK;
    }

    int slot() {
        return slot(number);
    }

    /** Bytes of both files. */
    long diskBytes() {
        return dataBytes + (long) entries * IndexEntry.BYTES;
    }

    /** Bytes that are neither live nor pending. */
    long deadBytes() {
        return diskBytes() - liveBytes - pendingBytes;
    }

    /** Whether it is sealed and no write to it is under way. */
    boolean isSettled() {
        return sealed && writers == 0;
    }

    /** Keeps the data file's bytes in place until {@link #unpin}. Returns false when the segment is claimed. */
    boolean pin() {
        return pins.updateAndGet(now -> now == CLAIMED ? CLAIMED : now + 1) != CLAIMED;
    }

    /** Ends a pin. Returns whether nothing is being sent from the segment any more. */
    boolean unpin() {
        int left = pins.decrementAndGet();
        assert left >= 0 : "unpinned too often";
        return left == 0;
    }

    /** Whether nothing is being sent from it. */
    boolean isUnpinned() {
        return pins.get() <= 0;
    }

    /** Refuses pins until {@link #unclaim}. Returns false when something is being sent. */
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

    /** Cuts both files; the index first, because an entry implies its data. */
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

    /** Closes the write descriptors of both files. */
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
