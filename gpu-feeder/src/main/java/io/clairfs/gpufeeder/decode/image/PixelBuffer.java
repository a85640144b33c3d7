package io.clairfs.gpufeeder.decode.image;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Native memory that grows with the images that were decoded into it, and shrinks after one that was unusually large. */
final class PixelBuffer implements AutoCloseable {
    private static final long LARGEST_KEPT = 64L << 20;

    private @Nullable Arena arena;
    private MemorySegment memory = MemorySegment.NULL;

    /** At least so many bytes; what was handed out before is invalid. */
    MemorySegment of(long bytes) {
        boolean tooLarge = memory.byteSize() > LARGEST_KEPT && bytes <= LARGEST_KEPT;
        if (arena == null || memory.byteSize() < bytes || tooLarge) {
            close();
            arena = Arena.ofShared();
            memory = arena.allocate(bytes + bytes / 4, 64);
        }
        return memory;
    }

    @Override
    public void close() {
        if (arena != null) {
            arena.close();
            arena = null;
            memory = MemorySegment.NULL;
        }
    }
}
