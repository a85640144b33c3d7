package io.clairfs.cache.stage;

import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.tier.SampleBuffer;
import it.unimi.dsi.fastutil.ints.Int2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The samples that are in the staging area, within a budget of bytes and of samples.
 *
 * <p>A sample is wanted by the stream positions that have not been read yet. Once no position wants it, it stays until its room is needed,
 * oldest first: so a reader that opens a file twice, or a dataset that fits, costs no second push. Samples that are wanted are never
 * dropped for others.
 *
 * <p>Life cycle: the prefetcher makes it, and closes it last. Its lock is taken inside that of a job, and none inside it. The staging area
 * is never called under it: a push or a drop may wait for a reader.
 */
public final class StagingBuffer {
    private final StagingArea area;
    private final long capacityBytes;
    private final int capacitySamples;
    private final Int2ObjectOpenHashMap<Place> places = new Int2ObjectOpenHashMap<>();

    /** In the order in which they ceased to be wanted. */
    private final Int2ObjectLinkedOpenHashMap<Place> unwanted = new Int2ObjectLinkedOpenHashMap<>();

    private long unwantedBytes;
    private long usedBytes;
    private int usedSamples;
    private boolean closed;

    public StagingBuffer(StagingArea area, long capacityBytes, int capacitySamples) {
        this.area = area;
        this.capacityBytes = capacityBytes;
        this.capacitySamples = capacitySamples;
    }

    /** The states of a sample's room, in order. Steps may be left out; only a lost sample goes back, from staged to reserved. */
    private enum State {
        /** Taken for a position. */
        RESERVED,
        /** A thread is bringing the sample: its {@link Loading}. */
        LOADING,
        /** A reader finds it. */
        STAGED,
        /** It has to leave for another, and takes its room until it has left. */
        LEAVING,
        /** Its room is free. */
        GONE
    }

    /** Room for one sample in the staging area. */
    static final class Place {
        private final int file;
        private final long bytes;
        private int wanted = 1;
        private State state = State.RESERVED;

        /** Changes under the lock of the buffer; every read asks whether the next sample is there, and takes none. */
        private volatile StagingArea.@Nullable Staged staged;

        /** The rest of a lost sample that has to be brought once more. */
        private StagingArea.@Nullable Staged remains;

        private Place(int file, long bytes) {
            this.file = file;
            this.bytes = bytes;
        }
    }

    /**
     * The task of one thread to bring a sample into its place. Closing ends it in any case: the samples that had to leave have left, and
     * the room of a sample that did not come is free. Once the sample has come, the task is done: if it is lost before the task is closed,
     * its place is another one's.
     */
    public final class Loading implements AutoCloseable {
        private final Place place;
        private final List<Place> leaving;
        private boolean mine;

        private Loading(Place place, List<Place> leaving, boolean mine) {
            this.place = place;
            this.leaving = new ArrayList<>(leaving);
            this.mine = mine;
        }

        /** Whether this thread has to bring the sample: no other does, and it is still wanted, and has not come. */
        public boolean isMine() {
            return mine;
        }

        /** Whether a position still wants it. */
        public boolean isWanted() {
            return StagingBuffer.this.isWanted(place);
        }

        /**
         * Brings what is missing of a sample that was lost, unless that is more than half of it. Blocks for as long as its source takes.
         *
         * @return false when the sample has to be brought as a whole
         */
        public boolean mend(StagingArea.Parts from) throws IOException, SourceException {
            boolean isMended = mine && StagingBuffer.this.mend(place, from);
            if (isMended) {
                mine = false;
            }
            return isMended;
        }

        /** Makes room, and puts the bytes into the staging area. Waits for readers of the leaving files and of this one. */
        public void stage(SampleBuffer buffer) throws IOException {
            dropLeaving();
            StagingBuffer.this.stage(place, buffer, area::stage);
            mine = false;
        }

        /** The same of a sample that the trainer was first to read, if most of it is there: it stays until its room is needed, and its next epoch may find it. */
        public void stageRead(SampleBuffer buffer) throws IOException {
            dropLeaving();
            StagingBuffer.this.stage(place, buffer, area::stageRead);
            mine = false;
        }

        private void dropLeaving() {
            while (!leaving.isEmpty()) {
                drop(List.of(leaving.removeLast()));
            }
        }

