package io.clairfs.peer.transfer;

import io.clairfs.peer.Secret;
import io.clairfs.peer.transfer.Handshake.Greeting;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The server's side of the handshake: the first thing on an accepted connection, and nothing is parsed behind it until it went well. */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written closes the connection, and that is noticed
final class ServerHandshake extends ByteToMessageDecoder {
    /** Who is told how it went; exactly one of the two is called, once, on the event loop. */
    interface Outcome {
        /** The connection may be used; the handshake takes itself out of the pipeline afterwards. */
        void accepted(ChannelHandlerContext context);

        /** The connection is being closed. */
        void refused(ChannelHandlerContext context, String reason);
    }

    private final Handshake handshake;
    private final int timeoutMs;
    private final boolean busy;
    private final Outcome outcome;
    private @Nullable Greeting client;
    private @Nullable Future<?> timeout;
    private boolean over;

    ServerHandshake(Credentials credentials, int timeoutMs, boolean busy, Outcome outcome) {
        handshake = new Handshake(credentials);
        this.timeoutMs = timeoutMs;
        this.busy = busy;
        this.outcome = outcome;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        timeout = ctx.executor()
                .schedule(
                        () -> refuse(ctx, "no handshake within " + timeoutMs + " ms"),
                        timeoutMs,
                        TimeUnit.MILLISECONDS);
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (over) {
            in.skipBytes(in.readableBytes());
        } else if (client == null) {
            readGreeting(ctx, in);
        } else if (in.readableBytes() >= Secret.MAC_BYTES) {
            readProof(ctx, in, client);
        }
    }

    private void readGreeting(ChannelHandlerContext ctx, ByteBuf in) {
        if (in.readableBytes() >= Integer.BYTES && in.getInt(in.readerIndex()) != Handshake.MAGIC) {
            refuse(ctx, "it does not speak the transfer protocol");
            return;
        }
        if (in.readableBytes() < Handshake.GREETING_BYTES) {
            return;
        }
        Greeting greeting = Greeting.read(in);
        Refusal refusal =
                greeting.version() != Handshake.VERSION ? Refusal.VERSION : busy ? Refusal.BUSY : Refusal.NONE;
        ByteBuf reply = ctx.alloc().buffer(Handshake.GREETING_BYTES);
        handshake.writeGreeting(reply, refusal);
        if (refusal == Refusal.NONE) {
            client = greeting;
            ctx.writeAndFlush(reply);
        } else {
            ctx.writeAndFlush(reply).addListener(ChannelFutureListener.CLOSE);
            String reason = refusal == Refusal.BUSY
                    ? "this node has as many connections as it may"
                    : refusal.text() + " (" + greeting.version() + ", here " + Handshake.VERSION + ")";
            refuse(ctx, reason);
        }
    }

    private void readProof(ChannelHandlerContext ctx, ByteBuf in, Greeting greeting) {
        byte[] proof = new byte[Secret.MAC_BYTES];
        in.readBytes(proof);
        Refusal refusal = !handshake.provesClient(greeting, proof)
                ? Refusal.SECRET
                : handshake.sameDataset(greeting) ? Refusal.NONE : Refusal.DATASET;
        // Who knows the secret is told with a proof, whatever the verdict; who does not is told nothing made with it.
        byte[] answer = refusal == Refusal.SECRET ? new byte[Secret.MAC_BYTES] : handshake.serverProof(greeting);
        ByteBuf verdict = ctx.alloc().buffer(Handshake.VERDICT_BYTES);
        verdict.writeShort(refusal.ordinal()).writeBytes(answer);
        if (refusal != Refusal.NONE) {
            ctx.writeAndFlush(verdict).addListener(ChannelFutureListener.CLOSE);
            refuse(ctx, refusal.text());
            return;
        }
        ctx.writeAndFlush(verdict);
        end();
        outcome.accepted(ctx);
        ctx.pipeline().remove(this);
    }

    private void end() {
        over = true;
        if (timeout != null) {
            timeout.cancel(false);
        }
    }

    private void refuse(ChannelHandlerContext ctx, String reason) {
        if (!over) {
            end();
            outcome.refused(ctx, reason);
            ctx.executor().schedule(() -> ctx.close(), 100, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        refuse(ctx, "it went away during the handshake");
        super.channelInactive(ctx);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        refuse(ctx, "handshake: " + cause.getMessage());
        ctx.close();
    }
}
