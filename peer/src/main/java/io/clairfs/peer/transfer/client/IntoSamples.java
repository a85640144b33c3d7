package io.clairfs.peer.transfer.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells Netty where to read to: into the memory of the sample whose bytes are due, otherwise into a small buffer for a
 * header and little more, so that most of every large sample is copied once, by the kernel.
 */
final class IntoSamples extends DefaultMaxMessagesRecvByteBufAllocator {
    static final int HEAD_READ_BYTES = 8 << 10;
    private static final int MOST_READS_IN_A_ROW = 32;

    private final Supplier<@Nullable ByteBuf> target;

    IntoSamples(Supplier<@Nullable ByteBuf> target) {
        super(MOST_READS_IN_A_ROW);
        this.target = target;
    }

    @Override
    public MaxMessageHandle newHandle() {
        return new MaxMessageHandle() {
            @Override
            public ByteBuf allocate(ByteBufAllocator allocator) {
                ByteBuf into = target.get();
                return into != null ? into : allocator.ioBuffer(HEAD_READ_BYTES);
            }

            @Override
            public int guess() {
                return HEAD_READ_BYTES;
            }
        };
    }
}
