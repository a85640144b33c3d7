package io.clairfs.peer.transfer;

import static io.clairfs.peer.transfer.TransferTest.ANY_PORT;
import static io.clairfs.peer.transfer.TransferTest.CREDENTIALS;
import static io.clairfs.peer.transfer.TransferTest.DATASET;
import static io.clairfs.peer.transfer.TransferTest.PATIENCE_MS;
import static io.clairfs.peer.transfer.TransferTest.PATIENT;
import static io.clairfs.peer.transfer.TransferTest.SECRET;
import static io.clairfs.peer.transfer.TransferTest.in;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.SampleService;
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.peer.transfer.server.TransferServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What transfers promise when the other side is a stranger, broken, slow or gone. */
@Timeout(120)
final class TransferFaultsTest {
    /** Silence is noticed soon, and a peer is tried again soon. */
    private static final TransferLimits QUICK = TransferLimits.DEFAULT.withTimes(60_000, 60_000, 200, 400, 1, 2);

    private static final int HANDSHAKE_BYTES = Handshake.GREETING_BYTES + Handshake.VERDICT_BYTES;

    private final LeakWatch leaks = new LeakWatch();
    private final ServedSamples samples = new ServedSamples();
    private final TransferThreads threads = TransferThreads.start("transfer", 2);
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        threads.close();
        samples.end();
        leaks.end();
    }

    private <T extends AutoCloseable> T closing(T resource) {
        open.add(resource);
        return resource;
    }

    private TransferServer serve() throws IOException {
        return serve(PATIENT);
    }

    private TransferServer serve(TransferLimits limits) throws IOException {
        return closing(TransferServer.start(List.of(ANY_PORT), CREDENTIALS, samples, limits, threads));
    }

    private TransferClient client(Credentials credentials) {
        return client(credentials, PATIENT);
    }

    private TransferClient client(Credentials credentials, TransferLimits limits) {
        return closing(new TransferClient(credentials, limits, threads));
    }

    /** Waits for a connection as long as a test may: nothing else would end that wait. */
    private static ServerSocket fakePeer() throws IOException {
        ServerSocket fake = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        fake.setSoTimeout((int) PATIENCE_MS);
        return fake;
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        long end = in(PATIENCE_MS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime())
                    .as("it did not happen within a minute")
                    .isLessThan(end);
            Thread.sleep(5);
        }
    }

    private void refusedOnBothSides(Credentials other, String reason) throws Exception {
        TransferServer server = serve();
        TransferClient client = client(other);
        Peer peer = ServedSamples.peer(client, server.addresses().getFirst());
        assertThat(peer.fetch(1, 10, in(PATIENCE_MS))).isEqualTo(new Answer.Failed(reason));
        assertThat(peer.isLeftAlone()).isTrue();
        eventually(() -> server.counters().refused.sum() == 1);
        assertThat(samples.asked.get()).isZero();
    }

    // Promise G1
    @Test
    void otherSecret_isRefused() throws Exception {
        Secret other = Secret.of("another secret of some length".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        refusedOnBothSides(new Credentials(DATASET, other), "it has another secret, or only one of the two has one");
    }

    @Test
    void noSecret_isRefused() throws Exception {
        refusedOnBothSides(new Credentials(DATASET, null), "it has another secret, or only one of the two has one");
    }

    // Promise G1
    @Test
    void otherDataset_isRefused() throws Exception {
        refusedOnBothSides(
                new Credentials(new Fingerprint(1, 3), SECRET), "it has another dataset: the fingerprints differ");
    }

    // Promise G1
    @Test
    void otherVersion_isRefused() throws Exception {
        TransferServer server = serve();
        try (Socket socket = connect(server)) {
            byte[] greeting = new byte[Handshake.GREETING_BYTES];
            java.nio.ByteBuffer.wrap(greeting).putInt(Handshake.MAGIC).putShort((short) 9);
            socket.getOutputStream().write(greeting);
            byte[] answer = socket.getInputStream().readNBytes(Handshake.GREETING_BYTES);
            assertThat(answer[7]).isEqualTo((byte) Refusal.VERSION.ordinal());
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
        eventually(() -> server.counters().refused.sum() == 1);
    }

    private static Socket connect(TransferServer server) throws IOException {
        InetSocketAddress address = server.addresses().getFirst();
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout((int) PATIENCE_MS);
        return socket;
    }

    @Test
    void strangerThatSaysNothing_isDisconnected() throws Exception {
        TransferServer server = serve(TransferLimits.DEFAULT.withTimes(60_000, 400, 60_000, 60_000, 1, 2));
        try (Socket socket = connect(server)) {
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
        eventually(() -> server.counters().refused.sum() == 1);
    }

    // Promise G1
    @Test
    void strangersThatSayNothing_keepNoPeerOut() throws Exception {
        int most = 4;
        samples.add(1, 10);
        TransferServer server = serve(PATIENT.withCounts(8, 8, 8, most));
        List<Socket> strangers = new ArrayList<>();
        try {
            for (int i = 0; i < 3 * most; i++) {
                strangers.add(connect(server));
            }
            eventually(() -> server.counters().refused.sum() == 2L * most);
            Peer peer =
                    ServedSamples.peer(client(CREDENTIALS), server.addresses().getFirst());
            ServedSamples.assertGot(peer.fetch(1, 10, in(PATIENCE_MS)), 1, 10);
            eventually(() -> server.counters().refused.sum() == 2L * most + 1);
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
    }

    @Test
    void strangerThatReplaysAProof_isRefused() throws Exception {
        TransferServer server = serve();
        try (Socket socket = connect(server)) {
            Handshake handshake = new Handshake(new Credentials(DATASET, null));
            io.netty.buffer.ByteBuf out = io.netty.buffer.Unpooled.buffer();
            handshake.writeGreeting(out, Refusal.NONE);
            socket.getOutputStream().write(out.array(), 0, out.readableBytes());
            byte[] greeting = socket.getInputStream().readNBytes(Handshake.GREETING_BYTES);
            socket.getOutputStream().write(greeting, 0, Secret.MAC_BYTES);
            byte[] verdict = socket.getInputStream().readNBytes(Handshake.VERDICT_BYTES);
            assertThat(verdict[1]).isEqualTo((byte) Refusal.SECRET.ordinal());
            for (int i = 2; i < verdict.length; i++) {
                assertThat(verdict[i])
                        .as("a stranger gets nothing made with the secret")
                        .isZero();
            }
        }
    }

    // Promise G2
    @ParameterizedTest
    @ValueSource(ints = {0, 4, 9, 17, 22, 26, 28, 5_000, 8_000, 20_000, 99_999})
    void flippedBit_inHeaderOrBytes_failsAndIsCounted(int at) throws Exception {
        samples.add(1, 100_000);
        samples.add(3, 100_000);
        TransferServer server = serve();
        Tampering between = closing(new Tampering(server.addresses().getFirst(), Tampering.flip(HANDSHAKE_BYTES + at)));
        TransferClient client = client(CREDENTIALS);
        Peer peer = ServedSamples.peer(client, between.address());
        CompletableFuture<Answer> first = peer.ask(1, 100_000, in(PATIENCE_MS));
        CompletableFuture<Answer> second = peer.ask(3, 100_000, in(PATIENCE_MS));
        assertThat(first.join()).isInstanceOf(Answer.Failed.class);
        if (second.join() instanceof Answer.Got) {
            ServedSamples.assertGot(second.join(), 3, 100_000);
        }
        boolean inHead = at < Frames.REPLY_HEAD_BYTES;
        assertThat(client.counters().garbage.sum()).isEqualTo(inHead ? 1 : 0);
        assertThat(client.counters().checksumFailures.sum()).isEqualTo(inHead ? 0 : 1);
        assertThat(peer.isLeftAlone()).isEqualTo(inHead);
    }

    @Test
    void samplesThatAreDamagedThere_areToldAndDoNotHarmTheOthers() throws Exception {
        samples.add(1, 10_000);
        samples.add(3, 10_000);
        samples.damage(3);
        TransferServer server = serve();
        TransferClient client = client(CREDENTIALS);
        Peer peer = ServedSamples.peer(client, server.addresses().getFirst());
        for (int i = 0; i < 20; i++) {
            assertThat(peer.fetch(3, 10_000, in(PATIENCE_MS)))
                    .isEqualTo(new Answer.Failed("the bytes of sample 3 do not have their checksum"));
            ServedSamples.assertGot(peer.fetch(1, 10_000, in(PATIENCE_MS)), 1, 10_000);
        }
        eventually(() -> samples.damagedHere.get() == 20);
        assertThat(client.counters().connections.sum()).isEqualTo(1);
        assertThat(client.counters().checksumFailures.sum()).isEqualTo(20);
        for (int i = 0; i < 4; i++) {
            assertThat(peer.isLeftAlone()).isFalse();
            assertThat(peer.fetch(3, 10_000, in(PATIENCE_MS))).isInstanceOf(Answer.Failed.class);
        }
        eventually(() -> client.counters().leftAlone.sum() == 1); // nothing right came any more
        assertThat(client.counters().garbage.sum()).isEqualTo(1);
    }

    // Promise G2
    @ParameterizedTest
    @ValueSource(ints = {0, 10, 28, 9_000, 60_000})
    void truncatedStream_fails(int at) throws Exception {
        samples.add(1, 100_000);
        TransferServer server = serve();
        Tampering between = closing(new Tampering(server.addresses().getFirst(), Tampering.cut(HANDSHAKE_BYTES + at)));
        TransferClient client = client(CREDENTIALS);
        Peer peer = ServedSamples.peer(client, between.address());
        assertThat(peer.fetch(1, 100_000, in(PATIENCE_MS))).isInstanceOf(Answer.Failed.class);
        assertThat(peer.isLeftAlone()).isTrue();
    }

    @Test
    void peerThatSendsGarbageInsteadOfAHandshake_fails() throws Exception {
        try (ServerSocket fake = fakePeer()) {
            Thread.ofVirtual().start(() -> {
                try (Socket socket = fake.accept()) {
                    socket.getOutputStream()
                            .write("HTTP/1.1 400 Bad Request\r\n\r\n"
                                    .repeat(10)
                                    .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
                    while (socket.getInputStream().read() >= 0) {} // until it is disconnected
                } catch (IOException gone) {
                    return;
                }
            });
            Peer peer = ServedSamples.peer(client(CREDENTIALS), (InetSocketAddress) fake.getLocalSocketAddress());
            assertThat(peer.fetch(1, 10, in(PATIENCE_MS)))
                    .isEqualTo(new Answer.Failed("it does not speak the transfer protocol"));
        }
    }

    // Promise G3
    @Test
    void silentPeer_failsByTheDeadlineAndIsLeftAlone() throws Exception {
        TransferLimits limits = TransferLimits.DEFAULT.withTimes(60_000, 400, 60_000, 60_000, 600_000, 600_000);
        try (ServerSocket fake = fakePeer()) {
            TransferClient client = client(CREDENTIALS, limits);
            Peer peer = ServedSamples.peer(client, (InetSocketAddress) fake.getLocalSocketAddress());
            assertThat(peer.fetch(1, 10, in(100))).isInstanceOf(Answer.Failed.class);
            eventually(() -> client.counters().leftAlone.sum() == 1);
            assertThat(peer.isLeftAlone()).isTrue();
            assertThat(peer.fetch(1, 10, in(PATIENCE_MS)).toString())
                    .contains("left alone", "no handshake within 400 ms");
        }
    }

    // Promise G3
    @Test
    void peerThatWasLeftAlone_isTriedByOneRequest() throws Exception {
        try (ServerSocket fake = fakePeer()) {
            TransferClient client = client(CREDENTIALS, QUICK);
            Peer peer = ServedSamples.peer(client, (InetSocketAddress) fake.getLocalSocketAddress());
            CompletableFuture<Answer> first = peer.ask(1, 10, in(PATIENCE_MS));
            fake.accept().close();
            assertThat(first.join()).isInstanceOf(Answer.Failed.class);
            eventually(() -> client.counters().leftAlone.sum() == 1);
            eventually(() -> !peer.isLeftAlone());
            CompletableFuture<Answer> trying = peer.ask(1, 10, in(PATIENCE_MS));
            try (Socket silent = fake.accept()) {
                assertThat(silent.isConnected()).isTrue();
                assertThat(peer.isLeftAlone()).isTrue();
                assertThat(peer.ask(2, 10, in(PATIENCE_MS))
                                .getNow(new Answer.NotHere())
                                .toString())
                        .as("one request tries it")
                        .contains("left alone");
                assertThat(trying).isNotDone();
            }
            assertThat(trying.join()).isInstanceOf(Answer.Failed.class);
            assertThat(client.counters().leftAlone.sum()).isEqualTo(2);
        }
    }

    @Test
    void peerThatStopsAnswering_isLeftAloneAndComesBack() throws Exception {
        samples.add(1, 100_000);
        TransferServer server = serve();
        java.util.concurrent.atomic.AtomicBoolean mute = new java.util.concurrent.atomic.AtomicBoolean();
        Tampering between = closing(new Tampering(
                server.addresses().getFirst(),
                (_, length, before) -> mute.get() && before > HANDSHAKE_BYTES - 1 ? 0 : length));
        TransferClient client = client(CREDENTIALS, QUICK);
        Peer peer = ServedSamples.peer(client, between.address());
        ServedSamples.assertGot(peer.fetch(1, 100_000, in(PATIENCE_MS)), 1, 100_000);
        mute.set(true);
        CompletableFuture<Answer> owed = peer.ask(1, 100_000, in(PATIENCE_MS));
        eventually(() -> samples.asked.get() == 2); // so it owes an answer, however late the next request goes out
        assertThat(peer.fetch(1, 100_000, in(1_000))).isInstanceOf(Answer.Failed.class);
        boolean _ = owed.cancel(false); // false if the peer is left alone already
        eventually(() -> client.counters().leftAlone.sum() == 1);
        mute.set(false);
        eventually(() -> !peer.isLeftAlone());
        ServedSamples.assertGot(peer.fetch(1, 100_000, in(PATIENCE_MS)), 1, 100_000);
        assertThat(client.counters().connections.sum()).isEqualTo(2);
    }

    @Test
    void nobodyListens_fails() throws Exception {
        try (Socket taken = new Socket()) { // it has the port, and does not listen
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Peer peer = ServedSamples.peer(client(CREDENTIALS), (InetSocketAddress) taken.getLocalSocketAddress());
            assertThat(peer.fetch(1, 10, in(PATIENCE_MS)).toString()).contains("no connection");
            assertThat(peer.isLeftAlone()).isTrue();
        }
    }

    @Test
    void slowReader_isDisconnectedAndHoldsLittle() throws Exception {
        for (int i = 0; i < 64; i++) {
            samples.add(i, 1 << 20);
        }
        TransferServer server = serve(QUICK);
        java.util.concurrent.atomic.AtomicBoolean stop = new java.util.concurrent.atomic.AtomicBoolean();
        Tampering between = closing(new Tampering(server.addresses().getFirst(), (_, length, before) -> {
            while (before > (1L << 20) && !stop.get()) {
                try {
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    return -1;
                }
            }
            return length;
        }));
        TransferClient client = client(CREDENTIALS, PATIENT.withWindows(100 << 20, 100 << 20, 100 << 20, 100 << 20));
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            answers.add(ServedSamples.peer(client, between.address()).ask(i, 1 << 20, in(PATIENCE_MS)));
        }
        eventually(() -> server.counters().stalled.sum() == 1);
        assertThat(samples.asked.get())
                .as("samples taken out for a reader that does not read")
                .isLessThan(32);
        stop.set(true);
        for (int i = 0; i < 64; i++) {
            Answer answer = answers.get(i).join();
            if (answer instanceof Answer.Got) {
                ServedSamples.assertGot(answer, i, 1 << 20);
            }
        }
        assertThat(answers.getLast().join()).isInstanceOf(Answer.Failed.class);
    }

    @Test
    void serverThatCloses_failsWhatIsUnderWay() throws Exception {
        for (int i = 0; i < 50; i++) {
            samples.add(i, 2 << 20);
        }
        CompletableFuture<ServeResult> never =
                new CompletableFuture<>(); // so that something is under way whatever has arrived
        SampleService service = (sample, bytes, deadline) ->
                sample == 49 ? new ServeResult.Later(never) : samples.serve(sample, bytes, deadline);
        TransferServer server =
                closing(TransferServer.start(List.of(ANY_PORT), CREDENTIALS, service, PATIENT, threads));
        TransferClient client = client(CREDENTIALS);
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            answers.add(
                    ServedSamples.peer(client, server.addresses().getFirst()).ask(i, 2 << 20, in(PATIENCE_MS)));
        }
        answers.getFirst().join();
        server.close();
        int got = 0;
        for (int i = 0; i < 50; i++) {
            Answer answer = answers.get(i).join();
            if (answer instanceof Answer.Got) {
                ServedSamples.assertGot(answer, i, 2 << 20);
                got++;
            }
        }
        assertThat(got).isBetween(1, 49);
        assertThat(client.counters().got.sum() + client.counters().failed.sum()).isEqualTo(50);
    }

    @Test
    void clientThatCloses_failsWhatIsUnderWay() throws Exception {
        samples.add(1, 30 << 20);
        TransferServer server = serve();
        TransferClient client = client(CREDENTIALS);
        CompletableFuture<Answer> answer =
                ServedSamples.peer(client, server.addresses().getFirst()).ask(1, 30 << 20, in(PATIENCE_MS));
        eventually(() -> server.counters().served.sum() == 1);
        client.close();
        if (answer.join() instanceof Answer.Got) {
            ServedSamples.assertGot(answer.join(), 1, 30 << 20);
        } else {
            assertThat(answer.join()).isEqualTo(new Answer.Failed("closed"));
        }
    }

    // Promise G5
    @Test
    void fuzzedFrames_neverHangOrLeak() throws Exception {
        Random random = new Random(1);
        for (int i = 0; i < 8; i++) {
            samples.add(i, 1 + random.nextInt(20_000));
        }
        TransferServer server = serve();
        for (int round = 0; round < 100; round++) {
            int at = HANDSHAKE_BYTES + random.nextInt(3_000);
            int bytes = 1 + random.nextInt(40);
            try (Tampering between = new Tampering(server.addresses().getFirst(), (piece, length, before) -> {
                        for (long b = at; b < at + bytes; b++) {
                            if (b >= before && b < before + length) {
                                piece[(int) (b - before)] = (byte) random.nextInt();
                            }
                        }
                        return length;
                    });
                    TransferClient client = new TransferClient(CREDENTIALS, QUICK, threads)) {
                Peer peer = ServedSamples.peer(client, between.address());
                for (int i = 0; i < 8; i++) {
                    Answer answer = peer.fetch(i, 100, in(PATIENCE_MS));
                    assertThat(answer).isInstanceOf(Answer.Failed.class);
                }
            }
        }
        try (TransferClient client = new TransferClient(CREDENTIALS, PATIENT, threads)) {
            assertThat(ServedSamples.peer(client, server.addresses().getFirst()).fetch(99, 1, in(PATIENCE_MS)))
                    .isEqualTo(new Answer.NotHere());
        }
    }

    // Promise G5
    @Test
    void fuzzedRequests_disconnectAndTheServerGoesOn() throws Exception {
        Random random = new Random(1);
        samples.add(1, 1_000);
        TransferServer server = closing(
                TransferServer.start(List.of(ANY_PORT), new Credentials(DATASET, null), samples, PATIENT, threads));
        Credentials openly = new Credentials(DATASET, null);
        for (int round = 0; round < 500; round++) {
            try (Socket socket = connect(server)) {
                InputStream answers = shakeHands(socket, openly);
                byte[] frame = frame(random);
                socket.getOutputStream().write(frame);
                socket.shutdownOutput();
                while (answers.read() >= 0) {}
            } catch (IOException reset) {
                assertThat(reset).isNotNull();
            }
        }
        assertThat(server.counters().garbage.sum()).isPositive();
        TransferClient client = client(openly);
        ServedSamples.assertGot(
                ServedSamples.peer(client, server.addresses().getFirst()).fetch(1, 1_000, in(PATIENCE_MS)), 1, 1_000);
    }

    private static InputStream shakeHands(Socket socket, Credentials credentials) throws IOException {
        Handshake handshake = new Handshake(credentials);
        io.netty.buffer.ByteBuf out = io.netty.buffer.Unpooled.buffer();
        handshake.writeGreeting(out, Refusal.NONE);
        socket.getOutputStream().write(out.array(), 0, out.readableBytes());
        InputStream answers = socket.getInputStream();
        byte[] greeting = answers.readNBytes(Handshake.GREETING_BYTES);
        socket.getOutputStream()
                .write(handshake.clientProof(
                        Handshake.Greeting.read(io.netty.buffer.Unpooled.wrappedBuffer(greeting))));
        answers.readNBytes(Handshake.VERDICT_BYTES);
        return answers;
    }

    // Promise G5
    @Test
    void peerThatAsksAndTakesNoAnswer_isDisconnected_beforeItsAnswersFillTheMemory() throws Exception {
        CompletableFuture<ServeResult> never = new CompletableFuture<>();
        TransferLimits narrow = PATIENT.withWindows(1 << 16, 1 << 16, 1 << 20, 1 << 20);
        Credentials openly = new Credentials(DATASET, null);
        TransferServer server = closing(TransferServer.start(
                List.of(ANY_PORT), openly, (_, _, _) -> new ServeResult.Later(never), narrow, threads));
        byte[] flood = requestsAndCancels(64);
        try (Socket socket = connect(server)) {
            InputStream _ = shakeHands(socket, openly);
            assertThatThrownBy(() -> {
                        while (true) {
                            socket.getOutputStream().write(flood);
                        }
                    })
                    .isInstanceOf(IOException.class);
        }
        assertThat(server.counters().garbage.sum()).isEqualTo(1);
    }

    private static byte[] requestsAndCancels(int count) {
        io.netty.buffer.ByteBuf requests = io.netty.buffer.Unpooled.buffer();
        requests.writeByte(Frames.REQUEST).writeByte(0).writeShort(count);
        io.netty.buffer.ByteBuf cancels = io.netty.buffer.Unpooled.buffer();
        cancels.writeByte(Frames.CANCEL).writeByte(0).writeShort(count);
        for (int i = 0; i < count; i++) {
            requests.writeInt(i).writeInt(1).writeLong(1_000).writeInt(30_000_000);
            cancels.writeInt(i);
        }
        Frames.seal(requests, 0);
        Frames.seal(cancels, 0);
        io.netty.buffer.ByteBuf both = io.netty.buffer.Unpooled.wrappedBuffer(requests, cancels);
        byte[] bytes = new byte[both.readableBytes()];
        both.readBytes(bytes);
        return bytes;
    }

    /** Half of them with a right checksum, so that the parser behind it is reached. */
    private static byte[] frame(Random random) {
        io.netty.buffer.ByteBuf frame = io.netty.buffer.Unpooled.buffer();
        int count = random.nextInt(5);
        frame.writeByte(1 + random.nextInt(3))
                .writeByte(0)
                .writeShort(random.nextInt(8) == 0 ? random.nextInt(65_536) : count);
        for (int i = 0; i < count; i++) {
            frame.writeInt(random.nextInt(3))
                    .writeInt(random.nextInt(3))
                    .writeLong(random.nextBoolean() ? 1_000 : random.nextLong());
            frame.writeInt(random.nextInt());
        }
        if (random.nextBoolean()) {
            Frames.seal(frame, 0);
        } else {
            frame.writeInt(random.nextInt());
        }
        byte[] bytes = new byte[frame.readableBytes()];
        frame.readBytes(bytes);
        return bytes;
    }
}
