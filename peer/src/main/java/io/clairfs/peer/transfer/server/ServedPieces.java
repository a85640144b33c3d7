package io.clairfs.peer.transfer.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.stream.ChunkedInput;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A served sample for TLS, which encrypts in this process: a piece is encrypted when the connection has room for it, so no more of a sample is there twice
 * than the connection may leave unsent. The result is released with the last piece, or when the channel closes this.
 */
final class ServedPieces implements ChunkedInput<ByteBuf> {
    static final int PIECE_BYTES = 64 << 10;
    private static final Logger LOG = System.getLogger(ServedPieces.class.getName());

    private final ServeResult.Held result;
    private final @Nullable ServedBytes inMemory;
    private long at;
    private boolean closed;

    ServedPieces(ServeResult.Held result) {
        this.result = result;
        inMemory = result instanceof ServeResult.Memory memory ? new ServedBytes(memory) : null;
    }

    @Override
    public boolean isEndOfInput() {
        return at == result.size();
    }

    /** Fails where the file cannot be read. Its connection has to be closed then: the peer waits for the rest. */
    @Override
    public ByteBuf readChunk(ByteBufAllocator allocator) throws IOException {
        int length = (int) Math.min(PIECE_BYTES, result.size() - at);
        ByteBuf piece = switch (result) {
            case ServeResult.Memory _ when inMemory != null -> inMemory.retainedSlice((int) at, length);
            case ServeResult.Memory _ -> throw new AssertionError("a sample in memory without its bytes");
            case ServeResult.Stored stored -> copy(stored, allocator.directBuffer(length), length);
        };
        at += length;
        return piece;
    }

    private ByteBuf copy(ServeResult.Stored stored, ByteBuf piece, int length) throws IOException {
        try {
            fill(piece.nioBuffer(0, length), stored);
            return piece.writerIndex(length);
        } catch (IOException | RuntimeException e) {
            piece.release();
            LOG.log(Level.ERROR, "a stored sample cannot be read: " + e.getMessage());
            throw e;
        }
    }

    private void fill(ByteBuffer piece, ServeResult.Stored stored) throws IOException {
        while (piece.hasRemaining()) {
            if (stored.file().read(piece, stored.offset() + at + piece.position()) < 0) {
                throw new IOException("the file is shorter than was said");
            }
        }
    }

    @Override
    @Deprecated
    @SuppressWarnings("InlineMeSuggester") // that it is deprecated is said where it is declared
    public ByteBuf readChunk(ChannelHandlerContext context) throws IOException {
        return readChunk(context.alloc());
    }

    @Override
    public long length() {
        return result.size();
    }

    @Override
    public long progress() {
        return at;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (inMemory == null) {
            result.release();
        } else {
            boolean _ = inMemory.release(); // the result goes with the last piece of it
        }
    }
}
