package io.clairfs.peer.transfer;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** An allocator of a process that has no direct memory left. */
public final class NoDirectMemory extends AbstractByteBufAllocator {
    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return Unpooled.buffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        throw new OutOfMemoryError("no direct memory, for the test");
    }

    @Override
    public boolean isDirectBufferPooled() {
        return false;
    }
}
