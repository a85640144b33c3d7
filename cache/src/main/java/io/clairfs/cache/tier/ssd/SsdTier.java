package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.StoredSample;
import io.clairfs.cache.tier.Tier;
import io.clairfs.cache.tier.TierFailures;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Samples on a local disk; they survive a restart.
 *
 * <p>Samples are packed into {@link Segment segments}, so that small ones do not cost a file each, and keyed by path, size and modification
 * time, so that they are found again when the dataset is listed anew. Nothing is synchronised to the disk: a checksum over identity and
 * bytes is verified whenever a sample is read, and a sample damaged by a crash or the disk is forgotten and fetched from the source again.
 * Until {@link #recover} the tier is empty and accepts nothing.
 *
 * <p>The directory of the dataset never holds more than the capacity, dead samples and index included; {@link Compaction} turns dead ones
 * into room.
 */
public final class SsdTier implements Tier {
    /** Bytes of the capacity that a sample takes beside its own. */
    public static final int ENTRY_BYTES = IndexEntry.BYTES;

    /**
     * As many bytes of samples may be evicted to bring a disk back above its reserve. Where more are missing, others have taken the room, and evicting would lose
     * much and might gain nothing.
     */
    private static final long MOST_EVICTED_BYTES = 64L << 20;

    /** How long a writer that needs room waits for samples that are being sent; one takes milliseconds. */
    private static final long PINS_END_WITHIN_NS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Data files that stay open for readers. */
    private static final int MOST_OPEN_FILES = 512;

    private final long capacityBytes;
    private final TierDirectory directory;
    private final MediumHealth health;
    private final FreeSpace freeSpace;
    private final SegmentLog log;
    private final OpenFiles openFiles;
    private final SegmentPins pins;
    private final LongSupplier clock;
    private final WritesUnderWay writes = new WritesUnderWay();
    private final ReentrantLock makingRoom = new ReentrantLock();
    /** The read lock is held while files are used; {@link #close} takes the write lock. */
    private final ReadWriteLock use = new ReentrantReadWriteLock();

    private volatile @Nullable Contents contents;
    private boolean closed;

    /** The state once the tree is known. */
    private record Contents(KeptSamples samples, Compaction compaction) {}

    /**
     * Opens the tier.
     *
     * @param root a directory on a local disk; made if its parent exists
     * @param sourcePath the real path of the source, which names the dataset's directory below {@code root}
     * @param capacityBytes most bytes of the dataset's directory
     * @param reserveBytes bytes of the filesystem that stay free for others
     * @param clock nanoseconds, as {@link System#nanoTime}
     * @param errors takes a line now and then when the disk fails
     * @throws IOException when the directory cannot be used, or another mount uses it; the message says what to do
     */
    public SsdTier(
            Path root,
            String sourcePath,
            long capacityBytes,
            long reserveBytes,
            LongSupplier clock,
            Consumer<String> errors)
            throws IOException {
        this(root, sourcePath, capacityBytes, reserveBytes, clock, errors, PINS_END_WITHIN_NS);
    }

    SsdTier(
            Path root,
            String sourcePath,
            long capacityBytes,
            long reserveBytes,
            LongSupplier clock,
            Consumer<String> errors,
            long pinsEndWithinNs)
            throws IOException {
        this(new TierDirectory(root, sourcePath, false), capacityBytes, reserveBytes, clock, errors, pinsEndWithinNs);
    }

    /**
     * As the constructor, where the last mount's process was killed: it may keep the directory locked until its last thread has ended, and writes
     * nothing any more.
     */
    public static SsdTier inherited(
            Path root,
            String sourcePath,
            long capacityBytes,
            long reserveBytes,
            LongSupplier clock,
            Consumer<String> errors)
            throws IOException {
        TierDirectory directory = new TierDirectory(root, sourcePath, true);
        return new SsdTier(directory, capacityBytes, reserveBytes, clock, errors, PINS_END_WITHIN_NS);
    }

    private SsdTier(
            TierDirectory directory,
            long capacityBytes,
            long reserveBytes,
            LongSupplier clock,
            Consumer<String> errors,
            long pinsEndWithinNs) {
        this(directory, directory::freeBytes, capacityBytes, reserveBytes, clock, errors, pinsEndWithinNs);
    }

    /** {@code disk} measures what is free on the disk of {@code directory}. */
    SsdTier(
            TierDirectory directory,
            FreeSpace.Measurement disk,
            long capacityBytes,
            long reserveBytes,
            LongSupplier clock,
            Consumer<String> errors,
            long pinsEndWithinNs) {
        this.directory = directory;
        pins = new SegmentPins(pinsEndWithinNs);
        this.capacityBytes = capacityBytes;
        this.clock = clock;
        health = new MediumHealth(clock, errors);
        freeSpace = new FreeSpace(disk, reserveBytes, clock);
        log = new SegmentLog(directory, capacityBytes);
        openFiles = new OpenFiles(directory, MOST_OPEN_FILES);
    }

    /**
     * Bytes of the disk that an earlier mount of the source at {@code sourcePath} has taken below {@code root}. The next mount counts them within its
     * capacity, so it needs free space for the rest alone. 0 where no mount was, or where this user may not look.
     */
    public static long bytesLeft(Path root, String sourcePath) {
        return TierDirectory.bytesLeft(root, sourcePath);
    }

    /**
     * Makes the samples of earlier mounts of the same source available; from then on the tier accepts samples. To be called once.
     *
     * @param tree completely listed; files are numbered as in it from now on
     */
    public void recover(DatasetTree tree) {
        assert tree.complete().isDone() : "the tree is still being listed";
        use.readLock().lock();
        try {
            assert contents == null : "recovered before";
            if (closed) {
                return;
            }
            Places places = new Places(tree.entryCount());
            new Recovery(directory, tree, places, log, health).run();
            KeptSamples samples = new KeptSamples(tree, places, log, openFiles, pins, health);
            Compaction compaction = new Compaction(log, freeSpace, places, samples, writes, openFiles, pins, clock);
            try {
                compaction.shrinkTo(capacityBytes, this::letCloseIn);
            } catch (PosixException e) {
                health.writeFailed("cannot make the SSD cache as small as it should be (" + e.getMessage() + ")");
            }
            if (!closed) {
                contents = new Contents(samples, compaction);
            }
        } finally {
            use.readLock().unlock();
        }
    }

    /** Gives the read lock up for a moment: to remove thousands of files takes long. Returns whether the tier is still open. */
    private boolean letCloseIn() {
        use.readLock().unlock();
        use.readLock().lock();
        return !closed;
    }

    @Override
    public String name() {
        return "ssd";
    }

    @Override
    public boolean contains(int file) {
        Contents now = contents;
        return now != null && now.samples.contains(file);
    }

    @Override
    public @Nullable SampleBuffer get(int file) {
        use.readLock().lock();
        try {
            Contents now = contents;
            return now == null ? null : now.samples.read(file);
        } finally {
            use.readLock().unlock();
        }
    }

    @Override
    public @Nullable StoredSample openStored(int file) {
        if (!use.readLock().tryLock()) {
            return null; // it is being closed
        }
        try {
            Contents now = contents;
            return now == null ? null : now.samples.openStored(file);
        } finally {
            use.readLock().unlock();
        }
    }

    @Override
    public boolean keep(int file, SampleBuffer sample) {
        use.readLock().lock();
        try {
            Contents now = contents;
            if (now == null || !now.samples.isInTree(file)) {
                return false;
            }
            // One that is on its way to another place may not get there: who keeps it waits for that.
            boolean here = now.samples.isWritten(file)
                    || writes.runOrJoin(file, () -> now.samples.isWritten(file) || write(now, file, sample));
            if (log.mayBeFragmented() && health.mayWrite()) {
                merge(now.compaction);
            }
            return here;
        } finally {
            use.readLock().unlock();
        }
    }

    private boolean write(Contents now, int file, SampleBuffer sample) {
        assert sample.size() == now.samples.size(file) : "a sample of another size than was listed";
        long bytes = sample.size() + IndexEntry.BYTES;
        if (!log.couldFit(sample.size()) || !health.mayWrite()) {
            return false;
        }
        if (!freeSpace.take(bytes) && !makeRoomOnDisk(now.compaction, bytes)) {
            health.diskFull("the SSD cache in " + directory.path()
                    + " could hold more, but its disk has no more room than is reserved for others");
            return false;
        }
        try {
            return writeWhereThereIsRoom(now, file, sample);
        } finally {
            freeSpace.written(bytes);
        }
    }

    /** Removes dead samples until the disk has room for so many bytes, and takes it. Returns whether it did. */
    private boolean makeRoomOnDisk(Compaction compaction, long bytes) {
        makingRoom.lock();
        try {
            long dead = log.deadBytes();
            if (!freeSpace.allows(bytes, dead) && freeSpace.allows(bytes, dead + MOST_EVICTED_BYTES)) {
                return false; // others are evicted first: compacting after each of them would move samples in vain
            }
            while (log.deadBytes() > 0 && health.mayWrite() && compaction.step()) {
                freeSpace.changed();
                if (freeSpace.take(bytes)) {
                    return true;
                }
            }
        } catch (PosixException e) {
            health.writeFailed("cannot remove what is not needed from the SSD cache in " + directory.path() + " ("
                    + e.getMessage() + "); trying again later");
        } finally {
            compaction.rest();
            makingRoom.unlock();
        }
        return false;
    }

    private boolean writeWhereThereIsRoom(Contents now, int file, SampleBuffer sample) {
        SegmentLog.Spot spot;
        try {
            spot = reserve(now.compaction, sample.size());
        } catch (PosixException e) {
            health.writeFailed("cannot write to the SSD cache in " + directory.path() + " (" + e.getMessage()
                    + "); trying again later");
            return false;
        }
        return spot != null && now.samples.write(file, sample, Places.NOWHERE, spot);
    }

    private SegmentLog.@Nullable Spot reserve(Compaction compaction, long size) throws PosixException {
        SegmentLog.Spot spot = log.reserve(size);
        if (spot != null) {
            return spot;
        }
        makingRoom.lock();
        try {
            while (true) {
                spot = log.reserve(size);
                if (spot != null || !log.couldFit(size) || !health.mayWrite() || !compaction.step()) {
                    return spot;
                }
            }
        } finally {
            compaction.rest();
            makingRoom.unlock();
        }
    }

    /** Not called while this thread writes a sample, which may be in the merged segment. */
    private void merge(Compaction compaction) {
        if (!makingRoom.tryLock()) {
            return; // the next sample tries again
        }
        try {
            compaction.merge();
        } catch (PosixException e) {
            health.writeFailed("cannot merge small files of the SSD cache in " + directory.path() + " ("
                    + e.getMessage() + "); trying again later");
        } finally {
            compaction.rest();
            makingRoom.unlock();
        }
    }

    @Override
    public void evict(int file) {
        use.readLock().lock();
        try {
            Contents now = contents;
            if (now != null) {
                now.samples.evict(file);
            }
        } finally {
            use.readLock().unlock();
        }
    }

    @Override
    public long capacityBytes() {
        return capacityBytes;
    }

    @Override
    public long sampleRoomBytes() {
        return Math.max(0, capacityBytes - TierDirectory.fixedBytes());
    }

    @Override
    public long bytesOf(long sampleBytes) {
        return sampleBytes + ENTRY_BYTES;
    }

    /** Bytes of the live samples and their index entries; dead samples count as room. */
    @Override
    public long usedBytes() {
        return contents == null ? 0 : log.liveBytes();
    }

    @Override
    public int samples() {
        return contents == null ? 0 : log.liveSamples();
    }

    @Override
    public boolean isRecovered() {
        return contents != null;
    }

    @Override
    public boolean isWritable() {
        return contents != null && health.mayWrite() && freeSpace.allows(0);
    }

    @Override
    public boolean couldTake(long sampleBytes) {
        long held = log.diskBytes() - TierDirectory.fixedBytes();
        long removed = Math.min(held, log.deadBytes() + MOST_EVICTED_BYTES);
        return contents != null && health.mayWrite() && freeSpace.allows(sampleBytes + ENTRY_BYTES, removed);
    }

    @Override
    public boolean mayGrowBy(long bytes) {
        return log.deadBytes() >= bytes || freeSpace.allows(bytes);
    }

    @Override
    public TierFailures failures() {
        return health.failures();
    }

    /** Bytes of the dataset's directory on the disk, dead samples included. */
    long diskBytes() {
        return log.diskBytes();
    }

    /** Waits for reads and writes under way and releases the directory; the samples stay on the disk for the next mount. */
    @Override
    public void close() {
        use.writeLock().lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            contents = null;
            log.sealActive();
            openFiles.close();
            directory.close();
        } finally {
            use.writeLock().unlock();
        }
    }
}
