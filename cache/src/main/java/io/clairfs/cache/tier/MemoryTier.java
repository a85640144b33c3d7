package io.clairfs.cache.tier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Samples in this node's memory, outside the heap, bounded in bytes.
 *
 * <p>What the plan puts here ({@link #keep}) is pinned: it has no weight for Caffeine and stays until it is evicted by name, for
 * recency and frequency say nothing in a shuffled epoch. What other readers bring in ({@link #keepRecent}) lives in the capacity
 * that is left, kept by recency and frequency (W-TinyLFU), and makes way for the plan at any time. A sample that is thrown out
 * while it is being read is freed when its last reader is done ({@link SampleBuffer}).
 */
public final class MemoryTier implements Tier {
    /** The room of recent samples moves in this many steps, so that few pins have to wait for Caffeine to clear up. */
    private static final int ROOM_STEPS = 64;

    private final long capacity;
    private final Cache<Integer, Held> samples;
    private final Policy.Eviction<Integer, Held> recentRoom;
    private final AtomicLong pinnedBytes = new AtomicLong();
    private final AtomicLong recentBytes = new AtomicLong();
    private final AtomicInteger count = new AtomicInteger();
    private volatile boolean closed;

    /** A sample and why it is here; {@code pinned} changes under no lock but that of the cache's entry. */
    private record Held(SampleBuffer sample, boolean pinned) {}

    /** A tier that holds at most {@code capacity} bytes of samples. */
    public MemoryTier(long capacity) {
        this.capacity = capacity;
        samples = Caffeine.newBuilder()
                .maximumWeight(capacity)
                .weigher((Integer _, Held held) ->
                        held.pinned ? 0 : (int) Math.min(held.sample.size(), Integer.MAX_VALUE))
                .executor(Runnable::run)
                .removalListener(this::removed)
                .build();
        recentRoom = samples.policy().eviction().orElseThrow();
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public @Nullable SampleBuffer get(int file) {
        Held held = samples.getIfPresent(file);
        return held != null && held.sample.tryRetain() ? held.sample : null;
    }

    @Override
    public boolean contains(int file) {
        return samples.asMap().containsKey(file);
    }

    /** Pins the sample here, at the cost of recent ones if need be, never of other pinned ones. */
    @Override
    public boolean keep(int file, SampleBuffer sample) {
        Held present = samples.asMap().get(file);
        if (present != null && present.pinned) {
            return true;
        }
        Held mine = new Held(sample, true);
        // Room is taken under the entry's lock, so that who comes second for the same sample is not refused for the
        // first one's room.
        Held held = samples.asMap().compute(file, (_, now) -> {
            if ((now != null && now.pinned) || closed || !reservePinned(sample.size())) {
                return now;
            }
            retain(sample);
            return mine;
        });
        if (held == null || !held.pinned) {
            return false;
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
        if (closed || sample.size() > recentRoom.getMaximum()) {
            return false;
        }
        retain(sample);
        recentBytes.addAndGet(sample.size());
        Held mine = new Held(sample, false);
        if (samples.asMap().putIfAbsent(file, mine) != null) {
            forget(mine);
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
            samples.cleanUp();
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
        long step = Math.max(1, capacity / ROOM_STEPS);
        if (recentRoomNow(step) != recentRoom.getMaximum()) {
            synchronized (recentRoom) {
                // Again until it holds: who pins meanwhile may have seen the old maximum, and found that it fits.
                for (long room = recentRoomNow(step); room != recentRoom.getMaximum(); room = recentRoomNow(step)) {
                    recentRoom.setMaximum(room);
                }
            }
        }
    }

    private long recentRoomNow(long step) {
        long free = Math.max(0, capacity - pinnedBytes.get());
        return free == capacity ? free : free / step * step;
    }

    private void removed(@Nullable Integer file, @Nullable Held held, RemovalCause cause) {
        if (held != null) {
            forget(held);
        }
    }

    private void forget(Held held) {
        count.decrementAndGet();
        if (held.pinned) {
            pinnedBytes.addAndGet(-held.sample.size());
        } else {
            recentBytes.addAndGet(-held.sample.size());
        }
        held.sample.release();
    }

    @Override
    public void evict(int file) {
        samples.invalidate(file);
        adjustRecentRoom();
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
        samples.invalidateAll();
        samples.cleanUp();
    }
}
