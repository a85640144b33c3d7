package io.clairfs.peer.transfer.server;

import io.netty.channel.DefaultFileRegion;

/** A served piece of a file as Netty sends it with sendfile; the file stays open, only the result is released. */
final class ServedFile extends DefaultFileRegion {
    private final ServeResult.Stored result;

    ServedFile(ServeResult.Stored result) {
        super(result.file(), result.offset(), result.size());
        this.result = result;
    }

    @Override
    protected void deallocate() {
        result.release();
    }
}
