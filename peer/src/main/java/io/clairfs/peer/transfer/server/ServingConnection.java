package io.clairfs.peer.transfer.server;

import io.clairfs.peer.transfer.Failure;
import io.clairfs.peer.transfer.Frames;
import io.clairfs.peer.transfer.TransferLimits;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.concurrent.Future;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One peer that sends requests. They are passed to the service while the connection takes bytes, and its answers are written.
 *
 * <p>Requests wait here, not in the connection's send queue: a sample is served only when there is room to send it, so a slow
 * reader holds up to one queue's worth of samples and no more. Answers that come later are written as they come; while
 * too many bytes are promised ({@link RequestQueue}), nothing else is asked of the service.
 *
 * <p>Life cycle: {@link TransferServer} adds it to the channel after the handshake, and it ends with the channel. It closes the channel after
 * garbage, a stall or an error. All its state belongs to the channel's event loop, so it has no lock, and nothing here may block. The service is
 * called on the event loop too; later answers come from its own threads and are handed to the loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection, and that is noticed
final class ServingConnection extends ByteToMessageDecoder {
    private static final Logger LOG = System.getLogger(ServingConnection.class.getName());
    private static final int TICK_MS = 20;

    /** Answers without a sample that a peer may leave unread: those to requests that it cancels are bounded by nothing else. */
    private static final int MOST_ANSWERS_UNSENT = 32 << 10;

    private static final String TOO_MUCH = "more requests than it takes answers to";

    private final SampleService service;
    private final TransferLimits limits;
    private final ServeCounters counters;
    private final RequestQueue queue;
    private final IntObjectHashMap<Asked> open = new IntObjectHashMap<>();
    private @Nullable Future<?> tick;
    private int answersUnsent;
    private boolean encrypted;

    /** Bytes of samples that were written after the last flush. Before a flush TLS encrypts nothing, and the send queue does not count them. */
    private long unflushedBytes;

    /** Whether a reply is being written. Nothing else may be written then: nothing may come between its header and its bytes. */
    private boolean replying;

    ServingConnection(SampleService service, TransferLimits limits, ServeCounters counters) {
        this.service = service;
        this.limits = limits;
        this.counters = counters;
        queue = new RequestQueue(limits.windows().mostBytes());
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        encrypted = ctx.pipeline().get(SslHandler.class) != null;
        if (encrypted) {
            ctx.pipeline()
                    .addBefore(
                            ctx.name(), null, new ChunkedWriteHandler()); // keeps replies behind the pieces before them
        }
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext ctx) {
        if (tick != null) {
            tick.cancel(false);
        }
        queue.clear();
        open.clear();
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (in.readableBytes() < Frames.FRAME_HEAD_BYTES) {
            return;
        }
        int start = in.readerIndex();
        int type = in.getUnsignedByte(start);
        int count = in.getUnsignedShort(start + 2);
        int length = Frames.frameBytes(type, count);
        if (length < 0 || count == 0 || count > Frames.MOST_ENTRIES || in.getByte(start + 1) != 0) {
            garbage(ctx, in, "a frame of type " + type + " with " + count + " entries");
            return;
        }
        if (in.readableBytes() < length) {
            return;
        }
        if (Frames.crc(in, start, length - Frames.CRC_BYTES) != in.getInt(start + length - Frames.CRC_BYTES)) {
            garbage(ctx, in, "a frame with a wrong checksum");
            return;
        }
        ByteBuf entries = in.skipBytes(Frames.FRAME_HEAD_BYTES);
        switch (type) {
            case Frames.REQUEST, Frames.MAKE -> {
                counters.requestFrames.increment();
                counters.requests.add(count);
                readRequests(ctx, entries, count, type == Frames.MAKE);
            }
            case Frames.CANCEL -> readCancels(ctx, entries, count);
            case Frames.PING -> readPings(ctx, entries, count);
            default -> readDamaged(entries, count);
        }
        if (in.isReadable()) {
            in.skipBytes(Frames.CRC_BYTES);
        }
    }

