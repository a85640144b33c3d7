package io.clairfs.peer.transfer.server;

import static io.clairfs.peer.transfer.TransferTest.ANY_PORT;
import static io.clairfs.peer.transfer.TransferTest.CREDENTIALS;
import static io.clairfs.peer.transfer.TransferTest.PATIENT;
import static io.clairfs.peer.transfer.TransferTest.in;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.transfer.Failure;
import io.clairfs.peer.transfer.Frames;
import io.clairfs.peer.transfer.LeakWatch;
import io.clairfs.peer.transfer.NoDirectMemory;
import io.clairfs.peer.transfer.ServedSamples;
import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferThreads;
import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.FileRegion;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Head and bytes of a reply stay together, however little the way out takes at a time. */
@Timeout(120)
final class ServingConnectionTest {
    private static final int SAMPLES = 200;
    private static final int STRIDE = 6_000;
    private static final long NOTHING_DUE = -1;

    private final LeakWatch leaks = new LeakWatch();
    private final AtomicInteger lentOut = new AtomicInteger();
    private final int[] sizes = new int[SAMPLES];
    private final int[] crcs = new int[SAMPLES];

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @SuppressWarnings("NullAway.Init")
    private FileChannel file;

    @BeforeEach
    void makeSamples() throws IOException {
        file = FileChannel.open(
                Files.createFile(directory.resolve("samples")), StandardOpenOption.READ, StandardOpenOption.WRITE);
        for (int i = 0; i < SAMPLES; i++) {
            sizes[i] = i % 17 == 0 ? 0 : 1 + i * 7919 % STRIDE;
            SampleBuffer bytes = filled(i);
            crcs[i] = Frames.crc(bytes.bytes().asByteBuffer());
            file.write(bytes.bytes().asByteBuffer(), (long) i * STRIDE);
            bytes.release();
        }
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        long end = in(30_000);
        while (lentOut.get() != 0) {
            assertThat(System.nanoTime()).as("a result was not released").isLessThan(end);
            Thread.sleep(5);
        }
        file.close();
        leaks.end();
    }

    private SampleBuffer filled(int sample) {
        SampleBuffer bytes = SampleBuffer.allocate(sizes[sample]);
        ServedSamples.fill(sample, bytes.bytes());
        return bytes;
    }

    private ServeResult serve(int sample) {
        if (sample % 3 == 0) {
            return new ServeResult.Memory(filled(sample));
        }
        lentOut.incrementAndGet();
        return new ServeResult.Stored(
                file, (long) sample * STRIDE, sizes[sample], crcs[sample], lentOut::decrementAndGet);
    }

    /** From memory, from a file, not at all, and later, by a service that is done when the test says so. */
    private ServeResult mixed(int sample, List<Runnable> later) {
        if (sample % 11 == 0) {
            return ServeResult.NOT_HERE;
        }
        if (sample % 5 == 0) {
            CompletableFuture<ServeResult> promise = new CompletableFuture<>();
            later.add(() -> promise.complete(serve(sample)));
            return new ServeResult.Later(promise);
        }
        return serve(sample);
    }

    /** A request for one sample, as it comes. */
    private ByteBuf request(int id, int sample, int deadlineUs) {
        return request(Frames.REQUEST, id, sample, sizes[sample], deadlineUs);
    }

    private static ByteBuf request(int type, int id, int sample, long bytes, int deadlineUs) {
        ByteBuf request = Unpooled.buffer();
        request.writeByte(type).writeByte(0).writeShort(1);
        request.writeInt(id).writeInt(sample).writeLong(bytes).writeInt(deadlineUs);
        Frames.seal(request, 0);
        return request;
    }

    private static ByteBuf cancel(int id) {
        ByteBuf cancel = Unpooled.buffer();
        cancel.writeByte(Frames.CANCEL).writeByte(0).writeShort(1).writeInt(id);
        Frames.seal(cancel, 0);
        return cancel;
    }

    /** A service that gives and makes a sample of three at once, and the others when the test says so. */
    private SampleService slow(List<CompletableFuture<ServeResult>> later) {
        return new SampleService() {
            @Override
            public ServeResult serve(int sample, long bytes, long deadlineNs) {
                if (sample % 3 == 0) {
                    return ServingConnectionTest.this.serve(sample);
                }
                CompletableFuture<ServeResult> promise = new CompletableFuture<>();
                later.add(promise);
                return new ServeResult.Later(promise);
            }

            @Override
            public ServeResult make(int sample, long bytes, long deadlineNs) {
                return serve(sample, bytes, deadlineNs);
            }
        };
    }

