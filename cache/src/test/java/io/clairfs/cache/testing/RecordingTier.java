package io.clairfs.cache.testing;

import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.model.Throughput;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import io.clairfs.cache.tier.TierFailures;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** A slower tier that writes down what is asked of it, and can be told to take nothing or to lose what it has. */
public final class RecordingTier implements Tier {
    private final long capacityBytes;
    private final Map<Integer, SampleBuffer> kept = new HashMap<>();
    private final Set<Integer> damaged = new HashSet<>();
    private final List<String> operations = new ArrayList<>();
    private long usedBytes;
    private boolean writable = true;
    private boolean mayGrow = true;

    /** What a get waits for first; null for nothing. */
    private volatile @Nullable CountDownLatch hangsUntil;

    private volatile boolean hangs;

    public RecordingTier(long capacityBytes) {
        this.capacityBytes = capacityBytes;
    }

    /** Such a tier as the planner sees it: a sample takes its bytes here and nothing else. */
    public static StorageClass asClass(long capacityBytes) {
        Throughput throughput = Throughput.perThread(0.5e9, 4);
        return new StorageClass("disk", capacityBytes, 4, throughput, throughput, 100e-6, 0);
    }

    /** What was asked since the last call: keep, refuse, get, lose, evict, each with the file's number. */
    public synchronized List<String> operations() {
        List<String> since = List.copyOf(operations);
        operations.clear();
        return since;
    }

    public synchronized void setWritable(boolean now) {
        writable = now;
    }

    /** Whether its medium has room. */
    public synchronized void setMayGrow(boolean now) {
        mayGrow = now;
    }

    /** It gives nothing before the latch is open. */
    public void hangUntil(CountDownLatch latch) {
        hangsUntil = latch;
    }

    /** Whether a get has come to that latch. */
    public boolean hangs() {
        return hangs;
    }

    @Override
    public synchronized boolean mayGrowBy(long bytes) {
        return mayGrow;
    }

    /** It says that it has the file, but cannot give it. */
    public synchronized void damage(int file) {
        damaged.add(file);
    }

    @Override
    public String name() {
        return "disk";
    }

    @Override
    public synchronized boolean contains(int file) {
        return kept.containsKey(file);
    }

    @Override
    public @Nullable SampleBuffer get(int file) {
        CountDownLatch until = hangsUntil;
        if (until != null) {
            hangs = true;
            try {
                until.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        return given(file);
    }

    private synchronized @Nullable SampleBuffer given(int file) {
        SampleBuffer sample = kept.get(file);
        if (sample == null || damaged.remove(file)) {
            operations.add("lose " + file);
            forget(file);
            return null;
        }
        operations.add("get " + file);
        return sample.tryRetain() ? sample : null;
    }

    @Override
    public synchronized boolean keep(int file, SampleBuffer sample) {
        if (kept.containsKey(file)) {
            return true;
        }
        if (!writable || usedBytes + sample.size() > capacityBytes || !sample.tryRetain()) {
            operations.add("refuse " + file);
            return false;
        }
        operations.add("keep " + file);
        kept.put(file, sample);
        usedBytes += sample.size();
        return true;
    }

    @Override
    public synchronized void evict(int file) {
        operations.add("evict " + file);
        forget(file);
    }

    private void forget(int file) {
        SampleBuffer gone = kept.remove(file);
        if (gone != null) {
            usedBytes -= gone.size();
            gone.release();
        }
    }

    @Override
    public long capacityBytes() {
        return capacityBytes;
    }

    @Override
    public synchronized long usedBytes() {
        return usedBytes;
    }

    @Override
    public synchronized int samples() {
        return kept.size();
    }

    @Override
    public synchronized boolean isWritable() {
        return writable;
    }

    @Override
    public TierFailures failures() {
        return TierFailures.NONE;
    }

    @Override
    public synchronized void close() {
        kept.values().forEach(SampleBuffer::release);
        kept.clear();
        usedBytes = 0;
    }
}
