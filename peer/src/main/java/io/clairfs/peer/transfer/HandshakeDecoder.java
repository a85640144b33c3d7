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
 * What both sides of the handshake have in common: it takes so long at most, it ends once, in one way or the other, and what comes after a refusal is not
 * looked at.
 */
public abstract class HandshakeDecoder extends ByteToMessageDecoder {
    private final int timeoutMs;
    private @Nullable Future<?> timeout;
    private boolean over;

    protected HandshakeDecoder(int timeoutMs) {
        this.timeoutMs = timeoutMs;
    }

    /** From now on the time runs. */
    protected final void begin(ChannelHandlerContext ctx) {
        timeout = ctx.executor()
                .schedule(
                        () -> refuse(ctx, "no handshake within " + timeoutMs + " ms"),
                        timeoutMs,
                        TimeUnit.MILLISECONDS);
    }

    /** More bytes of the other side are there. */
    protected abstract void read(ChannelHandlerContext ctx, ByteBuf in);

    /** The connection may be used. */
    protected abstract void accepted(ChannelHandlerContext ctx);

    /** The connection is to be closed. */
    protected abstract void refused(ChannelHandlerContext ctx, String reason);

    @Override
    protected final void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (over) {
            in.skipBytes(in.readableBytes());
        } else {
            read(ctx, in);
        }
    }

    /** The other side's greeting; null while it is not all there, or when it never will be. */
    protected final @Nullable Greeting greeting(ChannelHandlerContext ctx, ByteBuf in) {
        if (in.readableBytes() >= Integer.BYTES && in.getInt(in.readerIndex()) != Handshake.MAGIC) {
            refuse(ctx, "it does not speak the transfer protocol");
            return null;
        }
        return in.readableBytes() < Handshake.GREETING_BYTES ? null : Greeting.read(in);
    }

    /** Ends it well; takes itself out of the pipeline. */
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
