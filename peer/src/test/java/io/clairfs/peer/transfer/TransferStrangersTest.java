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
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.peer.transfer.server.TransferServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a server promises when strangers connect to it, and when what arrives on its port is not what a peer sends. */
@Timeout(120)
final class TransferStrangersTest extends TransferFaultsFixture {
    private static Socket connect(TransferServer server) throws IOException {
        return connect(server, new Socket());
    }

    private static Socket connect(TransferServer server, Socket socket) throws IOException {
        socket.connect(server.addresses().getFirst());
        socket.setSoTimeout((int) PATIENCE_MS);
        return socket;
    }

    /** A socket of which the kernel keeps little that was not read. */
    private static Socket narrowSocket() throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4 << 10);
        return socket;
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

    // Promise G5
    @Test
    @Timeout(600) // a load of sixty makes so many requests take more than two minutes
    void peerThatAsksAndTakesNoAnswer_isDisconnected_beforeItsAnswersFillTheMemory() throws Exception {
        CompletableFuture<ServeResult> never = new CompletableFuture<>();
        TransferLimits narrow = PATIENT.withWindows(1 << 16, 1 << 16, 1 << 20, 1 << 20);
        Credentials openly = new Credentials(DATASET, null);
        TransferServer server = closing(TransferServer.start(
                List.of(ANY_PORT), openly, (_, _, _) -> new ServeResult.Later(never), narrow, threads));
        byte[] flood = requestsAndCancels(64);
        try (Socket socket = connect(server, narrowSocket())) {
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
}
