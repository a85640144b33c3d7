package io.clairfs.cache.fetch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import com.github.benmanes.caffeine.cache.Scheduler;
import io.clairfs.cache.tier.SampleBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Samples that are in use, whether or not a tier holds them. A loader uses one while it pushes it. A reader, which comes in pieces, uses
 * one until it closes the file, or for a few seconds after its last request where closes are not reported. So loader and reader do not
 * fetch the same sample one after the other.
 *
 * <p>What readers hold is bounded in bytes. Beyond that the least recently read sample is let go, and not, as by frequency of use, the newcomer:
 * its reader would have it fetched anew for each request. Thread-safe; its lock comes before those of Caffeine.
 */
public final class SamplesInUse implements AutoCloseable {
    /** Bytes that readers may hold in all where there is plenty of memory. */
    static final long READERS_BYTES = 256L << 20;

    private static final Duration READERS_KEEP = Duration.ofSeconds(5);

    private final ConcurrentHashMap<Integer, SampleBuffer> ofLoaders = new ConcurrentHashMap<>();
    private final Cache<Integer, SampleBuffer> ofReaders;
    private final Policy.FixedExpiration<Integer, SampleBuffer> byLastRead;
    private final long readersBytes;
    private final AtomicLong heldBytes = new AtomicLong();

    /** Held to let go of samples for others, so that no more go than have to. */
    private final Object excess = new Object();

    /** Readers may hold 256 MiB. */
    public SamplesInUse() {
        this(READERS_BYTES);
    }

    /** Readers may hold so many bytes. */
    public SamplesInUse(long readersBytes) {
        this(readersBytes, System::nanoTime);
    }

    /** The same with another clock, as {@link System#nanoTime}. */
    public SamplesInUse(long readersBytes, LongSupplier clockNs) {
        this.readersBytes = readersBytes;
        ofReaders = Caffeine.newBuilder()
                .expireAfterAccess(READERS_KEEP)
                .ticker(clockNs::getAsLong)
                .executor(Runnable::run)
                .scheduler(Scheduler.systemScheduler())
                .removalListener(this::dropped)
                .build();
        byLastRead = ofReaders.policy().expireAfterAccess().orElseThrow();
    }

    private void dropped(@Nullable Integer file, @Nullable SampleBuffer sample, RemovalCause cause) {
        if (sample != null) {
            heldBytes.addAndGet(-sample.size());
            sample.release();
        }
    }

    /** The sample with a reference for the caller, or null. */
    @Nullable
    SampleBuffer get(int file) {
        SampleBuffer sample = ofLoaders.get(file);
        if (sample == null || !sample.tryRetain()) {
            sample = ofReaders.getIfPresent(file);
            return sample != null && sample.tryRetain() ? sample : null;
        }
        return sample;
    }

    /** A loader uses the sample until it {@link #letGo lets go}; its own reference lasts as long. */
    public void take(int file, SampleBuffer sample) {
        ofLoaders.put(file, sample);
    }

    public void letGo(int file, SampleBuffer sample) {
        ofLoaders.remove(file, sample);
    }

    /** Holds a sample for a reader that will come for more of it. */
    void readInPieces(int file, SampleBuffer sample) {
        if (sample.size() <= readersBytes) {
            var _ = ofReaders.asMap().computeIfAbsent(file, _ -> retained(sample));
            letGoExcess();
        }
    }

    private @Nullable SampleBuffer retained(SampleBuffer sample) {
        if (!sample.tryRetain()) {
            return null;
        }
        heldBytes.addAndGet(sample.size());
        return sample;
    }

    private void letGoExcess() {
        if (heldBytes.get() > readersBytes) {
            synchronized (excess) {
                while (heldBytes.get() > readersBytes) {
                    Set<Integer> oldest = byLastRead.oldest(1).keySet();
                    if (oldest.isEmpty()) {
                        return; // it was just let go
                    }
                    ofReaders.invalidateAll(oldest);
                }
            }
        }
    }

    /** How many bytes readers may hold in all. */
    long readersBytes() {
        return readersBytes;
    }

    /** Whether readers may hold a sample of so many bytes beside what they hold. */
    boolean hasRoomForReaders(long bytes) {
        if (heldBytes.get() + bytes > readersBytes) {
            ofReaders.cleanUp(); // what no reader came for is let go a little late
        }
        return heldBytes.get() + bytes <= readersBytes;
    }

    /**
     * Readers closed the first {@code count} of these files, and come for no more of them. A reader with one still open finds it in the
     * page cache, or asks anew.
     */
    public void closed(int[] files, int count) {
        for (int i = 0; i < count && !ofReaders.asMap().isEmpty(); i++) {
            ofReaders.invalidate(files[i]);
        }
    }

    /** Releases everything that is held for readers. */
    @Override
    public void close() {
        ofReaders.invalidateAll();
    }
}