    private void readRequests(ChannelHandlerContext ctx, ByteBuf in, int count, boolean toMake) {
        long now = System.nanoTime();
        for (int i = 0; i < count; i++) {
            int id = in.readInt();
            int sample = in.readInt();
            long bytes = in.readLong();
            long deadlineNs = now + in.readUnsignedInt() * 1_000;
            Asked asked = new Asked(id, sample, bytes, deadlineNs, toMake);
            if (open.size() >= limits.counts().requestsInFlight() || open.putIfAbsent(id, asked) != null) {
                garbage(ctx, in, "more requests than agreed, or one id twice");
                return;
            }
            queue.add(asked);
        }
    }

    private void readCancels(ChannelHandlerContext ctx, ByteBuf in, int count) {
        for (int i = 0; i < count; i++) {
            Asked asked = open.remove(in.readInt());
            if (asked != null) { // otherwise the answer is on its way already
                queue.remove(asked);
                fail(ctx, asked, Failure.CANCELLED);
            }
        }
        ctx.flush(); // here, for nothing may be left to serve; until it hears, the peer counts them in flight
        if (owesTooMuch(ctx)) {
            garbage(ctx, in, TOO_MUCH);
        }
    }

    /** Data on its way says as well that this side is there. */
    private static void readPings(ChannelHandlerContext ctx, ByteBuf in, int count) {
        if (!ctx.channel().isWritable()) {
            in.skipBytes(count * Integer.BYTES);
            return;
        }
        for (int i = 0; i < count; i++) {
            ByteBuf head = ctx.alloc().directBuffer(Frames.REPLY_HEAD_BYTES);
            Frames.writeReply(head, Frames.PONG, 0, 0, in.readInt(), 0, 0, 0);
            ctx.write(head);
        }
        ctx.flush();
    }

    private void readDamaged(ByteBuf in, int count) {
        for (int i = 0; i < count; i++) {
            counters.damaged.increment();
            service.damaged(in.readInt());
        }
    }

