package io.clairfs.peer.transfer;

import io.clairfs.peer.Secret;
import io.clairfs.peer.transfer.Handshake.Greeting;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The client's side of the handshake: speaks first, proves itself first, and believes nobody who does not prove himself. */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written closes the connection, and that is noticed
final class ClientHandshake extends ByteToMessageDecoder {
    /** Who is told how it went; exactly one of the two is called, once, on the event loop. */
    interface Outcome {
        /** The connection may be used; the handshake takes itself out of the pipeline afterwards. */
        void accepted(ChannelHandlerContext context);

        /** The connection is being closed. */
        void refused(String reason);
    }

    private final Handshake handshake;
    private final int timeoutMs;
    private final Outcome outcome;
    private @Nullable Greeting server;
    private @Nullable Future<?> timeout;
    private boolean over;

    ClientHandshake(Credentials credentials, int timeoutMs, Outcome outcome) {
        handshake = new Handshake(credentials);
        this.timeoutMs = timeoutMs;
        this.outcome = outcome;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        timeout = ctx.executor()
                .schedule(
                        () -> refuse(ctx, "no handshake within " + timeoutMs + " ms"),
                        timeoutMs,
                        TimeUnit.MILLISECONDS);
        ByteBuf greeting = ctx.alloc().buffer(Handshake.GREETING_BYTES);
        handshake.writeGreeting(greeting, Refusal.NONE);
        ctx.writeAndFlush(greeting);
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (over) {
            in.skipBytes(in.readableBytes());
        } else if (server == null) {
            readGreeting(ctx, in);
        } else if (in.readableBytes() >= Handshake.VERDICT_BYTES) {
            readVerdict(ctx, in, server);
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
        if (greeting.version() != Handshake.VERSION) {
            refuse(ctx, Refusal.VERSION.text() + " (" + greeting.version() + ", here " + Handshake.VERSION + ")");
        } else if (greeting.refusal() != Refusal.NONE) {
            refuse(ctx, greeting.refusal().text());
        } else {
            server = greeting;
            ByteBuf proof = ctx.alloc().buffer(Secret.MAC_BYTES);
            proof.writeBytes(handshake.clientProof(greeting));
            ctx.writeAndFlush(proof);
        }
    }

    private void readVerdict(ChannelHandlerContext ctx, ByteBuf in, Greeting greeting) {
        Refusal refusal = Refusal.of(in.readUnsignedShort());
        byte[] proof = new byte[Secret.MAC_BYTES];
        in.readBytes(proof);
        if (refusal != Refusal.NONE) {
            refuse(ctx, refusal.text());
        } else if (!handshake.provesServer(greeting, proof)) {
            refuse(ctx, Refusal.SECRET.text());
        } else if (!handshake.sameDataset(greeting)) {
            refuse(ctx, Refusal.DATASET.text());
        } else {
            end();
            outcome.accepted(ctx);
            ctx.pipeline().remove(this);
        }
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
            outcome.refused(reason);
            ctx.close();
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
    }
}
