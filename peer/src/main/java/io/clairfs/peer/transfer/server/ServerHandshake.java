package io.clairfs.peer.transfer.server;

import io.clairfs.peer.Secret;
import io.clairfs.peer.transfer.Credentials;
import io.clairfs.peer.transfer.Handshake;
import io.clairfs.peer.transfer.Handshake.Greeting;
import io.clairfs.peer.transfer.HandshakeDecoder;
import io.clairfs.peer.transfer.Refusal;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.TimeUnit;

/** The server's side of the handshake. It comes first on an accepted connection, and no later byte is parsed before it has succeeded. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection, and that is noticed
final class ServerHandshake extends HandshakeDecoder {
    /** Receives the outcome: exactly one of the two is called, once, on the event loop. */
    interface Outcome {
        /** The connection may be used; the handshake takes itself out of the pipeline afterwards. */
        void accepted(ChannelHandlerContext context);

        /** The connection is being closed. */
        void refused(ChannelHandlerContext context, String reason);
    }

    private final boolean busy;
    private final Outcome outcome;

    ServerHandshake(Credentials credentials, int timeoutMs, boolean busy, Outcome outcome) {
        super(credentials, timeoutMs, Secret.MAC_BYTES);
        this.busy = busy;
        this.outcome = outcome;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        begin(ctx);
    }

    @Override
    protected boolean greeted(ChannelHandlerContext ctx, Greeting client) {
        Refusal refusal = client.version() != Handshake.VERSION ? Refusal.VERSION : busy ? Refusal.BUSY : Refusal.NONE;
        ByteBuf reply = ctx.alloc().buffer(Handshake.GREETING_BYTES);
        handshake.writeGreeting(reply, refusal);
        if (refusal == Refusal.NONE) {
            ctx.writeAndFlush(reply);
        } else {
            ctx.writeAndFlush(reply).addListener(ChannelFutureListener.CLOSE);
            String reason = refusal == Refusal.BUSY
                    ? "this node has as many connections as it may"
                    : refusal.text() + " (" + client.version() + ", here " + Handshake.VERSION + ")";
            refuse(ctx, reason);
        }
        return refusal == Refusal.NONE;
    }

    @Override
    protected void readProof(ChannelHandlerContext ctx, ByteBuf in, Greeting client) {
        byte[] proof = new byte[Secret.MAC_BYTES];
        in.readBytes(proof);
        Refusal refusal = !handshake.provesClient(client, proof)
                ? Refusal.SECRET
                : handshake.sameDataset(client) ? Refusal.NONE : Refusal.DATASET;
        // A client that knows the secret gets a proof, whatever the verdict; others get nothing made with the secret.
        byte[] answer = refusal == Refusal.SECRET ? new byte[Secret.MAC_BYTES] : handshake.serverProof(client);
        ByteBuf verdict = ctx.alloc().buffer(Handshake.VERDICT_BYTES);
        verdict.writeShort(refusal.ordinal()).writeBytes(answer);
        if (refusal != Refusal.NONE) {
            ctx.writeAndFlush(verdict).addListener(ChannelFutureListener.CLOSE);
            refuse(ctx, refusal.text());
            return;
        }
        ctx.writeAndFlush(verdict);
        accept(ctx);
    }

    @Override
    protected void accepted(ChannelHandlerContext ctx) {
        outcome.accepted(ctx);
    }

    @Override
    protected void refused(ChannelHandlerContext ctx, String reason) {
        outcome.refused(ctx, reason);
        ctx.executor().schedule(() -> ctx.close(), 100, TimeUnit.MILLISECONDS);
    }
}