    /** Reads the head of a reply, and the bytes of its sample if it has one. */
    private void assertReply(EmbeddedChannel channel, int type, int id) {
        ByteBuf head = channel.readOutbound();
        assertThat(head).as("a reply to request %d", id).isNotNull();
        assertThat((int) head.getByte(0)).isEqualTo(type);
        assertThat(head.getInt(4)).isEqualTo(id);
        int sample = head.getInt(8);
        head.release();
        if (type == Frames.DATA) {
            ByteBuf bytes = channel.readOutbound();
            assertThat(Frames.crc(bytes, bytes.readerIndex(), sizes[sample])).isEqualTo(crcs[sample]);
            bytes.release();
        }
    }

    /** As where the source does not answer the node that is to bring the sample. */
    @ParameterizedTest
    @CsvSource({"1,true", "1,false", "4,true", "4,false"})
    void bytesPromisedToARequestThatEnds_areFreeOnce_andHoldBackNoOtherKind(int type, boolean isCancelled) {
        int most = 1 << 20;
        int otherType = type == Frames.MAKE ? Frames.REQUEST : Frames.MAKE;
        int patientUs = 60_000_000;
        List<CompletableFuture<ServeResult>> later = new ArrayList<>();
        TransferLimits narrow = PATIENT.withWindows(1 << 16, 1 << 16, most, most);
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.freezeTime();
        channel.pipeline().addLast(new ServingConnection(slow(later), narrow, new ServeCounters()));
        channel.writeInbound(request(type, 1, 4, most, isCancelled ? patientUs : 0));
        channel.writeInbound(request(type, 2, 3, sizes[3], patientUs));
        assertThat(channel.outboundMessages()).as("no more may be promised").isEmpty();
        if (isCancelled) {
            channel.writeInbound(cancel(1));
        } else {
            channel.advanceTimeBy(1, TimeUnit.SECONDS);
            long _ = channel.runScheduledPendingTasks();
        }
        assertReply(channel, Frames.FAILED, 1);
        assertReply(channel, Frames.DATA, 2);

        channel.writeInbound(request(type, 3, 5, most, patientUs));
        later.getFirst().complete(ServeResult.NOT_HERE); // of the first, long after its end
        channel.runPendingTasks();
        channel.writeInbound(request(type, 4, 3, sizes[3], patientUs));
        assertThat(channel.outboundMessages()).as("no more may be promised").isEmpty();
        channel.writeInbound(request(otherType, 5, 3, sizes[3], patientUs));
        assertReply(channel, Frames.DATA, 5);
        assertThat(channel.outboundMessages()).isEmpty();
        channel.finishAndReleaseAll();
    }

    @Test
    void cancel_togetherWithItsRequest_isAnsweredAtOnce() {
        EmbeddedChannel channel = new EmbeddedChannel(
                new ServingConnection((sample, _, _) -> serve(sample), PATIENT, new ServeCounters()));
        ByteBuf both = Unpooled.buffer();
        both.writeByte(Frames.REQUEST).writeByte(0).writeShort(1);
        both.writeInt(1).writeInt(3).writeLong(sizes[3]).writeInt(60_000_000);
        Frames.seal(both, 0);
        int cancelAt = both.writerIndex();
        both.writeByte(Frames.CANCEL).writeByte(0).writeShort(1).writeInt(1);
        Frames.seal(both, cancelAt);
        channel.writeInbound(both);
        ByteBuf reply = channel.readOutbound();
        assertThat(reply).as("what is written and not flushed is not sent").isNotNull();
        assertThat(reply.getByte(0)).isEqualTo((byte) Frames.FAILED);
        reply.release();
        channel.finishAndReleaseAll();
    }

