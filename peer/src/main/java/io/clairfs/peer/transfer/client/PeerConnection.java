package io.clairfs.peer.transfer.client;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.transfer.Failure;
import io.clairfs.peer.transfer.Frames;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.client.ReplyStream.GarbageException;
import io.clairfs.peer.transfer.client.ReplyStream.Head;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.IntegerUnixChannelOption;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.collection.IntObjectHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a peer: the requests in flight, the window for further ones, and the answers.
 *
 * <p>Life cycle: {@link Peer} makes it when it begins to connect, and adds it to the channel after the handshake. {@link #lose} ends it once, with
 * its channel, and fails all requests in flight. It lives on the channel's event loop, where its {@link Owner} is called too, so it has no lock, and
 * nothing here may block. Other threads only read figures, which may be stale.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the connection, and that is noticed
final class PeerConnection extends ChannelInboundHandlerAdapter implements ReplyStream.Receiver {
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVLOWAT = 18;

    /** One damaged sample is that sample's fault; so many, without a good one between them, are the connection's. */
    private static final int MOST_DAMAGED_IN_A_ROW = 4;

    /** While something is in flight, requests wait until one such part of the window is free, and then travel together. */
    private static final int REQUESTS_IN_ONE = 4;

    private static final long MOST_DEADLINE_US = 0xFFFF_FFFFL;

    private static final int MOST_AT_ONCE_BYTES = 128 << 10;
    private static final IntegerUnixChannelOption LOW_WATER_MARK =
            new IntegerUnixChannelOption("SO_RCVLOWAT", SOL_SOCKET, SO_RCVLOWAT);

    /** The user of the connection; called on its event loop. */
    interface Owner {
        /** The connection takes requests, or takes them again. */
        void roomAgain();

        /** The peer answered something sensible, with so many bytes of a sample. */
        void wentWell(long bytes);

        /** The connection has ended with this request in flight. Returns whether another one is made for it. */
        boolean takesBack(Flight unanswered);

        /** A request is no longer known here. */
        void retired();

        /** The connection has ended. Called once. */
        void lost(String reason);
    }

    private final Owner owner;
    private final TransferLimits limits;
    private final FetchCounters counters;
    private final FairShare share;
    private final FlightWindow window;
    private final ReplyStream stream = new ReplyStream(this, SampleBuffer::allocate);
    private final IntObjectHashMap<Flight> flights = new IntObjectHashMap<>();
    private @Nullable ChannelHandlerContext context;
    private int nextId;
    private long inFlightBytes;

    /** Of requests for samples that the peer has to fetch first. */
    private long fetchingBytes;

    private final @Nullable SilenceWatch watch;
    private long heardNs = System.nanoTime();
    private int expiriesInARow;
    private int damagedInARow;
    private boolean epoll;
    private int wokenBytes = 1;
    private boolean lost;

    /** {@code isWatched} is for a connection beside others to the same peer, which can take its requests over: it is lost soon after it went silent. */
    PeerConnection(Owner owner, TransferLimits limits, FetchCounters counters, FairShare share, boolean isWatched) {
        watch = isWatched ? new SilenceWatch(limits.times().pongMs()) : null;
        this.owner = owner;
        this.limits = limits;
        this.counters = counters;
        this.share = share;
        this.window = new FlightWindow(limits, System.nanoTime());
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        epoll = ctx.channel() instanceof EpollSocketChannel && ctx.pipeline().get(SslHandler.class) == null;
    }

    boolean isReady() {
        return context != null && !lost;
    }

    @Nullable
    ByteBuf target() {
        return stream.target();
    }

    FlightWindow window() {
        return window;
    }

    long windowBytes() {
        return share.limit(window.bytes());
    }

    long inFlightBytes() {
        return inFlightBytes;
    }

    /** Whether a request goes out at once; to be asked from other threads as well, which may see what was. */
    boolean hasRoom() {
        long limit = windowBytes();
        return inFlightBytes <= limit - limit / REQUESTS_IN_ONE;
    }

    /** Whether this request would be sent now; as {@link #hasRoom}, from other threads as well. */
    boolean takes(Flight flight) {
        return hasRoom() && fits(flight.windowBytes(), windowBytes()) && mayGo(flight);
    }

    /** Not beyond half of what the peer promises at a time: samples that it has would wait there behind those that it has to fetch first. */
    private boolean mayGo(Flight flight) {
        return flight.fetchBytes() == 0
                || fetchingBytes == 0
                || fetchingBytes + flight.fetchBytes() <= limits.windows().mostBytes() / 2;
    }

    private boolean fits(long bytes, long limit) {
        return flights.size() < limits.counts().requestsInFlight()
                && (inFlightBytes == 0 || inFlightBytes + bytes <= limit);
    }

    /** Sends as many of the waiting requests as there is room for, and drops those that no caller waits for any more. */
    void send(WaitingFlights waiting, long nowNs) {
        ChannelHandlerContext ctx = context;
        if (ctx == null || lost) {
            return;
        }
        if (!hasRoom()) {
            return; // a little later there is room for several
        }
        long limit = windowBytes();
        if (watch != null && flights.isEmpty()) {
            watch.owesAgain(nowNs);
        }
        List<Flight> batch = new ArrayList<>();
        while (true) {
            Flight flight = waiting.poll(this::mayGo);
            boolean room = flight != null && fits(flight.windowBytes(), limit);
            if (flight != null && !room) {
                waiting.putBack(flight);
            }
            if (!batch.isEmpty() && (!room || batch.size() == Frames.MOST_ENTRIES)) {
                if (!writeOrLose(ctx, batch, nowNs)) {
                    if (flight != null && room) {
                        waiting.putBack(flight);
                    }
                    return;
                }
                batch.clear();
            }
            if (flight == null || !room) {
                break;
            }
            if (flight.promise().isDone()) {
                counters.failed.increment();
                owner.retired();
            } else if (flight.isOverdue(nowNs)) {
                counters.expired.increment();
                settle(flight, new Answer.Failed("no room to ask before the deadline"));
                owner.retired();
            } else {
                if (flight.isThere()) {
                    flight.sent(window.sent(inFlightBytes, inFlightBytes >= limit / 2, nowNs));
                }
                inFlightBytes += flight.windowBytes();
                fetchingBytes += flight.fetchBytes();
                while (flights.containsKey(nextId)) {
                    nextId++;
                }
                flights.put(nextId, flight);
                flight.id(nextId++);
                batch.add(flight);
            }
        }
        ctx.flush();
    }

    /** What cannot be written, as where memory is short, would be in flight for good: then the connection ends. Returns whether it goes on. */
    private boolean writeOrLose(ChannelHandlerContext ctx, List<Flight> batch, long nowNs) {
        try {
            write(ctx, batch, nowNs);
            return true;
        } catch (RuntimeException | Error e) {
            lose("requests cannot be written: " + e.getMessage());
            return false;
        }
    }

    private void write(ChannelHandlerContext ctx, List<Flight> batch, long nowNs) {
        List<Flight> toMake = batch.stream().filter(Flight::isToMake).toList();
        List<Flight> toGive = toMake.isEmpty()
                ? batch
                : batch.stream().filter(flight -> !flight.isToMake()).toList();
        write(ctx, Frames.REQUEST, toGive, nowNs);
        write(ctx, Frames.MAKE, toMake, nowNs);
    }

    private void write(ChannelHandlerContext ctx, int type, List<Flight> batch, long nowNs) {
        if (batch.isEmpty()) {
            return;
        }
        ByteBuf frame = ctx.alloc().directBuffer(Frames.frameBytes(type, batch.size()));
        frame.writeByte(type).writeByte(0).writeShort(batch.size());
        for (Flight flight : batch) {
            long us = Math.clamp(TimeUnit.NANOSECONDS.toMicros(flight.deadlineNs() - nowNs), 0, MOST_DEADLINE_US);
            frame.writeInt(flight.id())
                    .writeInt(flight.sample())
                    .writeLong(flight.bytes())
                    .writeInt((int) us);
        }
        Frames.seal(frame, 0);
        counters.requestFrames.increment();
        ctx.write(frame);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (lost) {
            ReferenceCountUtil.release(message);
            return;
        }
        heardNs = System.nanoTime();
        try {
            stream.read((ByteBuf) message);
        } catch (GarbageException e) {
            counters.garbage.increment();
            lose(e.what());
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (!lost) {
            wakeWhenThereIs(ctx, stream.wanted());
            owner.roomAgain();
        }
    }

    /**
     * The rest of a sample is certain to come, so this thread is woken when it is there and not for every piece of it. On one machine,
     * waking a thread costs the sender as much as sending some ten kilobytes.
     */
    private void wakeWhenThereIs(ChannelHandlerContext ctx, long bytes) {
        int atOnce = Math.clamp(bytes, 1, MOST_AT_ONCE_BYTES);
        if (epoll && atOnce != wokenBytes) {
            wokenBytes = atOnce;
            ctx.channel().config().setOption(LOW_WATER_MARK, atOnce);
        }
    }

    @Override
    public boolean begin(Head head) throws GarbageException {
        if (isPong(head)) {
            return false;
        }
        Flight flight = flights.get(head.id());
        if (flight == null || flight.sample() != head.sample()) {
            throw garbage("an answer to a question that was not asked");
        }
        boolean known = head.type() == Frames.DATA || head.type() == Frames.NOT_HERE || head.type() == Frames.FAILED;
        if (!known || head.bytes() != (head.type() == Frames.DATA ? flight.bytes() : 0)) {
            throw garbage("an answer of an impossible kind or length");
        }
        if (flight.isThere()) {
            window.answered(flight.howSent(), heardNs);
        }
        return head.type() == Frames.DATA && !flight.isGivenUp();
    }

    /** Whether it answers a ping; that it came is enough. */
    private boolean isPong(Head head) {
        return watch != null && head.type() == Frames.PONG && head.bytes() == 0;
    }

    private static GarbageException garbage(String what) {
        return new GarbageException("it sent " + what);
    }

    @Override
    public void end(Head head, @Nullable SampleBuffer sample, int crc) throws GarbageException {
        if (isPong(head)) {
            return;
        }
        Flight flight = flights.remove(head.id());
        inFlightBytes -= flight.windowBytes();
        fetchingBytes -= flight.fetchBytes();
        if (head.type() == Frames.DATA && flight.isThere()) {
            window.delivered(flight.howSent(), flight.bytes(), heardNs);
        }
        if (sample != null && crc != head.crc()) {
            sample.release();
            damaged(flight, head.sample());
            return;
        }
        if (flight.isGivenUp()) {
            counters.lateBytes.add(head.bytes());
        } else if (head.type() != Frames.FAILED) {
            expiriesInARow = 0;
            owner.wentWell(head.bytes());
        }
        if (sample != null) {
            damagedInARow = 0;
            sample.crc32cIs(crc);
            settle(flight, new Answer.Got(sample, Frames.broughtNs(head.brought())));
        } else if (head.type() == Frames.NOT_HERE) {
            settle(flight, new Answer.NotHere());
        } else {
            settle(flight, new Answer.Failed(Failure.text(head.reason())));
        }
        owner.retired();
    }

    /** The headers around the sample are whole, so the connection may stay. The peer is told, and checks its copy. */
    private void damaged(Flight flight, int number) throws GarbageException {
        counters.checksumFailures.increment();
        String reason = "the bytes of sample " + number + " do not have their checksum";
        settle(flight, new Answer.Failed(reason));
        owner.retired();
        if (++damagedInARow == MOST_DAMAGED_IN_A_ROW) {
            throw new GarbageException(reason + ", nor do those before it");
        }
        ChannelHandlerContext ctx = context;
        if (ctx != null) {
            ByteBuf frame = ctx.alloc().directBuffer(Frames.frameBytes(Frames.DAMAGED, 1));
            frame.writeByte(Frames.DAMAGED).writeByte(0).writeShort(1).writeInt(number);
            Frames.seal(frame, 0);
            ctx.writeAndFlush(frame);
        }
    }

    private void settle(Flight flight, Answer answer) {
        if (flight.isGivenUp()) {
            flight.settle(answer); // counted when it was given up; this releases a sample that came after all
            return;
        }
        count(answer, 1); // before the caller is told, so that it finds the answer counted
        if (!flight.settle(answer)) {
            count(answer, -1);
            counters.failed.increment();
        }
    }

    private void count(Answer answer, int times) {
        switch (answer) {
            case Answer.Got got -> {
                counters.got.add(times);
                counters.gotBytes.add(times * got.sample().size());
            }
            case Answer.NotHere _ -> counters.notHere.add(times);
            case Answer.Failed _ -> counters.failed.add(times);
        }
    }

    /** Gives up requests that are overdue or given up by their callers, and the connection if the peer is silent or too slow. */
    void expire(long nowNs) {
        List<Flight> unwanted = new ArrayList<>();
        long silenceNs = TimeUnit.MILLISECONDS.toNanos(limits.times().silenceMs());
        boolean owing = false;
        for (Flight flight : flights.values()) {
            if (flight.isGivenUp()) {
                owing |= nowNs - flight.givenUpNs() > silenceNs;
            } else if (flight.promise().isDone() || flight.isOverdue(nowNs)) {
                unwanted.add(flight);
            }
        }
        for (Flight flight : unwanted) {
            counters.failed.increment();
            if (flight.isOverdue(nowNs)) {
                counters.expired.increment();
                expiriesInARow += flight.isThere() ? 1 : 0; // the others say nothing of the connection
            }
            flight.giveUp(nowNs);
            flight.settle(new Answer.Failed("no answer by the deadline"));
        }
        cancel(unwanted);
        if (owing && nowNs - heardNs > silenceNs) {
            lose("silent for more than " + limits.times().silenceMs() + " ms");
        } else if (expiriesInARow >= limits.counts().expiriesInARow()) {
            lose("too slow: " + expiriesInARow + " requests in a row were not answered by their deadlines");
        } else if (watch != null && !flights.isEmpty()) {
            heed(watch, nowNs);
        }
    }

    private void heed(SilenceWatch silence, long nowNs) {
        ChannelHandlerContext ctx = context;
        SilenceWatch.Next next = silence.next(heardNs, nowNs);
        if (next == SilenceWatch.Next.GIVE_UP) {
            lose("no answer to a ping for " + silence.silentMs(nowNs) + " ms");
        } else if (next == SilenceWatch.Next.PING && ctx != null) {
            ByteBuf frame = ctx.alloc().directBuffer(Frames.frameBytes(Frames.PING, 1));
            frame.writeByte(Frames.PING).writeByte(0).writeShort(1).writeInt(0);
            Frames.seal(frame, 0);
            ctx.writeAndFlush(frame);
        }
    }

    private void cancel(List<Flight> unwanted) {
        ChannelHandlerContext ctx = context;
        for (int from = 0; ctx != null && from < unwanted.size(); from += Frames.MOST_ENTRIES) {
            List<Flight> batch = unwanted.subList(from, Math.min(unwanted.size(), from + Frames.MOST_ENTRIES));
            ByteBuf frame = ctx.alloc().directBuffer(Frames.frameBytes(Frames.CANCEL, batch.size()));
            frame.writeByte(Frames.CANCEL).writeByte(0).writeShort(batch.size());
            batch.forEach(flight -> frame.writeInt(flight.id()));
            Frames.seal(frame, 0);
            ctx.writeAndFlush(frame);
        }
    }

    /** Ends the connection; all requests in flight fail for this reason, unless the owner takes them back. */
    void lose(String reason) {
        if (lost) {
            return;
        }
        lost = true;
        stream.close();
        List<Flight> failed = List.copyOf(flights.values());
        flights.clear();
        inFlightBytes = 0;
        fetchingBytes = 0;
        if (context != null) {
            context.close();
        }
        owner.lost(reason);
        for (Flight flight : failed) {
            if (!flight.isGivenUp() && owner.takesBack(flight)) {
                continue;
            }
            if (!flight.isGivenUp()) {
                settle(flight, new Answer.Failed(reason));
            }
            owner.retired();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        lose("it closed the connection");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        lose("connection: " + cause.getMessage());
    }
}
