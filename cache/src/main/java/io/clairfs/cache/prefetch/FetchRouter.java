package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.Source.SourceFile;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Gets a sample from the cheapest place that has it, and from the source at most once at a time.
 *
 * <p>Who asks for a sample that somebody else is fetching waits for that fetch. Calls block for as long as the source takes;
 * bounds on waiting are the caller's ({@link SampleReader}).
 */
public final class FetchRouter {
    private final DatasetTree tree;
    private final Source source;
    private final MemoryTier memory;
    private final Counters counters;
    private final ConcurrentHashMap<Integer, CompletableFuture<SampleBuffer>> underWay = new ConcurrentHashMap<>();

    public FetchRouter(DatasetTree tree, Source source, MemoryTier memory, Counters counters) {
        this.tree = tree;
        this.source = source;
        this.memory = memory;
        this.counters = counters;
    }

    /** The sample if this node has it, with a reference for the caller. */
    @Nullable
    SampleBuffer fromMemory(int file) {
        SampleBuffer buffer = memory.get(file);
        if (buffer != null) {
            counters.fromMemory.increment();
            counters.fromMemoryBytes.add(buffer.size());
        }
        return buffer;
    }

    /** The fetch of this file that is under way, if there is one. */
    @Nullable
    CompletableFuture<SampleBuffer> underWay(int file) {
        return underWay.get(file);
    }

    /** The sample with a reference for the caller; a sample that comes from the source is kept if the memory tier has room. */
    public SampleBuffer fetch(int file) throws SourceException {
        while (true) {
            SampleBuffer held = fromMemory(file);
            if (held != null) {
                return held;
            }
            CompletableFuture<SampleBuffer> mine = new CompletableFuture<>();
            CompletableFuture<SampleBuffer> other = underWay.putIfAbsent(file, mine);
            if (other == null) {
                return fetchFromSource(file, mine);
            }
            SampleBuffer shared = join(other);
            if (shared.tryRetain()) {
                return shared;
            }
        }
    }

    private SampleBuffer fetchFromSource(int file, CompletableFuture<SampleBuffer> promise) throws SourceException {
        SourceFile from = tree.entry(file).file();
        SampleBuffer buffer = fromMemory(file);
        if (buffer != null) { // another fetch ended between the look into the tier and the claim
            underWay.remove(file);
            promise.complete(buffer);
            return buffer;
        }
        try {
            buffer = SampleBuffer.allocate(from.size());
            source.read(from, 0, buffer.bytes());
            counters.fromSource.increment();
            counters.fromSourceBytes.add(from.size());
            memory.keepIfRoom(file, buffer);
            underWay.remove(file);
            promise.complete(buffer);
            return buffer;
        } catch (Throwable t) {
            if (buffer != null) {
                buffer.release();
            }
            underWay.remove(file);
            promise.completeExceptionally(t);
            throw t;
        }
    }

    private static SampleBuffer join(CompletableFuture<SampleBuffer> fetch) throws SourceException {
        try {
            return fetch.join();
        } catch (CompletionException e) {
            throw unwrap(e.getCause());
        }
    }

    /** The failure of a fetch as its own kind. */
    static SourceException unwrap(@Nullable Throwable cause) {
        return switch (cause) {
            case SourceException e -> e;
            case Error e -> throw e;
            case null, default -> throw new AssertionError("a fetch fails with the source's errors only", cause);
        };
    }
}