    @Test
    void laterAnswerThatCannotBeWritten_endsTheConnection_forThePeerWouldWait() {
        CompletableFuture<ServeResult> later = new CompletableFuture<>();
        EmbeddedChannel channel = new EmbeddedChannel(
                new ServingConnection((_, _, _) -> new ServeResult.Later(later), PATIENT, new ServeCounters()));
        channel.writeInbound(request(1, 3, 60_000_000));
        SampleBuffer gone = filled(3);
        ServeResult.Memory answer = new ServeResult.Memory(gone);
        gone.release();
        later.complete(answer);
        channel.runPendingTasks();
        assertThat(channel.isOpen()).isFalse();
        channel.finishAndReleaseAll();
    }

    /** As where memory is short: without its head no sample is sent, and nothing else would release it. */
    @ParameterizedTest
    @ValueSource(ints = {3, 4})
    void sampleWhoseHeadCannotBeWritten_isReleased_andTheConnectionEnds(int number) {
        SampleBuffer inMemory = filled(number);
        ServeResult result = number % 3 == 0 ? new ServeResult.Memory(inMemory) : serve(number);
        EmbeddedChannel channel =
                new EmbeddedChannel(new ServingConnection((_, _, _) -> result, PATIENT, new ServeCounters()));
        channel.config().setAllocator(new NoDirectMemory());
        channel.writeInbound(request(1, number, 60_000_000));
        assertThat(channel.isOpen()).isFalse();
        assertThat(lentOut).hasValue(0);
        if (result instanceof ServeResult.Stored) {
            inMemory.release();
        }
        assertThat(inMemory.tryRetain()).as("released").isFalse();
        channel.finishAndReleaseAll();
    }

    @Test
    void connection_thatOwesNothing_wakesNobody() {
        CompletableFuture<ServeResult> later = new CompletableFuture<>();
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.freezeTime();
        channel.pipeline()
                .addLast(
                        new ServingConnection((_, _, _) -> new ServeResult.Later(later), PATIENT, new ServeCounters()));
        assertThat(channel.runScheduledPendingTasks()).as("nothing is due").isEqualTo(NOTHING_DUE);
        channel.writeInbound(request(1, 3, 60_000_000));
        assertThat(channel.runScheduledPendingTasks()).as("the deadline").isPositive();
        later.complete(serve(3));
        channel.runPendingTasks();
        assertThat(channel.outboundMessages()).isNotEmpty();
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        assertThat(channel.runScheduledPendingTasks()).as("answered").isEqualTo(NOTHING_DUE);
        channel.finishAndReleaseAll();
    }

    @Test
    void loanThatComesAfterTheDeadline_isReleased() {
        CompletableFuture<ServeResult> later = new CompletableFuture<>();
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.freezeTime();
        channel.pipeline()
                .addLast(
                        new ServingConnection((_, _, _) -> new ServeResult.Later(later), PATIENT, new ServeCounters()));
        channel.writeInbound(request(1, 4, 0)); // the service is asked all the same
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        long _ = channel.runScheduledPendingTasks();
        ByteBuf reply = channel.readOutbound();
        assertThat(reply).as("in time, without the loan").isNotNull();
        assertThat(reply.getByte(0)).isEqualTo((byte) Frames.FAILED);
        assertThat(reply.getByte(1)).isEqualTo((byte) Failure.DEADLINE.ordinal());
        reply.release();

        ServeResult loan = serve(4);
        assertThat(lentOut).hasValue(1);
        later.complete(loan);
        channel.runPendingTasks();
        assertThat(lentOut).hasValue(0);
        assertThat(channel.outboundMessages()).isEmpty();
        channel.finishAndReleaseAll();
    }

