package io.clairfs.cache.tier.ssd;

/**
 * The sums over the segments of a {@link SegmentLog}, as one value.
 *
 * @param diskBytes in the directory, those that are reserved included
 * @param pendingBytes reserved for samples that are being written, with their entries
 * @param liveBytes of the live samples, with their entries
 */
record LogSums(long diskBytes, long pendingBytes, long liveBytes, int liveSamples) {
    static final LogSums EMPTY = new LogSums(TierDirectory.fixedBytes(), 0, 0, 0);

    /** Bytes that compaction can remove, once no sample is being sent from their segments. */
    long deadBytes() {
        return diskBytes - TierDirectory.fixedBytes() - pendingBytes - liveBytes;
    }

    /** With room for a sample to write. */
    LogSums reserved(long bytes) {
        return new LogSums(diskBytes + bytes, pendingBytes + bytes, liveBytes, liveSamples);
    }

    /** When the write to that room has ended, well or not. */
    LogSums settled(long bytes) {
        return new LogSums(diskBytes, pendingBytes - bytes, liveBytes, liveSamples);
    }

    LogSums plusDisk(long bytes) {
        return new LogSums(diskBytes + bytes, pendingBytes, liveBytes, liveSamples);
    }

    LogSums plusLive(int samples, long bytes) {
        return new LogSums(diskBytes, pendingBytes, liveBytes + bytes, liveSamples + samples);
    }
}
