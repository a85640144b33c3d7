package io.clairfs.cache.fetch;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import com.github.benmanes.caffeine.cache.Scheduler;
import io.clairfs.cache.tier.SampleBuffer;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Samples that no tier holds but somebody has in hand: a loader while it pushes one, a reader, who comes
 * in pieces, until it closes the file, or for a few seconds after its last request where closes are not told. They keep loader
 * and reader from fetching the same sample one after the other.
 */
public final class SamplesInUse implements AutoCloseable {
    /** What readers may hold in all where there is plenty of memory, bytes. */
    static final long READERS_BYTES = 256L << 20;

    private static final Duration READERS_KEEP = Duration.ofSeconds(5);

    private final ConcurrentHashMap<Integer, SampleBuffer> ofLoaders = new ConcurrentHashMap<>();
    private final Cache<Integer, SampleBuffer> ofReaders;

    /** Readers may hold 256 MiB. */
    public SamplesInUse() {
        this(READERS_BYTES);
    }

    /** Readers may hold so many bytes. */
    public SamplesInUse(long readersBytes) {
        ofReaders = Caffeine.newBuilder()
                .maximumWeight(readersBytes)
                .weigher((Integer _, SampleBuffer sample) -> (int) Math.min(sample.size(), Integer.MAX_VALUE))
                .expireAfterAccess(READERS_KEEP)
                .executor(Runnable::run)
                .scheduler(Scheduler.systemScheduler())
                .removalListener(SamplesInUse::dropped)
                .build();
    }

    private static void dropped(@Nullable Integer file, @Nullable SampleBuffer sample, RemovalCause cause) {
        if (sample != null) {
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

    /** A loader has it in hand until it {@link #letGo lets go}; its own reference lasts as long. */
    public void take(int file, SampleBuffer sample) {
        ofLoaders.put(file, sample);
    }

    public void letGo(int file, SampleBuffer sample) {
        ofLoaders.remove(file, sample);
    }

    /** A reader will come for more of it. */
    void readInPieces(int file, SampleBuffer sample) {
        if (sample.tryRetain() && ofReaders.asMap().putIfAbsent(file, sample) != null) {
            sample.release();
        }
    }

    /** Whether a sample of so many bytes can be held for readers without another having to go for it. */
    boolean hasRoomForReaders(long bytes) {
        return ofReaders.policy().eviction().orElseThrow().weightedSize().orElse(0) + bytes <= READERS_BYTES;
    }

    /** Readers closed these files: they come for no more of them. Who has one open still finds it in the page cache, or asks anew. */
    public void closed(int[] files, int count) {
        for (int i = 0; i < count && !ofReaders.asMap().isEmpty(); i++) {
            ofReaders.invalidate(files[i]);
        }
    }

    /** Lets go of everything that is held for readers. */
    @Override
    public void close() {
        ofReaders.invalidateAll();
    }
}
