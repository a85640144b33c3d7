package io.clairfs.cache.tier;

import io.clairfs.cache.source.SourceException;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * A tier whose samples of earlier mounts are compared with the source before their first use: the listing by which they were found may be an earlier mount's too,
 * and a file that was rewritten in place since then leaves no trace in it (promise C2).
 *
 * <p>A sample that has to be compared costs one status of its file. Only {@link #get} does that, which blocks for as long as the source takes, and holds no lock
 * meanwhile. Thread-safe.
 */
public final class AsListedTier implements Tier {
    private final Tier tier;
    private final Comparison comparison;

    /** A bit for each file whose sample, if there is one, has not been compared yet; null before {@link #compareAll}. */
    private volatile @Nullable AtomicLongArray toCompare;

    /** Asks the source whether a file is as it was listed. */
    @FunctionalInterface
    public interface Comparison {
        boolean isAsListed(int file) throws SourceException;
    }

    /** Nothing is compared before {@link #compareAll}. */
    public AsListedTier(Tier tier, Comparison comparison) {
        this.tier = tier;
        this.comparison = comparison;
    }

    /** Has all samples compared that will be found here, of {@code files} files in all. */
    public void compareAll(int files) {
        AtomicLongArray all = new AtomicLongArray(Math.ceilDiv(files, Long.SIZE));
        for (int at = 0; at < all.length(); at++) {
            all.setPlain(at, -1);
        }
        toCompare = all;
    }

    private static long bit(int file) {
        return 1L << (file % Long.SIZE);
    }

    private boolean isToBeCompared(int file) {
        AtomicLongArray all = toCompare;
        return all != null && file / Long.SIZE < all.length() && (all.get(file / Long.SIZE) & bit(file)) != 0;
    }

    private void compared(int file) {
        AtomicLongArray all = toCompare;
        if (all != null && file / Long.SIZE < all.length()) {
            all.getAndAccumulate(file / Long.SIZE, ~bit(file), (bits, others) -> bits & others);
        }
    }

    @Override
    public @Nullable SampleBuffer get(int file) {
        return isToBeCompared(file) && !isAsListed(file) ? null : tier.get(file);
    }

    @Override
    public boolean mayAskSource(int file) {
        return isToBeCompared(file);
    }

    /** Compares a file; one that has changed is forgotten. Where the source does not say, it is compared once more when it is asked for again. */
    private boolean isAsListed(int file) {
        try {
            boolean same = comparison.isAsListed(file);
            if (!same) {
                tier.evict(file);
            }
            compared(file);
            return same;
        } catch (SourceException e) {
            return false;
        }
    }

    @Override
    public @Nullable StoredSample openStored(int file) {
        return isToBeCompared(file) ? null : tier.openStored(file);
    }

    /** What comes was read as listed, so an older copy with the same size and time is of the same content. */
    @Override
    public boolean keep(int file, SampleBuffer sample) {
        boolean kept = tier.keep(file, sample);
        if (kept) {
            compared(file);
        }
        return kept;
    }

    @Override
    public void evict(int file) {
        tier.evict(file);
        compared(file);
    }

    @Override
    public String name() {
        return tier.name();
    }

    @Override
    public boolean contains(int file) {
        return tier.contains(file);
    }

    @Override
    public long capacityBytes() {
        return tier.capacityBytes();
    }

    @Override
    public long sampleRoomBytes() {
        return tier.sampleRoomBytes();
    }

    @Override
    public long bytesOf(long sampleBytes) {
        return tier.bytesOf(sampleBytes);
    }

    @Override
    public long usedBytes() {
        return tier.usedBytes();
    }

    @Override
    public int samples() {
        return tier.samples();
    }

    @Override
    public boolean isRecovered() {
        return tier.isRecovered();
    }

    @Override
    public boolean isWritable() {
        return tier.isWritable();
    }

    @Override
    public boolean couldTake(long sampleBytes) {
        return tier.couldTake(sampleBytes);
    }

    @Override
    public boolean mayGrowBy(long bytes) {
        return tier.mayGrowBy(bytes);
    }

    @Override
    public TierFailures failures() {
        return tier.failures();
    }

    @Override
    public void close() {
        tier.close();
    }
}