    private void garbage(ChannelHandlerContext ctx, ByteBuf in, String what) {
        counters.garbage.increment();
        LOG.log(Level.WARNING, ctx.channel().remoteAddress() + " sent " + what + ": disconnected");
        in.skipBytes(in.readableBytes());
        ctx.close();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
        serveQueue(ctx);
        super.channelReadComplete(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        serveQueue(ctx);
        ctx.fireChannelWritabilityChanged();
    }

    /**
     * Serves what there is room for. Writing a header alone may fill the send queue, which calls this in the middle of the reply:
     * then it does nothing, and the caller of the reply goes on.
     */
    private void serveQueue(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        if (replying || queue.isEmpty() || !channel.isActive()) {
            return;
        }
        channel.config()
                .setOption(EpollChannelOption.TCP_CORK, true); // headers travel with what follows, file or memory
        while (channel.isActive() && channel.isWritable()) {
            Asked asked = queue.poll();
            if (asked == null) {
                break;
            }
            if (open.get(asked.id) == asked) { // still wanted
                serve(ctx, asked);
                flushIfFull(ctx);
            }
        }
        ctx.flush();
        if (channel.isOpen()) { // the flush closes one that the peer has left
            channel.config().setOption(EpollChannelOption.TCP_CORK, false);
        }
        watchDeadlines(ctx);
    }

    private void flushIfFull(ChannelHandlerContext ctx) {
        if (encrypted && unflushedBytes >= ServedPieces.PIECE_BYTES) {
            unflushedBytes = 0;
            ctx.flush();
        }
    }

    /** While a request has no answer. A node has a connection to each other one, and those that owe nothing wake nobody. */
    private void watchDeadlines(ChannelHandlerContext ctx) {
        if (tick == null && !open.isEmpty()) {
            tick = ctx.executor()
                    .scheduleWithFixedDelay(() -> expireOrClose(ctx), TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void serve(ChannelHandlerContext ctx, Asked asked) {
        ServeResult result;
        try {
            result = asked.toMake
                    ? service.make(asked.sample, asked.bytes, asked.deadlineNs)
                    : service.serve(asked.sample, asked.bytes, asked.deadlineNs);
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "serving sample " + asked.sample, e);
            answer(ctx, asked, null);
            return;
        }
        if (result instanceof ServeResult.Later later) {
            queue.promise(asked, Math.clamp(asked.bytes, 0, limits.largestSampleBytes()));
            later.result()
                    .whenComplete((ServeResult then, Throwable error) ->
                            answerLater(ctx, asked, error == null ? then : null));
        } else {
            answer(ctx, asked, result);
        }
    }

    private void answerLater(ChannelHandlerContext ctx, Asked asked, @Nullable ServeResult result) {
        try {
            ctx.executor().execute(() -> {
                try {
                    answerNow(ctx, asked, result);
                } catch (Throwable t) { // the loop would only log it, and the peer wait
                    exceptionCaught(ctx, t);
                }
            });
        } catch (RejectedExecutionException closed) {
            if (result instanceof ServeResult.Held held) {
                held.release();
            }
        }
    }

    private void answerNow(ChannelHandlerContext ctx, Asked asked, @Nullable ServeResult result) {
        if (open.get(asked.id) == asked && ctx.channel().isActive()) {
            answer(ctx, asked, result);
            ctx.flush();
        } else if (result instanceof ServeResult.Held held) {
            held.release();
        }
        serveQueue(ctx);
    }

    private void answer(ChannelHandlerContext ctx, Asked asked, @Nullable ServeResult result) {
        open.remove(asked.id);
        replying = true;
        try {
            reply(ctx, asked, result);
        } finally {
            replying = false;
        }
    }

    private void reply(ChannelHandlerContext ctx, Asked asked, @Nullable ServeResult result) {
        switch (result) {
            case null -> fail(ctx, asked, Failure.SERVER);
            case ServeResult.Later later -> {
                LOG.log(Level.ERROR, "a service answered later with a later answer: " + later);
                fail(ctx, asked, Failure.SERVER);
            }
            case ServeResult.NotHere _ -> {
                counters.notHere.increment();
                writeWithoutSample(ctx, asked, Frames.NOT_HERE, 0);
            }
            case ServeResult.Held held
            when held.size() != asked.bytes || held.size() > limits.largestSampleBytes() -> {
                held.release();
                fail(ctx, asked, Failure.SIZE);
            }
            case ServeResult.Held held -> given(ctx, asked, write(ctx, asked, held));
        }
    }

    private void fail(ChannelHandlerContext ctx, Asked asked, Failure reason) {
        counters.failed.increment();
        writeWithoutSample(ctx, asked, Frames.FAILED, reason.ordinal());
    }

    private void writeWithoutSample(ChannelHandlerContext ctx, Asked asked, int type, int reason) {
        queue.free(asked);
        answersUnsent++;
        head(ctx, type, reason, 0, asked, 0, 0).addListener(_ -> answersUnsent--);
    }

    /** A request was answered with a sample, whose last bytes are sent when {@code written} is done. */
    private void given(ChannelHandlerContext ctx, Asked asked, ChannelFuture written) {
        if (asked.toMake) {
            written.addListener(_ -> {
                queue.free(asked);
                serveQueue(ctx);
            });
        } else {
            queue.free(asked);
        }
    }

    /** Writes a reply with a sample. The channel releases the result once it has it; until then it is released here, as where there is no memory for the head. */
    private ChannelFuture write(ChannelHandlerContext ctx, Asked asked, ServeResult.Held result) {
        Object body;
        ChannelFuture head;
        try {
            body = body(result);
            head = served(ctx, asked, result);
        } catch (RuntimeException | Error e) {
            result.release();
            throw e;
        }
        if (result.size() == 0) {
            result.release();
            return head;
        }
        ChannelFuture written = ctx.write(body);
        if (body instanceof ServedPieces) {
            written.addListener(sent -> closeUnless(sent.isSuccess(), ctx));
        }
        return written;
    }

    /** What a peer waits for that does not come is not followed by anything else. */
    private static void closeUnless(boolean sent, ChannelHandlerContext ctx) {
        if (!sent) {
            ctx.close();
        }
    }

    /** The sample as the channel takes it. */
    private Object body(ServeResult.Held result) {
        return switch (result) {
            case ServeResult.Memory memory ->
                encrypted && memory.size() > ServedPieces.PIECE_BYTES
                        ? new ServedPieces(memory)
                        : new ServedBytes(memory);
            case ServeResult.Stored stored -> encrypted ? new ServedPieces(stored) : new ServedFile(stored);
        };
    }

    private ChannelFuture served(ChannelHandlerContext ctx, Asked asked, ServeResult.Held result) {
        counters.served.increment();
        counters.servedBytes.add(result.size());
        unflushedBytes += result.size();
        return switch (result) {
            case ServeResult.Memory memory -> {
                int crc = memory.sample().crc32c();
                yield head(ctx, Frames.DATA, 0, Frames.brought(memory.broughtNs()), asked, memory.size(), crc);
            }
            case ServeResult.Stored stored -> {
                counters.sentFromFile.add(encrypted || stored.size() == 0 ? 0 : 1);
                yield head(ctx, Frames.DATA, 0, 0, asked, stored.size(), stored.crc32c());
            }
        };
    }

    private static ChannelFuture head(
            ChannelHandlerContext ctx, int type, int reason, int brought, Asked asked, long bytes, int crc) {
        ByteBuf head = ctx.alloc().directBuffer(Frames.REPLY_HEAD_BYTES);
        Frames.writeReply(head, type, reason, brought, asked.id, asked.sample, bytes, crc);
        return ctx.write(head);
    }

    /** What is thrown would end the looks for good. */
    private void expireOrClose(ChannelHandlerContext ctx) {
        try {
            expire(ctx);
        } catch (Throwable t) {
            exceptionCaught(ctx, t);
        }
    }

    private void expire(ChannelHandlerContext ctx) {
        if (open.isEmpty()) {
            if (tick != null) {
                tick.cancel(false);
                tick = null;
            }
            return;
        }
        long now = System.nanoTime();
        List<Asked> expired = open.values().stream()
                .filter(asked -> asked.deadlineNs - now < 0)
                .toList();
        for (Asked asked : expired) {
            if (open.remove(asked.id)
                    == asked) { // else it was answered meanwhile: what is written may let the queue go on
                queue.remove(asked);
                fail(ctx, asked, Failure.DEADLINE);
            }
        }
        ctx.flush();
        if (owesTooMuch(ctx)) {
            LOG.log(Level.WARNING, ctx.channel().remoteAddress() + ": " + TOO_MUCH + ": disconnected");
            ctx.close();
        } else if (!expired.isEmpty()) {
            serveQueue(ctx); // what they were promised is free for others
        }
    }

    /** Whether the other side asks on and takes no answers. Of samples it owes no more than it asked for, and one that takes none has stalled. */
    private boolean owesTooMuch(ChannelHandlerContext ctx) {
        return ctx.channel().isActive() && answersUnsent > MOST_ANSWERS_UNSENT;
    }

    /** Two idle periods in a row with unsent bytes mean that the other side has taken nothing for a whole one. */
    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event instanceof IdleStateEvent idle && !idle.isFirst()) {
            ChannelOutboundBuffer unsent = ctx.channel().unsafe().outboundBuffer();
            if (unsent != null && !unsent.isEmpty()) {
                counters.stalled.increment();
                LOG.log(
                        Level.WARNING,
                        ctx.channel().remoteAddress() + " has taken nothing for "
                                + limits.times().stallMs() + " ms: disconnected");
                ctx.close();
            }
        }
        super.userEventTriggered(ctx, event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        LOG.log(Level.INFO, ctx.channel().remoteAddress() + ": " + cause.getMessage() + ": disconnected");
        ctx.close();
    }
}
