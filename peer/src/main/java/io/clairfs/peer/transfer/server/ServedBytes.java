package io.clairfs.peer.transfer.server;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;

/** A served sample as Netty writes it: the sample's own memory. The result is released when it is written. */
final class ServedBytes extends UnpooledDirectByteBuf {
    private final ServeResult.Memory result;

    ServedBytes(ServeResult.Memory result) {
        super(UnpooledByteBufAllocator.DEFAULT, result.sample().bytes().asByteBuffer(), (int) result.size());
        this.result = result;
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        result.release();
    }
}
