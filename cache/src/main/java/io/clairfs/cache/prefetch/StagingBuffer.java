package io.clairfs.cache.prefetch;

import io.clairfs.cache.tier.SampleBuffer;
import it.unimi.dsi.fastutil.ints.Int2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The samples that are in the staging area, within a budget of bytes and of samples.
 *
 * <p>A sample is wanted by the stream positions that have not been read yet. Once nobody wants it, it stays until its room is
 * needed, oldest first: a reader that opens a file twice, or a dataset that fits, costs no second push. Samples that are
 * wanted are never dropped for others.
 */
final class StagingBuffer {
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

    StagingBuffer(StagingArea area, long capacityBytes, int capacitySamples) {
        this.area = area;
        this.capacityBytes = capacityBytes;
        this.capacitySamples = capacitySamples;
    }

    /** Room for one sample in the staging area. */
    static final class Place {
        private final int file;
        private final long bytes;
        private int wanted = 1;
        private StagingArea.@Nullable Staged staged;
        private boolean claimed;
        private boolean leaving;
        private boolean abandoned;

        private Place(int file, long bytes) {
            this.file = file;
            this.bytes = bytes;
        }
    }

    /**
     * Takes room for a sample, or shares that of one that is there already.
     *
     * @param leaving takes what has to go for it; the caller hands it to {@link #drop} before it puts the sample there, without
     *     holding locks, for a drop may wait for a reader
     * @return null when everything is still wanted, the sample is just leaving, or the buffer is closed
     */
    synchronized @Nullable Place reserve(int file, long bytes, List<Place> leaving) {
        if (closed || bytes > capacityBytes) {
            return null;
        }
        Place present = places.get(file);
        if (present != null) {
            if (present.leaving) {
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
        // What leaves for one sample makes room for that one alone, and counts until it has left.
        long bytesLeft = capacityBytes - usedBytes;
        int placesLeft = capacitySamples - usedSamples;
        while ((bytesLeft < bytes || placesLeft < 1) && !unwanted.isEmpty()) {
            Place oldest = unwanted.removeFirst();
            oldest.leaving = true;
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

    /** Takes samples out of the staging area. */
    void drop(List<Place> leaving) {
        for (Place place : leaving) {
            StagingArea.Staged staged;
            synchronized (this) {
                staged = place.staged;
                place.staged = null;
            }
            if (staged != null) {
                staged.drop();
            }
            synchronized (this) {
                remove(place);
            }
        }
    }

    /** Whether the caller is the one that has to put this sample into the staging area. */
    synchronized boolean claim(Place place) {
        if (closed || place.claimed || place.abandoned) {
            return false;
        }
        place.claimed = true;
        return true;
    }

    /** Whether the sample of this place can be read without asking. */
    synchronized boolean isStaged(Place place) {
        return place.staged != null;
    }

    /** Whether this file can be read without asking. */
    synchronized boolean isStaged(int file) {
        Place place = places.get(file);
        return place != null && place.staged != null;
    }

    /** Puts the bytes of a claimed sample into the staging area. */
    void stage(Place place, SampleBuffer buffer) throws IOException {
        StagingArea.Staged staged = area.stage(place.file, buffer.bytes());
        synchronized (this) {
            if (!closed && !place.abandoned) {
                place.staged = staged;
                if (place.wanted == 0) {
                    keepUnwanted(place);
                }
                return;
            }
        }
        staged.drop();
    }

    /** A claimed sample could not be put there; its room is given back. */
    synchronized void fail(Place place) {
        abandon(place);
    }

    /** One position does not want the sample any more. */
    synchronized void release(Place place) {
        place.wanted--;
        if (place.wanted > 0 || closed) {
            return;
        }
        if (place.staged != null) {
            keepUnwanted(place);
        } else if (!place.claimed) {
            abandon(place);
        }
    }

    /** Nobody wants it; it waits until its room is needed. */
    private void keepUnwanted(Place place) {
        unwanted.put(place.file, place);
        unwantedBytes += place.bytes;
    }

    private void abandon(Place place) {
        place.abandoned = true;
        remove(place);
    }

    private void remove(Place place) {
        if (places.remove(place.file, place)) {
            usedBytes -= place.bytes;
            usedSamples--;
        }
    }

    /** Drops everything, wanted or not; nothing can be staged afterwards. */
    void close() {
        List<StagingArea.Staged> drops = new ArrayList<>();
        synchronized (this) {
            closed = true;
            for (Place place : places.values()) {
                if (place.staged != null) {
                    drops.add(place.staged);
                    place.staged = null;
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

    long capacityBytes() {
        return capacityBytes;
    }

    int capacitySamples() {
        return capacitySamples;
    }

    synchronized long usedBytes() {
        return Math.min(usedBytes, capacityBytes); // more only in the moment between taking room and making it
    }

    synchronized int samples() {
        return usedSamples;
    }
}
