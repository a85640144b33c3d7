package io.clairfs.peer.transfer;

import static io.clairfs.peer.transfer.TransferTest.ANY_PORT;
import static io.clairfs.peer.transfer.TransferTest.CREDENTIALS;
import static io.clairfs.peer.transfer.TransferTest.PATIENCE_MS;
import static io.clairfs.peer.transfer.TransferTest.PATIENT;
import static io.clairfs.peer.transfer.TransferTest.in;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.SampleService;
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.peer.transfer.server.TransferServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What transfers promise when the other side is broken, slow or gone. */
@Timeout(120)
final class TransferFaultsTest extends TransferFaultsFixture {
    /** Silence is noticed soon, and a peer is tried again soon. */
    private static final TransferLimits QUICK = TransferLimits.DEFAULT.withTimes(60_000, 60_000, 200, 400, 1, 2);

    private static final int HANDSHAKE_BYTES = Handshake.GREETING_BYTES + Handshake.VERDICT_BYTES;

    /** Waits for a connection as long as a test may: nothing else would end that wait. */
    private static ServerSocket fakePeer() throws IOException {
        ServerSocket fake = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        fake.setSoTimeout((int) PATIENCE_MS);
        return fake;
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
}
