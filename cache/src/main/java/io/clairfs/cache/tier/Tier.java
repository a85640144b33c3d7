package io.clairfs.cache.tier;

import org.jspecify.annotations.Nullable;

/**
 * A place on this node that holds samples: the implementation of one storage class of the plan.
 *
 * <p>A tier stores samples and returns them; which samples it should hold is decided elsewhere. Samples are keyed by their file's number in
 * the dataset's tree. All methods may be called from many threads at once. A tier that fails or loses a sample reports it as absent: no
 * method raises an error at a reader, because the source can always be read.
 */
public interface Tier extends AutoCloseable {
    /** Its name in status and in messages, such as {@code memory}. */
    String name();

    /** Whether the sample is here, as far as can be told without reading it. */
    boolean contains(int file);

    /**
     * The whole sample, verified, with a reference that the caller releases.
     *
     * @return null when it is not here, cannot be read, or is damaged; the last two are counted, and the sample is forgotten
     */
    @Nullable
    SampleBuffer get(int file);

    /** Whether {@link #get} may wait for the source, however long that takes, before it reads the medium. */
    default boolean mayAskSource(int file) {
        return false;
    }

    /**
     * The sample in its file, to be sent from there without a wait for the medium.
     *
     * @return null when it is not here, not in a file, or not available at once; {@link #get} may still return it
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

    /** Forgets the sample if it is here; readers that hold it finish undisturbed. */
    void evict(int file);

    /** The capacity, bytes. */
    long capacityBytes();

    /** The part of the capacity for samples, bytes, as {@link #bytesOf} counts them. */
    default long sampleRoomBytes() {
        return capacityBytes();
    }

    /** The bytes that a sample of {@code sampleBytes} takes here. */
    default long bytesOf(long sampleBytes) {
        return sampleBytes;
    }

    /** Bytes in use, as counted against the capacity. */
    long usedBytes();

    /** How many samples it holds. */
    int samples();

    /** Whether it is known what it holds. A tier whose samples survive a restart learns that once the dataset is listed, and takes none before. */
    default boolean isRecovered() {
        return true;
    }

    /** Whether it accepts samples now; false while its medium fails or is full. */
    boolean isWritable();

    /**
     * Whether it could accept a sample of {@code sampleBytes} in the room of others that are evicted for it: false while its medium fails, or
     * is so full that all of them together would not make room.
     */
    default boolean couldTake(long sampleBytes) {
        return isWritable();
    }

    /** The failures so far. */
    TierFailures failures();

    /** Releases its resources; samples that survive a restart stay. */
    @Override
    void close();

    /** Whether the medium itself has room for so many bytes more: others may have filled it. */
    default boolean mayGrowBy(long bytes) {
        return true;
    }
}