        @Override
        public void close() {
            try {
                dropLeaving();
            } finally {
                if (mine) {
                    StagingArea.Staged remains = giveUpUnlessStaged(place);
                    if (remains != null) {
                        remains.drop();
                    }
                }
            }
        }
    }

    /**
     * Reserves room for a sample, or shares its place if it has one.
     *
     * @param leaving receives what has to leave for it; the caller hands it to {@link #load}, and then holds no lock, for a drop may wait
     *     for a reader
     * @return null when too much is still wanted, the sample is just leaving, or the buffer is closed
     */
    synchronized @Nullable Place reserve(int file, long bytes, List<Place> leaving) {
        if (closed || bytes > capacityBytes) {
            return null;
        }
        Place present = places.get(file);
        if (present != null) {
            if (present.state == State.LEAVING) {
                return null;
            }
            if (unwanted.remove(file) != null) {
                unwantedBytes -= present.bytes;
            }
            present.wanted++;
            return present;
        }
        if (usedBytes - unwantedBytes + bytes > capacityBytes || usedSamples - unwanted.size() >= capacitySamples) {
            return null;
        }
        // A leaving sample makes room for this one alone, and counts until it has left.
        long bytesLeft = capacityBytes - usedBytes;
        int placesLeft = capacitySamples - usedSamples;
        while ((bytesLeft < bytes || placesLeft < 1) && !unwanted.isEmpty()) {
            Place oldest = unwanted.removeFirst();
            oldest.state = State.LEAVING;
            unwantedBytes -= oldest.bytes;
            bytesLeft += oldest.bytes;
            placesLeft++;
            leaving.add(oldest);
        }
        if (bytesLeft < bytes || placesLeft < 1) {
            throw new AssertionError("there was room among the unwanted");
        }
        Place place = new Place(file, bytes);
        places.put(file, place);
        usedBytes += bytes;
        usedSamples++;
        return place;
    }

    /** Whether this file is leaving: there is no room for it meanwhile. Also true once closed. */
    synchronized boolean isLeaving(int file) {
        Place place = places.get(file);
        return closed || (place != null && place.state == State.LEAVING);
    }

    /** Takes samples out of the staging area. */
    void drop(List<Place> leaving) {
        for (Place place : leaving) {
            StagingArea.Staged staged;
            synchronized (this) {
                staged = place.staged;
                place.staged = null;
            }
            try {
                if (staged != null) {
                    staged.drop();
                }
            } finally {
                synchronized (this) {
                    remove(place);
                }
            }
        }
    }

    /**
     * Begins to bring a sample into its place.
     *
     * @param leaving as {@link #reserve} gave it
     */
    public synchronized Loading load(Place place, List<Place> leaving) {
        boolean mine = !closed && place.state == State.RESERVED;
        if (mine) {
            place.state = State.LOADING;
        }
        return new Loading(place, leaving, mine);
    }

    private synchronized boolean isWanted(Place place) {
        return place.wanted > 0;
    }

    /** Whether the sample of this place can be read without a request. */
    public boolean isStaged(Place place) {
        return place.staged != null;
    }

    /** Whether this file can be read without a request. */
    public synchronized boolean isStaged(int file) {
        Place place = places.get(file);
        return place != null && place.staged != null;
    }

    /** Whether this file can be read without a request, but for what was lost of it. */
    public synchronized boolean isPartlyStaged(int file) {
        Place place = places.get(file);
        return place != null && (place.staged != null || place.remains != null);
    }

    /** Whether the sample of this place was lost, and no thread brings it yet. */
    public synchronized boolean isToBeBroughtAgain(Place place) {
        return place.state == State.RESERVED && place.remains != null;
    }

    /**
     * Checks whether the sample of this place is still there. If not, it has to be brought once more: {@link #load} says so to its next
     * caller.
     *
     * @return whether the loss was found now
     */
    public boolean isLost(Place place) {
        StagingArea.Staged staged;
        synchronized (this) {
            staged = place.staged;
        }
        if (staged == null || staged.isWhole()) {
            return false;
        }
        synchronized (this) {
            if (place.state != State.STAGED || place.wanted == 0) {
                return false;
            }
            place.state = State.RESERVED;
            place.remains = place.staged;
            place.staged = null;
            return true;
        }
    }

