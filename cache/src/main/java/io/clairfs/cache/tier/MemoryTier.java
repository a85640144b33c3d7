package io.clairfs.cache.tier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Samples in this node's memory, bounded in bytes, keyed by file number.
 *
 * <p>What a job prefetches is kept while there is room and never pushes anything out: every epoch reads every sample once, so
 * the samples that are here cover the same share of every epoch, and replacing one by another only costs a read of the source.
 * What other readers bring in is kept by recency and frequency (Caffeine's W-TinyLFU).
 */
public final class MemoryTier {
    private final long capacity;
    private final Cache<Integer, SampleBuffer> samples;
    private final AtomicLong used = new AtomicLong();
    private final AtomicInteger count = new AtomicInteger();

    /** A tier that holds at most {@code capacity} bytes of samples. */
    public MemoryTier(long capacity) {
        this.capacity = capacity;
        samples = Caffeine.newBuilder()
                .maximumWeight(capacity)
                .weigher((Integer _, SampleBuffer buffer) -> (int) Math.min(buffer.size(), Integer.MAX_VALUE))
                .executor(Runnable::run)
                .removalListener(this::removed)
                .build();
    }

    /** The sample with a reference for the caller, or null. */
    public @Nullable SampleBuffer get(int file) {
        SampleBuffer buffer = samples.getIfPresent(file);
        return buffer != null && buffer.tryRetain() ? buffer : null;
    }

    public boolean contains(int file) {
        return samples.asMap().containsKey(file);
    }

    /** Keeps the sample if there is room for it as things are. The caller keeps its own reference either way. */
    public boolean keepIfRoom(int file, SampleBuffer buffer) {
        if (!reserve(buffer.size())) {
            return false;
        }
        return put(file, buffer);
    }

    /** Keeps the sample, at the cost of others if need be. The caller keeps its own reference either way. */
    public void keepRecent(int file, SampleBuffer buffer) {
        if (buffer.size() <= capacity) {
            used.addAndGet(buffer.size());
            put(file, buffer);
        }
    }

    private boolean reserve(long size) {
        while (true) {
            long now = used.get();
            if (now + size > capacity) {
                return false;
            }
            if (used.compareAndSet(now, now + size)) {
                return true;
            }
        }
    }

    private boolean put(int file, SampleBuffer buffer) {
        if (!buffer.tryRetain()) {
            throw new AssertionError("the caller holds no reference");
        }
        count.incrementAndGet();
        SampleBuffer other = samples.asMap().putIfAbsent(file, buffer);
        if (other != null) {
            forget(buffer);
        }
        return other == null;
    }

    private void removed(@Nullable Integer file, @Nullable SampleBuffer buffer, RemovalCause cause) {
        if (buffer != null) {
            forget(buffer);
        }
    }

    private void forget(SampleBuffer buffer) {
        used.addAndGet(-buffer.size());
        count.decrementAndGet();
        buffer.release();
    }

    /** Whether a sample of {@code size} bytes would fit without pushing anything out. */
    public boolean hasRoom(long size) {
        return used.get() + size <= capacity;
    }

    /** Bytes that it may hold. */
    public long capacity() {
        return capacity;
    }

    /** Bytes held now. */
    public long used() {
        return used.get();
    }

    /** Samples held now. */
    public int count() {
        return count.get();
    }

    /** Gives up everything; readers that hold references finish undisturbed. */
    public void clear() {
        samples.invalidateAll();
        samples.cleanUp();
    }
}
