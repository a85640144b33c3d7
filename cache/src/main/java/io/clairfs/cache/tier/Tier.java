package io.clairfs.cache.tier;

import org.jspecify.annotations.Nullable;

/**
 * A place on this node that holds samples: the implementation of one storage class of the plan.
 *
 * <p>A tier holds what it is given and gives it out; which samples those should be is decided elsewhere. Samples are keyed by
 * their file's number in the dataset's tree. All methods may be called from many threads at once. A tier that fails or loses a
 * sample says that it does not have it: nothing here ever raises an error at a reader, for the source can always be asked.
 */
public interface Tier extends AutoCloseable {
    /** Its name in status and in messages, such as {@code memory}. */
    String name();

    /** Whether the sample is here, as far as can be told without reading it. */
    boolean contains(int file);

    /**
     * The whole sample, verified, with a reference for the caller, who releases it.
     *
     * @return null when it is not here, cannot be read, or is damaged; the last two are counted, and it is then forgotten
     */
    @Nullable
    SampleBuffer get(int file);

    /**
     * The sample as it lies in a file, to be sent from there without a wait for the medium.
     *
     * @return null when it is not here, not in a file, or cannot be had at once; {@link #get} may bring it all the same
     */
    default @Nullable StoredSample openStored(int file) {
        return null;
    }

    /**
     * Keeps a copy of the sample, or the buffer itself, until it is evicted. The caller keeps its own reference either way.
     *
     * @return whether it is here afterwards; false when there is no room or the medium does not take it
     */
    boolean keep(int file, SampleBuffer sample);

    /** Forgets the sample if it is here; who took it out before finishes undisturbed. */
    void evict(int file);

    /** What it may hold, bytes. */
    long capacityBytes();

    /** What of the capacity samples may take, bytes, by {@link #bytesOf}. */
    default long sampleRoomBytes() {
        return capacityBytes();
    }

    /** What a sample of so many bytes takes here. */
    default long bytesOf(long sampleBytes) {
        return sampleBytes;
    }

    /** What it holds, bytes, as counted against the capacity. */
    long usedBytes();

    /** How many samples it holds. */
    int samples();

    /** Whether it takes samples at all now; false while its medium fails or is full. */
    boolean isWritable();

    /** What went wrong here so far. */
    TierFailures failures();

    /** Lets everything go that needs letting go; what survives a restart by its nature stays. */
    @Override
    void close();
}