    private boolean mend(Place place, StagingArea.Parts from) throws IOException, SourceException {
        StagingArea.Staged remains;
        synchronized (this) {
            remains = place.remains;
        }
        List<StagingArea.Part> missing = remains == null ? null : remains.missing();
        if (remains == null || missing == null || bytes(missing) > place.bytes / 2) {
            return false;
        }
        for (StagingArea.Part part : missing) {
            SampleBuffer read = SampleBuffer.allocate(part.bytes());
            try {
                from.read(part.offset(), read.bytes());
                if (!remains.stageAgain(part.offset(), read.bytes())) {
                    return false;
                }
            } finally {
                read.release();
            }
        }
        synchronized (this) {
            if (place.state == State.LOADING) { // else the buffer was closed meanwhile, and has dropped it
                place.remains = null;
                isStaged(place, remains);
            }
        }
        return true;
    }

    private static long bytes(List<StagingArea.Part> parts) {
        return parts.stream().mapToLong(StagingArea.Part::bytes).sum();
    }

    private void isStaged(Place place, StagingArea.Staged staged) {
        place.staged = staged;
        place.state = State.STAGED;
        if (place.wanted == 0) {
            keepUnwanted(place);
        }
    }

    @FunctionalInterface
    private interface Push {
        StagingArea.Staged run(int file, MemorySegment bytes) throws IOException;
    }

    private void stage(Place place, SampleBuffer buffer, Push push) throws IOException {
        StagingArea.Staged remains;
        synchronized (this) {
            remains = place.remains;
            place.remains = null;
        }
        StagingArea.Staged staged =
                remains != null && isStagedAgain(remains, buffer) ? remains : push.run(place.file, buffer.bytes());
        synchronized (this) {
            if (place.state == State.LOADING) {
                isStaged(place, staged);
                return;
            }
        }
        staged.drop(); // closed meanwhile
    }

    /** Stages the remains again, or drops them. */
    private static boolean isStagedAgain(StagingArea.Staged remains, SampleBuffer buffer) throws IOException {
        boolean done = false;
        try {
            done = remains.stageAgain(0, buffer.bytes());
        } finally {
            if (!done) {
                remains.drop();
            }
        }
        return done;
    }

    /** Returns what has to be dropped, if anything. */
    private synchronized StagingArea.@Nullable Staged giveUpUnlessStaged(Place place) {
        StagingArea.Staged remains = place.remains;
        place.remains = null;
        if (place.state == State.LOADING) {
            remove(place);
        }
        return remains;
    }

    /** One position no longer wants the sample. */
    synchronized void release(Place place) {
        place.wanted--;
        if (place.wanted > 0) {
            return;
        }
        switch (place.state) {
            case RESERVED -> {
                if (place.remains == null) {
                    remove(place);
                } else { // it leaves as if it were there
                    place.staged = place.remains;
                    place.remains = null;
                    place.state = State.STAGED;
                    keepUnwanted(place);
                }
            }
            case STAGED -> keepUnwanted(place);
            case LOADING, LEAVING, GONE -> {}
        }
    }

    /** Keeps a sample that no position wants until its room is needed. */
    private void keepUnwanted(Place place) {
        unwanted.put(place.file, place);
        unwantedBytes += place.bytes;
    }

    private void remove(Place place) {
        place.state = State.GONE;
        if (places.remove(place.file, place)) {
            usedBytes -= place.bytes;
            usedSamples--;
        }
    }

    /** Drops everything, wanted or not; nothing can be staged afterwards. */
    public void close() {
        List<StagingArea.Staged> drops = new ArrayList<>();
        synchronized (this) {
            closed = true;
            for (Place place : places.values()) {
                place.state = State.GONE;
                StagingArea.Staged there = place.staged == null ? place.remains : place.staged;
                if (there != null) {
                    drops.add(there);
                    place.staged = null;
                    place.remains = null;
                }
            }
            places.clear();
            unwanted.clear();
            unwantedBytes = 0;
            usedBytes = 0;
            usedSamples = 0;
        }
        drops.forEach(StagingArea.Staged::drop);
    }

    public long capacityBytes() {
        return capacityBytes;
    }

    /** The places that belong to a part of the bytes, at least one; no bound where that is all bytes, for then {@link #reserve} keeps it, and counts places that positions share once. */
    int placesOf(long partBytes) {
        return partBytes >= capacityBytes
                ? Integer.MAX_VALUE
                : Math.max(1, (int) ((double) partBytes / capacityBytes * capacitySamples));
    }

    public synchronized long usedBytes() {
        return Math.min(usedBytes, capacityBytes); // more only in the moment between taking room and making it
    }

    public synchronized int samples() {
        return usedSamples;
    }
}
