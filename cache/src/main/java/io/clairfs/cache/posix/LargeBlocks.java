package io.clairfs.cache.posix;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that were freed a moment ago, kept for the next ones. The C library has a mapping of its own for each block above 32 MiB: the kernel clears its pages for each
 * anew, and the host of a virtual machine may have to give them again, at 12 us a page, which takes longer than to read them from a fast source.
 *
 * <p>A kept block is resized for the next one without a copy, so blocks need not be alike. One that nobody has taken for a while is freed. Thread-safe; nothing is freed or
 * resized under the lock.
 */
final class LargeBlocks {
    private static final Logger LOG = System.getLogger(LargeBlocks.class.getName());
    private static final NativeFunction REALLOC = NativeFunction.of("realloc");
    private static final NativeFunction FREE = NativeFunction.of("free");

    /** The next sample is allocated when the last one has been fetched. */
    static final long KEPT_NS = TimeUnit.SECONDS.toNanos(2);

    private final LongSupplier clockNs;
    private final Executor later;
    private final Deque<Block> kept = new ArrayDeque<>();
    private long mostBytes;
    private volatile long keptBytes;
    private boolean looks;

    private record Block(long address, long bytes, long sinceNs) {}

    LargeBlocks() {
        this(System::nanoTime, CompletableFuture.delayedExecutor(KEPT_NS, TimeUnit.NANOSECONDS, Runnable::run));
    }

    /** {@code later} runs a look after {@link #KEPT_NS}. */
    LargeBlocks(LongSupplier clockNs, Executor later) {
        this.clockNs = clockNs;
        this.later = later;
    }

    /** Keeps so many bytes at most; none at first. */
    synchronized void keep(long bytes) {
        mostBytes = bytes;
    }

    /** The address of a kept block, which has {@code bytes} now; 0 if there is none. */
    long take(long bytes) {
        Block block = closest(bytes);
        if (block == null || block.bytes == bytes) {
            return block == null ? 0 : block.address;
        }
        long resized = REALLOC.call(block.address, bytes);
        if (resized == 0) {
            long _ = FREE.call(block.address);
        }
        return resized;
    }

    private synchronized @Nullable Block closest(long bytes) {
        Block best = kept.stream()
                .min(Comparator.comparingLong(block -> Math.abs(block.bytes - bytes)))
                .orElse(null);
        if (best != null) {
            kept.remove(best);
            keptBytes -= best.bytes;
        }
        return best;
    }

    /** Keeps a block, or frees it. */
    void free(long address, long bytes) {
        List<Block> freed = new ArrayList<>();
        boolean toLook;
        synchronized (this) {
            Block block = new Block(address, bytes, clockNs.getAsLong());
            kept.add(block);
            keptBytes += bytes;
            while (keptBytes > mostBytes) {
                freed.add(removeOldest());
            }
            toLook = !looks && !kept.isEmpty();
            looks |= toLook;
        }
        free(freed);
        if (toLook) {
            lookLater();
        }
    }

    private void lookLater() {
        try {
            later.execute(this::look);
        } catch (RuntimeException | OutOfMemoryError e) {
            LOG.log(Level.DEBUG, "no thread that frees blocks later", e);
            dropAll();
        }
    }

    private void dropAll() {
        List<Block> freed;
        synchronized (this) {
            freed = List.copyOf(kept);
            kept.clear();
            keptBytes = 0;
            looks = false;
        }
        free(freed);
    }

    /** Frees the oldest kept blocks, so many bytes of them if there are. */
    void drop(long bytes) {
        List<Block> freed = new ArrayList<>();
        synchronized (this) {
            for (long dropped = 0; dropped < bytes && !kept.isEmpty(); ) {
                Block oldest = removeOldest();
                dropped += oldest.bytes;
                freed.add(oldest);
            }
        }
        free(freed);
    }

    private synchronized Block removeOldest() {
        Block oldest = kept.remove();
        keptBytes -= oldest.bytes;
        return oldest;
    }

    private void look() {
        List<Block> freed = new ArrayList<>();
        boolean toLook;
        synchronized (this) {
            long now = clockNs.getAsLong();
            while (!kept.isEmpty() && now - kept.getFirst().sinceNs >= KEPT_NS) {
                freed.add(removeOldest());
            }
            looks = !kept.isEmpty();
            toLook = looks;
        }
        free(freed);
        if (toLook) {
            lookLater();
        }
    }

    private static void free(List<Block> blocks) {
        for (Block each : blocks) {
            long _ = FREE.call(each.address);
        }
    }

    long keptBytes() {
        return keptBytes;
    }
}
