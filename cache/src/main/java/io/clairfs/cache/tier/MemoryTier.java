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
 * <p>What the plan puts here ({@link #keep}) is pinned: it stays until it is evicted by name, for recency and frequency say nothing in
 * a shuffled epoch. What other readers bring in ({@link #keepRecent}) lives in the capacity that is left, kept by recency and
 * frequency (W-TinyLFU), and makes way for the plan at any time. A sample that is evicted while it is being read is freed when
 * its last reader is done ({@link SampleBuffer}).
 *
 * <p>Pinned samples are in a table of their own. Caffeine would have to take them for entries without weight, and its eviction walks over
 * those one by one: with a million pins each recent sample would take milliseconds.
 */
public final class MemoryTier implements Tier {
    /** The room of recent samples moves in this many steps, so that few pins have to wait for Caffeine to clear up. */
    private static final int ROOM_STEPS = 64;

    private static final int LOCKS = 64;

    private final long capacity;
    /** Bytes for which a recent sample weighs one: a weight is an int, a sample may be larger than 2 GiB. */
    private final long unit;

    private final PinnedSamples pinned = new PinnedSamples();
    private final Cache<Integer, SampleBuffer> recent;
    private final Policy.Eviction<Integer, SampleBuffer> recentRoom;
    private final AtomicLong pinnedBytes = new AtomicLong();
    private final AtomicLong recentBytes = new AtomicLong();
    private final AtomicInteger count = new AtomicInteger();
    /** By file: held to add or evict its sample, so that it is never pinned and recent at once. Taken before Caffeine's. */
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

    /** At least 1, for what weighs nothing is never evicted and always in the way. */
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
        // A recent sample that was pinned meanwhile has been here all the time.
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

    /** Pins the sample here, at the cost of recent ones if need be, never of other pinned ones. */
    @Override
    public boolean keep(int file, SampleBuffer sample) {
        if (isPinned(file)) {
            return true;
        }
        // Room is taken under the file's lock, so that who comes second for the same sample is not refused for the
        // first one's room.
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
     * Keeps the sample for as long as others are not used more. Returns false when the plan leaves no room for it, true when it is here
     * or others were preferred to it.
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

    /** A sample that came in behind {@link #close} goes again. */
    private boolean isOpenFor(int file) {
        if (closed) {
            evict(file);
        }
        return !closed;
    }

    /** Caffeine throws out what is too much a little later when others are at it; not here. */
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

    /** Recent samples have what is not pinned, rounded down to whole steps. */
    private void adjustRecentRoom() {
        if (recentRoomNow() != recentRoom.getMaximum()) {
            synchronized (recentRoom) {
                // Again until it holds: who pins meanwhile may have seen the old maximum, and found that it fits.
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

    /** How many entries an eviction may have to look at. */
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

    /** Gives up everything; readers that hold references finish undisturbed. */
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
