package io.clairfs.cache.tier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Samples in this node's memory, outside the heap, bounded in bytes.
 *
 * <p>Samples that the plan puts here ({@link #keep}) are pinned: they stay until they are evicted by name, because recency and frequency
 * say nothing in a shuffled epoch. Samples that other readers bring in ({@link #keepRecent}) share the remaining capacity by recency and
 * frequency (W-TinyLFU), and make way for the plan at any time. A sample that is evicted during a read is freed when its last reader is
 * done ({@link SampleBuffer}).
 *
 * <p>Pinned samples have a table of their own. In Caffeine they would be entries without weight, and its eviction walks over those one by
 * one: with a million pins each recent sample would take milliseconds.
 */
public final class MemoryTier implements Tier {
    /** The room of recent samples changes in this many steps, so that few pins wait for Caffeine's clean-up. */
    private static final int ROOM_STEPS = 64;

    private static final int LOCKS = 64;

    private final long capacity;
    /** Bytes per unit of a recent sample's weight: a weight is an int, and a sample may be larger than 2 GiB. */
    private final long unit;

    private final PinnedSamples pinned = new PinnedSamples();
    private final Cache<Integer, SampleBuffer> recent;
    private final Policy.Eviction<Integer, SampleBuffer> recentRoom;
    private final AtomicLong pinnedBytes = new AtomicLong();
    private final AtomicLong recentBytes = new AtomicLong();
    private final AtomicInteger count = new AtomicInteger();
    /** By file: held to add or evict its sample, so that it is never pinned and recent at once. Taken before Caffeine's locks. */
    private final Object[] locks = new Object[LOCKS];

    private volatile boolean closed;

    /** A tier that holds at most {@code capacity} bytes of samples. */
    public MemoryTier(long capacity) {
        this.capacity = capacity;
        unit = Math.max(1, Math.ceilDiv(capacity, (long) Integer.MAX_VALUE));
        recent = Caffeine.newBuilder()
                .maximumWeight(capacity / unit)
                .weigher((Integer _, SampleBuffer sample) -> weight(sample))
                .executor(Runnable::run)
                .removalListener(this::removed)
                .build();
        recentRoom = recent.policy().eviction().orElseThrow();
        Arrays.setAll(locks, _ -> new Object());
    }

    /** At least 1: an entry without weight is never evicted and slows every eviction. */
    private int weight(SampleBuffer sample) {
        return Math.clamp(Math.ceilDiv(sample.size(), unit), 1, Integer.MAX_VALUE);
    }

    private Object lockOf(int file) {
        return locks[file & (LOCKS - 1)];
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public @Nullable SampleBuffer get(int file) {
        SampleBuffer sample = retained(pinned.get(file));
        if (sample == null) {
            sample = retained(recent.getIfPresent(file));
        }
        // A recent sample may have been pinned meanwhile: it was here all the time.
        return sample == null ? retained(pinned.get(file)) : sample;
    }

    private static @Nullable SampleBuffer retained(@Nullable SampleBuffer sample) {
        return sample != null && sample.tryRetain() ? sample : null;
    }

    @Override
    public boolean contains(int file) {
        return isPinned(file) || recent.asMap().containsKey(file) || isPinned(file);
    }

    /** Whether the plan keeps this sample here. */
    public boolean isPinned(int file) {
        return pinned.get(file) != null;
    }

    /** Pins the sample here; evicts recent ones if needed, never pinned ones. */
    @Override
    public boolean keep(int file, SampleBuffer sample) {
        if (isPinned(file)) {
            return true;
        }
        // Room is taken under the file's lock, so that a second call for the same sample is not refused for the
        // room of the first.
        synchronized (lockOf(file)) {
            if (isPinned(file)) {
                return true;
            }
            if (closed || !reservePinned(sample.size())) {
                return false;
            }
            retain(sample);
            pinned.put(file, sample);
            recent.invalidate(file);
        }
        adjustRecentRoom();
        clearUp();
        return isOpenFor(file);
    }

    private void retain(SampleBuffer sample) {
        if (!sample.tryRetain()) {
            throw new AssertionError("the caller holds no reference");
        }
        count.incrementAndGet();
    }

    /**
     * Keeps the sample until others are used more. Returns false when the plan leaves no room for it, true when it is here or others were
     * preferred to it.
     */
    public boolean keepRecent(int file, SampleBuffer sample) {
        if (contains(file)) {
            return true;
        }
        if (closed || weight(sample) > recentRoom.getMaximum()) {
            return false;
        }
        synchronized (lockOf(file)) {
            if (isPinned(file)) {
                return true;
            }
            retain(sample);
            recentBytes.addAndGet(sample.size());
            if (recent.asMap().putIfAbsent(file, sample) != null) {
                forget(sample, recentBytes);
            }
        }
        clearUp();
        return isOpenFor(file);
    }

    /** Whether a recent sample of so many bytes would be kept without the eviction of another. */
    public boolean hasRoomForRecent(long bytes) {
        return !closed && recentBytes.get() + bytes <= recentRoom.getMaximum() * unit;
    }

    /** Evicts a sample that was added after {@link #close}. Returns whether the tier is open. */
    private boolean isOpenFor(int file) {
        if (closed) {
            evict(file);
        }
        return !closed;
    }

    /** Evicts the excess at once; while other threads add samples, Caffeine does so a little later. */
    private void clearUp() {
        if (usedBytes() > capacity) {
            recent.cleanUp();
        }
    }

    private boolean reservePinned(long size) {
        while (true) {
            long now = pinnedBytes.get();
            if (now + size > capacity) {
                return false;
            }
            if (pinnedBytes.compareAndSet(now, now + size)) {
                return true;
            }
        }
    }

    /** Gives recent samples the unpinned capacity, rounded down to whole steps. */
    private void adjustRecentRoom() {
        if (recentRoomNow() != recentRoom.getMaximum()) {
            synchronized (recentRoom) {
                // Repeated until it holds: a concurrent pin may have seen the old maximum and found that it fits.
                for (long room = recentRoomNow(); room != recentRoom.getMaximum(); room = recentRoomNow()) {
                    recentRoom.setMaximum(room);
                }
            }
        }
    }

    private long recentRoomNow() {
        long step = Math.max(1, capacity / ROOM_STEPS);
        long free = Math.max(0, capacity - pinnedBytes.get());
        return (free == capacity ? free : free / step * step) / unit;
    }

    private void removed(@Nullable Integer file, @Nullable SampleBuffer sample, RemovalCause cause) {
        if (sample != null) {
            forget(sample, recentBytes);
        }
    }

    private void forget(SampleBuffer sample, AtomicLong bytes) {
        count.decrementAndGet();
        bytes.addAndGet(-sample.size());
        sample.release();
    }

    @Override
    public void evict(int file) {
        synchronized (lockOf(file)) {
            unpin(file);
            recent.invalidate(file);
        }
        adjustRecentRoom();
    }

    private void unpin(int file) {
        SampleBuffer sample = pinned.remove(file);
        if (sample != null) {
            forget(sample, pinnedBytes);
        }
    }

    @Override
    public long capacityBytes() {
        return capacity;
    }

    @Override
    public long usedBytes() {
        return pinnedBytes.get() + recentBytes.get();
    }

    /** Bytes pinned here by the plan. */
    public long pinnedBytes() {
        return pinnedBytes.get();
    }

    @Override
    public int samples() {
        return count.get();
    }

    /** How many entries an eviction may examine. */
    long evictable() {
        return recent.estimatedSize();
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public TierFailures failures() {
        return TierFailures.NONE;
    }

    /** Evicts everything; readers that hold references finish undisturbed. */
    @Override
    public void close() {
        closed = true;
        for (int file = 0; file < pinned.end(); file++) {
            unpin(file);
        }
        recent.invalidateAll();
        recent.cleanUp();
    }
}
