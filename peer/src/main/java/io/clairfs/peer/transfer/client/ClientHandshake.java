package io.clairfs.peer.transfer.client;

import io.clairfs.peer.Secret;
import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.Handshake;
import io.clairfs.peer.transfer.Handshake.Greeting;
import io.clairfs.peer.transfer.HandshakeDecoder;
import io.clairfs.peer.transfer.Refusal;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;

/** The client's side of the handshake: it greets first, proves itself first, and accepts no server that does not prove itself. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection, and that is noticed
final class ClientHandshake extends HandshakeDecoder {
    /** Receives the outcome: exactly one of the two is called, once, on the event loop. */
    interface Outcome {
        /** The connection may be used; the handshake takes itself out of the pipeline afterwards. */
        void accepted(ChannelHandlerContext context);

        /** The connection is being closed. */
        void refused(String reason);
    }

    private final Outcome outcome;

    ClientHandshake(Credentials credentials, int timeoutMs, Outcome outcome) {
        super(credentials, timeoutMs, Handshake.VERDICT_BYTES);
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
    protected boolean greeted(ChannelHandlerContext ctx, Greeting server) {
        if (server.version() != Handshake.VERSION) {
            refuse(ctx, Refusal.VERSION.text() + " (" + server.version() + ", here " + Handshake.VERSION + ")");
        } else if (server.refusal() != Refusal.NONE) {
            refuse(ctx, server.refusal().text());
        } else {
            ByteBuf proof = ctx.alloc().buffer(Secret.MAC_BYTES);
            proof.writeBytes(handshake.clientProof(server));
            ctx.writeAndFlush(proof);
            return true;
        }
        return false;
    }

    @Override
    protected void readProof(ChannelHandlerContext ctx, ByteBuf in, Greeting server) {
        Refusal refusal = Refusal.of(in.readUnsignedShort());
        byte[] proof = new byte[Secret.MAC_BYTES];
        in.readBytes(proof);
        if (refusal != Refusal.NONE) {
            refuse(ctx, refusal.text());
        } else if (!handshake.provesServer(server, proof)) {
            refuse(ctx, Refusal.SECRET.text());
        } else if (!handshake.sameDataset(server)) {
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
