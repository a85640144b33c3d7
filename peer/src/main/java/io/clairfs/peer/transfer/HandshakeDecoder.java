package io.clairfs.peer.transfer;

import io.clairfs.peer.transfer.Handshake.Greeting;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What both sides of the handshake have in common: it has a timeout, it ends once, accepted or refused, and bytes after a refusal are skipped.
 */
public abstract class HandshakeDecoder extends ByteToMessageDecoder {
    protected final Handshake handshake;

    private final int timeoutMs;
    private final int proofBytes;
    private @Nullable Future<?> timeout;
    private @Nullable Greeting other;
    private boolean over;

    /**
     * One side of a handshake.
     *
     * @param proofBytes of what the other side sends after its greeting
     */
    protected HandshakeDecoder(Credentials credentials, int timeoutMs, int proofBytes) {
        handshake = new Handshake(credentials);
        this.timeoutMs = timeoutMs;
        this.proofBytes = proofBytes;
    }

    /** Starts the timeout. */
    protected final void begin(ChannelHandlerContext ctx) {
        timeout = ctx.executor()
                .schedule(
                        () -> refuse(ctx, "no handshake within " + timeoutMs + " ms"),
                        timeoutMs,
                        TimeUnit.MILLISECONDS);
    }

    /** Answers the other side's greeting. Returns whether its proof is awaited. */
    protected abstract boolean greeted(ChannelHandlerContext ctx, Greeting other);

    /** Reads the other side's proof, which is whole in {@code in}. */
    protected abstract void readProof(ChannelHandlerContext ctx, ByteBuf in, Greeting other);

    /** The connection may be used. */
    protected abstract void accepted(ChannelHandlerContext ctx);

    /** The connection must be closed. */
    protected abstract void refused(ChannelHandlerContext ctx, String reason);

    @Override
    protected final void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (over) {
            in.skipBytes(in.readableBytes());
        } else if (other == null) {
            Greeting greeting = greeting(ctx, in);
            if (greeting != null && greeted(ctx, greeting)) {
                other = greeting;
            }
        } else if (in.readableBytes() >= proofBytes) {
            readProof(ctx, in, other);
        }
    }

    /** The other side's greeting; null while it is incomplete, or after a refusal. */
    private @Nullable Greeting greeting(ChannelHandlerContext ctx, ByteBuf in) {
        if (in.readableBytes() >= Integer.BYTES && in.getInt(in.readerIndex()) != Handshake.MAGIC) {
            refuse(ctx, "it does not speak the transfer protocol");
            return null;
        }
        return in.readableBytes() < Handshake.GREETING_BYTES ? null : Greeting.read(in);
    }

    /** Ends the handshake with success, and takes this out of the pipeline. */
    protected final void accept(ChannelHandlerContext ctx) {
        end();
        accepted(ctx);
        ctx.pipeline().remove(this);
    }

    protected final void refuse(ChannelHandlerContext ctx, String reason) {
        if (!over) {
            end();
            refused(ctx, reason);
        }
    }

    private void end() {
        over = true;
        if (timeout != null) {
            timeout.cancel(false);
        }
    }

    @Override
    public final void channelInactive(ChannelHandlerContext ctx) throws Exception {
        refuse(ctx, "it went away during the handshake");
        super.channelInactive(ctx);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // closing is noticed by its effect
    public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        refuse(ctx, "handshake: " + cause.getMessage());
        ctx.close();
    }
}