    /** As a channel that takes everything at once, but counts itself full after {@code high} bytes. */
    @ParameterizedTest
    @ValueSource(ints = {1, 100, 124, 200, 5_000, 50_000})
    void reply_queueFillsBehindItsHead_staysWhole(int high) throws IOException {
        List<Runnable> later = new ArrayList<>();
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(Math.min(high, 64), high));
        ServeCounters counters = new ServeCounters();
        channel.pipeline().addLast(new ServingConnection((sample, _, _) -> mixed(sample, later), PATIENT, counters));
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < SAMPLES; i++) {
            order.add(i);
        }
        Collections.shuffle(order, new Random(high));
        ByteBuf request = Unpooled.buffer();
        request.writeByte(Frames.REQUEST).writeByte(0).writeShort(SAMPLES);
        for (int sample : order) {
            request.writeInt(1_000 + sample).writeInt(sample).writeLong(sizes[sample]);
            request.writeInt(60_000_000);
        }
        Frames.seal(request, 0);
        channel.writeInbound(request);
        for (Runnable each : later) { // one at a time: this channel runs what is due in the midst of every write
            each.run();
            channel.runPendingTasks();
        }
        ByteBuf sent = Unpooled.buffer();
        for (Object message = channel.readOutbound(); message != null; message = channel.readOutbound()) {
            append(sent, message);
        }
        channel.finishAndReleaseAll();
        assertReplies(sent);
        assertThat(counters.requests.sum()).isEqualTo(SAMPLES);
    }

    private static void append(ByteBuf sent, Object message) throws IOException {
        if (message instanceof FileRegion region) {
            java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
            WritableByteChannel into = Channels.newChannel(bytes);
            while (region.transferred() < region.count()) {
                region.transferTo(into, region.transferred());
            }
            sent.writeBytes(bytes.toByteArray());
            region.release();
        } else {
            sent.writeBytes((ByteBuf) message);
            ((ByteBuf) message).release();
        }
    }

    private void assertReplies(ByteBuf sent) {
        Set<Integer> answered = new HashSet<>();
        while (sent.isReadable()) {
            ByteBuffer head = sent.nioBuffer(sent.readerIndex(), Frames.REPLY_HEAD_BYTES);
            int crcAt = Frames.REPLY_HEAD_BYTES - Frames.CRC_BYTES;
            assertThat(Frames.crc(head.slice(0, crcAt)))
                    .as("a reply's head is where the last reply ends")
                    .isEqualTo(head.getInt(crcAt));
            sent.skipBytes(Frames.REPLY_HEAD_BYTES);
            int sample = head.getInt(8);
            assertThat(head.getInt(4)).isEqualTo(1_000 + sample);
            assertThat(answered.add(sample)).isTrue();
            boolean here = sample % 11 != 0;
            assertThat((int) head.get(0)).isEqualTo(here ? Frames.DATA : Frames.NOT_HERE);
            if (here) {
                assertThat(head.getLong(12)).isEqualTo(sizes[sample]);
                assertThat(Frames.crc(sent, sent.readerIndex(), sizes[sample]))
                        .as("the bytes of sample %d follow its head", sample)
                        .isEqualTo(crcs[sample]);
                sent.skipBytes(sizes[sample]);
            }
        }
        assertThat(answered).hasSize(SAMPLES);
    }

    /** Over sockets whose buffers are full most of the time. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void fetch_smallSamplesThroughFullBuffers_allArriveWhole(boolean epoll) throws Exception {
        TransferLimits wide =
                PATIENT.withWindows(64 << 20, 64 << 20, 64 << 20, 256 << 20).withUnsent(4_000);
        List<Runnable> none = List.of();
        try (TransferThreads own = TransferThreads.start("own", 2, epoll);
                TransferServer server = TransferServer.start(
                        List.of(ANY_PORT),
                        CREDENTIALS,
                        (sample, _, _) -> sample % 5 == 0
                                ? new ServeResult.Later(CompletableFuture.supplyAsync(() -> serve(sample)))
                                : mixed(sample, none),
                        wide,
                        own);
                TransferClient client = new TransferClient(CREDENTIALS, wide, own)) {
            Peer peer = ServedSamples.peer(client, server.addresses().getFirst());
            ArrayDeque<Runnable> ahead = new ArrayDeque<>();
            Random random = new Random(1);
            for (int i = 0; i < 10_000; i++) {
                int sample = random.nextInt(SAMPLES);
                if (ahead.size() == 1_000) {
                    ahead.remove().run();
                }
                CompletableFuture<Answer> answer = peer.ask(sample, sizes[sample], in(60_000));
                ahead.add(() -> {
                    if (sample % 5 != 0 && sample % 11 == 0) {
                        assertThat(answer.join()).isEqualTo(new Answer.NotHere());
                    } else {
                        ServedSamples.assertGot(answer.join(), sample, sizes[sample]);
                    }
                });
            }
            ahead.forEach(Runnable::run);
            assertThat(client.counters().checksumFailures.sum()).isZero();
            assertThat(client.counters().garbage.sum()).isZero();
        }
    }
}
