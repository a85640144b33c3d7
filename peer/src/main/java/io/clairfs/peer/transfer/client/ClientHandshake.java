package io.clairfs.peer.transfer.client;

import io.clairfs.peer.Secret;
import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.Handshake;
import io.clairfs.peer.transfer.Handshake.Greeting;
import io.clairfs.peer.transfer.HandshakeDecoder;
import io.clairfs.peer.transfer.Refusal;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.jspecify.annotations.Nullable;

/** The client's side of the handshake: speaks first, proves itself first, and believes nobody who does not prove himself. */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written closes the connection, and that is noticed
final class ClientHandshake extends HandshakeDecoder {
    /** Who is told how it went; exactly one of the two is called, once, on the event loop. */
    interface Outcome {
        /** The connection may be used; the handshake takes itself out of the pipeline afterwards. */
        void accepted(ChannelHandlerContext context);

        /** The connection is being closed. */
        void refused(String reason);
    }

    private final Handshake handshake;
    private final Outcome outcome;
    private @Nullable Greeting server;

    ClientHandshake(Credentials credentials, int timeoutMs, Outcome outcome) {
        super(timeoutMs);
        handshake = new Handshake(credentials);
        this.outcome = outcome;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        begin(ctx);
        ByteBuf greeting = ctx.alloc().buffer(Handshake.GREETING_BYTES);
        handshake.writeGreeting(greeting, Refusal.NONE);
        ctx.writeAndFlush(greeting);
    }

    @Override
    protected void read(ChannelHandlerContext ctx, ByteBuf in) {
        if (server == null) {
            readGreeting(ctx, in);
        } else if (in.readableBytes() >= Handshake.VERDICT_BYTES) {
            readVerdict(ctx, in, server);
        }
    }

    private void readGreeting(ChannelHandlerContext ctx, ByteBuf in) {
        Greeting greeting = greeting(ctx, in);
        if (greeting == null) {
            return;
        }
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
            accept(ctx);
        }
    }

    @Override
    protected void accepted(ChannelHandlerContext ctx) {
        outcome.accepted(ctx);
    }

    @Override
    protected void refused(ChannelHandlerContext ctx, String reason) {
        outcome.refused(reason);
        ctx.close();
    }
}
