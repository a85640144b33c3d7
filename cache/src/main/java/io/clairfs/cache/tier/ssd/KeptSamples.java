package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.StoredSample;
import java.nio.channels.FileChannel;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the samples of one tree on the disk with all checks, writes them and forgets them.
 *
 * <p>A reader holds no lock. It looks up the place, reads and checks. If a check fails, it looks whether the sample is still at that place:
 * if it was moved or evicted meanwhile, nothing was wrong.
 */
final class KeptSamples {
    /** Errors that say nothing of the disk. */
    private static final Set<Integer> OF_THIS_PROCESS = Set.of(Errno.EMFILE, Errno.ENFILE, Errno.ENOMEM);

    private final DatasetTree tree;
    private final Places places;
    private final SegmentLog log;
    private final OpenFiles openFiles;
    private final SegmentPins pins;
    private final MediumHealth health;
    private final MovesByMemory moves = new MovesByMemory();

    KeptSamples(
            DatasetTree tree,
            Places places,
            SegmentLog log,
            OpenFiles openFiles,
            SegmentPins pins,
            MediumHealth health) {
        this.tree = tree;
        this.places = places;
        this.log = log;
        this.openFiles = openFiles;
        this.pins = pins;
        this.health = health;
    }

    /** The samples that compaction moves by way of memory. */
    MovesByMemory moves() {
        return moves;
    }

    /** Whether the sample is here: on the disk, or on its way to another place there. */
    boolean contains(int file) {
        return isWritten(file) || moves.has(file) || isWritten(file); // the move may have ended between the two looks
    }

    /** Whether the sample has its place on the disk. */
    boolean isWritten(int file) {
        return places.get(file) != Places.NOWHERE;
    }

    boolean isInTree(int file) {
        return file >= 0 && file < places.files();
    }

    long size(int file) {
        return tree.keptSize(file);
    }

    private SampleIdentity identity(int file) {
        Entry entry = tree.entry(file);
        return SampleIdentity.of(tree.view(), entry.listing(), entry.at());
    }

    /** The sample, verified, or null; a damaged sample is counted and forgotten. */
    @Nullable
    SampleBuffer read(int file) {
        while (true) {
            long place = places.get(file);
            if (place == Places.NOWHERE) {
                SampleBuffer moving = moves.get(file);
                if (moving != null || !isWritten(file)) {
                    return moving;
                }
                continue;
            }
            try {
                SampleBuffer sample = readAt(file, place);
                if (sample != null) {
                    return sample;
                }
            } catch (PosixException e) {
                health.readFailed("cannot read a sample from the SSD cache now (" + e.getMessage()
                        + "); it is read from the source");
                return null;
            }
        }
    }

    /**
     * The sample at {@code place}, verified; null when it is not there any more.
     *
     * @throws PosixException when this process lacks what it takes to read it now; the disk may be well
     */
    @Nullable
    SampleBuffer readAt(int file, long place) throws PosixException {
        Segment segment = log.segment(place);
        if (segment == null) {
            return null;
        }
        SampleIdentity identity = identity(file);
        SampleBuffer sample = SampleBuffer.allocate(identity.size());
        boolean good = false;
        try {
            long n = readBytes(segment, place, sample);
            if (n < sample.size()) {
                readFailed(file, place, "the data file ends early");
            } else if (identity.crc(sample.bytes()) == places.crc(file)) {
                good = true;
                return sample;
            } else if (forget(file, place)) {
                health.wrongChecksum("a sample in segment " + segment.number()
                        + " of the SSD cache is damaged; it is read from the source");
            }
        } catch (PosixException e) {
            if (OF_THIS_PROCESS.contains(e.errno())) {
                throw e;
            }
            readFailed(file, place, e.getMessage());
        } finally {
            if (!good) {
                sample.release();
            }
        }
        return null;
    }

    private long readBytes(Segment segment, long place, SampleBuffer into) throws PosixException {
        OpenFiles.Handle handle = openFiles.acquire(segment.number());
        try {
            return TierDirectory.read(handle.fd(), into.bytes(), Places.offset(place));
        } finally {
            openFiles.release(handle);
        }
    }

    /**
     * The sample in its data file, pinned there; null unless it is here, the file is open, and the page cache has it. Waits neither for the
     * disk nor for a thread that does.
     */
    @Nullable
    StoredSample openStored(int file) {
        long place = places.get(file);
        Segment segment = place == Places.NOWHERE ? null : log.segment(place);
        if (segment == null || !pins.pin(segment)) {
            return null;
        }
        int crc = places.crc(file);
        SampleIdentity identity = identity(file);
        OpenFiles.Handle handle = openFiles.acquireIfOpen(segment.number());
        boolean there = handle != null
                && places.get(file) == place // then the checksum belongs to it, and the pin keeps it there
                && CachedPages.isCached(handle.fd(), Places.offset(place), identity.size());
        FileChannel channel = handle == null || !there ? null : handle.channel();
        Runnable done = () -> {
            if (handle != null) {
                openFiles.release(handle);
            }
            pins.unpin(segment);
        };
        if (channel == null) {
            done.run();
            return null;
        }
        return new StoredSample(channel, Places.offset(place), identity.size(), identity.crcOfData(crc), done);
    }

    private void readFailed(int file, long place, @Nullable String why) {
        if (forget(file, place)) {
            health.readFailed("cannot read a sample from the SSD cache (" + why + "); it is read from the source");
        }
    }

    /** Forgets the sample, also after a restart if the disk allows, unless it is elsewhere by now. Returns whether it did. */
    boolean forget(int file, long place) {
        Segment segment = log.segment(place);
        if (!log.retract(places, file, place, size(file)) || segment == null) {
            return false;
        }
        bury(segment, Places.entry(place));
        return true;
    }

    /** Forgets the sample wherever it is, and wherever it is on its way to. */
    void evict(int file) {
        while (true) {
            long place = places.get(file);
            if (place != Places.NOWHERE) {
                boolean _ = forget(file, place);
            } else if (moves.evict(file) || !isWritten(file)) {
                return;
            }
        }
    }

    private static void bury(Segment segment, int entry) {
        try {
            segment.bury(entry);
        } catch (PosixException e) {
            // Then it may come back after a restart, where it is checked like every other.
        }
    }

    /**
     * Writes the sample of {@code file}, which was at {@code expected}, to {@code spot}.
     *
     * @return whether it is there now; a failure to write is counted
     */
    boolean write(int file, SampleBuffer sample, long expected, SegmentLog.Spot spot) {
        SampleIdentity identity = identity(file);
        int crc = identity.crc(sample.bytes());
        IndexEntry entry =
                new IndexEntry(identity, spot.offset(), spot.segment().number(), spot.entry(), crc);
        boolean written = false;
        try {
            spot.segment().write(entry, sample.bytes());
            written = true;
        } catch (PosixException e) {
            health.writeFailed("cannot write to the SSD cache (" + e.getMessage() + "); trying again later");
            return false;
        } finally {
            if (!written) {
                log.giveBack(spot);
            }
        }
        places.setCrc(file, crc);
        if (!moves.publish(file, () -> log.publish(places, file, expected, spot), () -> log.discard(spot))) {
            bury(spot.segment(), spot.entry());
            return false;
        }
        return true;
    }
}
