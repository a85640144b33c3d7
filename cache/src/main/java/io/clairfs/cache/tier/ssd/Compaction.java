package io.clairfs.cache.tier.ssd;

import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Turns dead bytes into room, a step at a time. Segments without live samples are deleted. Then the segment with the fewest live bytes is
 * shrunk from its end: dead samples are cut off, live ones are moved to the active segment.
 *
 * <p>Cutting from the end needs room for a few samples only, so all of the capacity can be in use. Where even that is not free, the samples
 * wait in memory while their old place is cut ({@link MovesByMemory}); a crash then loses them, but the source still has them. Every sample is verified on the way.
 * A segment from which a sample is being sent is pinned and left alone, and nothing is sent from the segment that is being shrunk. When all
 * segments worth shrinking are pinned, new pins are refused for a moment, and the first segment without pins is taken. Not thread-safe.
 *
 * <p>A failed write ends a segment early, and so does each mount; the resulting small segments are merged ({@link #merge}).
 */
final class Compaction {
    /** Samples are moved in batches of about this size, bytes, because each batch costs two calls that cut a file. */
    private static final long BATCH_BYTES = 1 << 20;

    /** How long no step waits for pins after some did not end: a stalled receiver is cut off after the same time. */
    private static final long AFTER_STUCK_PINS_NS = TimeUnit.SECONDS.toNanos(10);

    private final SegmentLog log;
    private final FreeSpace freeSpace;
    private final Victims victims;
    private final Places places;
    private final KeptSamples samples;
    private final WritesUnderWay writes;
    private final OpenFiles openFiles;
    private final SegmentPins pins;
    private final LongSupplier clock;
    private boolean pinsStuck;
    private long pinsStuckAtNs;
    private @Nullable Segment victim;
    /** Entry and file of the samples that the victim had when it was chosen, in order of entries. */
    private long[] candidates = {};

    private int left;

    Compaction(
            SegmentLog log,
            FreeSpace freeSpace,
            Places places,
            KeptSamples samples,
            WritesUnderWay writes,
            OpenFiles openFiles,
            SegmentPins pins,
            LongSupplier clock) {
        this.log = log;
        this.freeSpace = freeSpace;
        victims = new Victims(log);
        this.places = places;
        this.samples = samples;
        this.writes = writes;
        this.openFiles = openFiles;
        this.pins = pins;
        this.clock = clock;
    }

    /** One sample that is being moved. */
    private record Moving(int file, long place, SampleBuffer sample) {}

    /**
     * Does one step; waits for pins, for a bounded time, if nothing else can be done.
     *
     * @return false when there is nothing to gain
     * @throws PosixException when a file cannot be removed or cut
     */
    boolean step() throws PosixException {
        if (deleteDead()) {
            return true;
        }
        Segment segment = victim;
        if (segment == null || !log.isWorthwhile(segment) || !segment.claim()) {
            segment = choose(victims.sparsest());
        }
        if (segment == null) {
            return log.sealActiveIfWorthwhile() || awaitPins();
        }
        return shrink(segment);
    }

    private boolean deleteDead() throws PosixException {
        Segment dead = victims.dead();
        return dead != null && delete(dead);
    }

    /** Removes a segment from the disk unless it is pinned. Returns whether it did. */
    private boolean delete(Segment segment) throws PosixException {
        if (!segment.claim()) {
            return false;
        }
        try {
            log.delete(segment);
        } catch (PosixException e) {
            segment.unclaim(); // what is live there is served further
            throw e;
        }
        openFiles.drop(segment.number());
        return true;
    }

    /** Waits until a segment without pins can be shrunk or deleted. Returns whether there is one. */
    private boolean awaitPins() {
        boolean justTried = pinsStuck && clock.getAsLong() - pinsStuckAtNs < AFTER_STUCK_PINS_NS;
        if (justTried || !victims.isRoomPinned()) {
            return false;
        }
        rest();
        AtomicReference<Segment> free = new AtomicReference<>();
        pinsStuck = !pins.holdBackUntil(() -> {
            free.set(claimed(victims.sparsest()));
            return free.get() != null || victims.dead() != null;
        });
        pinsStuckAtNs = clock.getAsLong();
        take(free.get());
        return !pinsStuck;
    }

    /** Ends a series of steps: samples may be sent from all segments again. */
    void rest() {
        if (victim != null) {
            victim.unclaim();
        }
    }

    /** Moves the samples of the smallest segment to the active one, if there are many small ones and room for it. */
    void merge() throws PosixException {
        Segment small = victims.smallestOfMany();
        if (small == null || !log.hasRoomFor(small) || choose(small) == null) {
            return;
        }
        while (victim == small) {
            if (!shrink(small)) {
                return; // the disk accepts no writes
            }
        }
        boolean _ = deleteDead();
    }

    /**
     * Removes segments with their samples, oldest first, until the disk holds no more than {@code bytes}: the capacity may be less than at the last
     * mount. Segments without live samples go before all others. To be called before samples are read or written.
     *
     * <p>However many segments go, the places are walked once, after the last of them: a place in a segment that is gone is forgotten then. No entry
     * is buried, because its index file goes as a whole, and before the data.
     *
     * @param goesOn is asked before each segment whether to remove it
     * @throws PosixException when a segment cannot be removed; its samples stay, and so do those of the next ones
     */
    void shrinkTo(long bytes, BooleanSupplier goesOn) throws PosixException {
        BitSet gone = new BitSet();
        try {
            for (Segment segment : victims.deadThenOldest()) {
                if (log.diskBytes() <= bytes || !goesOn.getAsBoolean()) {
                    return;
                }
                if (delete(segment)) {
                    gone.set(segment.slot());
                }
            }
        } finally {
            places.forget(gone);
        }
    }

    /** Claims the next segment to shrink; a pinned one is left for later. */
    private @Nullable Segment choose(@Nullable Segment next) {
        rest();
        return take(claimed(next));
    }

    private static @Nullable Segment claimed(@Nullable Segment segment) {
        return segment != null && segment.claim() ? segment : null;
    }

    private @Nullable Segment take(@Nullable Segment chosen) {
        victim = chosen;
        candidates = chosen == null ? new long[0] : places.filesIn(chosen.slot());
        left = candidates.length;
        return chosen;
    }

    /**
     * Cuts off dead samples at the end of the segment or, where the last sample is live, moves a batch from there. Returns whether that
     * succeeded.
     */
    private boolean shrink(Segment segment) throws PosixException {
        long last = lastLive(segment);
        if (last == Places.NOWHERE) {
            victim = null; // dead by now: the next step deletes it
            return true;
        }
        if (Places.entry(last) + 1 < log.entries(segment)) {
            log.cut(segment, Places.entry(last) + 1, Places.offset(last) + samples.size(lastFile()));
            return true;
        }
        int before = left;
        boolean moved = false;
        List<Moving> batch = new ArrayList<>();
        try {
            long bytes = 0;
            long cutAt = last;
            for (long place = last; place != Places.NOWHERE && bytes < BATCH_BYTES; place = lastLive(segment)) {
                cutAt = place;
                Moving taken = take(lastFile(), place);
                if (taken != null) {
                    batch.add(taken);
                    bytes += taken.sample.size();
                }
                left--;
            }
            moved = move(segment, batch, cutAt);
            return moved;
        } finally {
            if (!moved) {
                left = before; // what is live there must not be taken for dead
            }
            for (Moving each : batch) {
                samples.moves().end(each.file);
                writes.end(each.file, places.get(each.file) != Places.NOWHERE);
                each.sample.release();
            }
        }
    }

    private int lastFile() {
        return (int) candidates[left - 1];
    }

    /** The place of the last candidate that is still in the segment; {@link Places#NOWHERE} when there is none. */
    private long lastLive(Segment segment) {
        for (; left > 0; left--) {
            long place = places.get(lastFile());
            if (Places.slot(place) == segment.slot()) {
                return place;
            }
        }
        return Places.NOWHERE;
    }

    /**
     * Reads the sample and excludes its other writers; null when it is not at {@code place} any more.
     *
     * @throws PosixException when it cannot be read now
     */
    private @Nullable Moving take(int file, long place) throws PosixException {
        while (!writes.tryBegin(file)) {
            // Its writer found it here and is about to end; or it was evicted and is being written anew.
            if (places.get(file) != place) {
                return null;
            }
            Thread.onSpinWait();
        }
        SampleBuffer sample = null;
        try {
            sample = places.get(file) == place ? samples.readAt(file, place) : null;
        } finally {
            if (sample == null) {
                writes.end(file, false);
            }
        }
        return sample == null ? null : new Moving(file, place, sample);
    }

    /** Moves the batch and cuts the segment at {@code cutAt}. Returns false when nothing was cut. */
    private boolean move(Segment segment, List<Moving> batch, long cutAt) throws PosixException {
        long[] sizes = batch.stream().mapToLong(each -> each.sample.size()).toArray();
        long bytes = 0;
        for (long size : sizes) {
            bytes += size + IndexEntry.BYTES;
        }
        int entry = Places.entry(cutAt);
        long offset = Places.offset(cutAt);
        if (log.hasRoom(bytes) && freeSpace.allows(bytes)) {
            if (!write(batch, log.reserveAll(sizes), true)) {
                return false;
            }
            log.cut(segment, entry, offset);
        } else {
            for (Moving each : batch) {
                samples.moves().begin(each.file, each.sample);
                if (!log.retract(places, each.file, each.place, each.sample.size())) {
                    boolean _ = samples.moves().evict(each.file); // it went after it was read
                }
            }
            write(batch, log.cutAndReserve(segment, entry, offset, sizes), false);
        }
        return true;
    }

    /** Writes the batch to {@code spots}. Returns whether no sample is at its old place any more. */
    private boolean write(List<Moving> batch, List<SegmentLog.Spot> spots, boolean stillThere) {
        int used = 0;
        try {
            while (used < spots.size()) {
                Moving each = batch.get(used);
                SegmentLog.Spot spot = spots.get(used);
                used++;
                samples.write(each.file, each.sample, stillThere ? each.place : Places.NOWHERE, spot);
            }
        } finally {
            spots.subList(used, spots.size()).forEach(log::giveBack);
        }
        return batch.stream().noneMatch(each -> places.get(each.file) == each.place);
    }
}
