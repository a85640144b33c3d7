package io.clairfs.peer.transfer.server;

import io.netty.channel.DefaultMessageSizeEstimator;
import io.netty.channel.FileRegion;
import io.netty.channel.MessageSizeEstimator;

/** Counts a piece of a file in a send queue by its bytes, as Netty counts memory, because it is held until it is sent, too. */
final class UnsentBytes implements MessageSizeEstimator {
    private static final Handle MEMORY = DefaultMessageSizeEstimator.DEFAULT.newHandle();
    private static final Handle ALL = message -> message instanceof FileRegion region
            ? (int) Math.min(region.count(), Integer.MAX_VALUE)
            : MEMORY.size(message);

    @Override
    public Handle newHandle() {
        return ALL;
    }
}
