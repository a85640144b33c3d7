package io.clairfs.peer.transfer;

import static io.clairfs.peer.transfer.TransferTest.ANY_PORT;
import static io.clairfs.peer.transfer.TransferTest.DATASET;
import static io.clairfs.peer.transfer.TransferTest.PATIENT;
import static io.clairfs.peer.transfer.TransferTest.in;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.TransferServer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Bytes that no good node sends, from both sides, in the handshake and after it: random ones, and right messages that were changed,
 * cut, doubled or put in another order, half of them with right checksums so that what is behind the checksum is reached, too.
 * {@code -Dclairfs.fuzz.seed=N} tries others, {@code -Dclairfs.fuzz.factor=N} makes it N times as long.
 */
@Timeout(7_200)
@Tag("long")
final class TransferFuzzTest {
    private static final int SECONDS = 2 * Integer.getInteger("clairfs.fuzz.factor", 1);
    private static final TransferLimits QUICK =
            TransferLimits.DEFAULT.withTimes(5_000, 5_000, 2_000, 2_000, 1, 2).withCounts(64, 256, 16, 64);

    /** Nothing ends by a time: a right handshake is not given up because the machine stands still. */
    private static final TransferLimits SERVING = TransferLimits.DEFAULT
            .withTimes(60_000, 600_000, 60_000, 60_000, 1, 2)
            .withCounts(64, 256, 16, 64);

    private static final Credentials OPEN = new Credentials(DATASET, null);
    private static final int SAMPLES = 8;
    private static final long ANSWER_WITHIN_MS = 300;
    private static final int NOTICED_WITHIN_MS = 60_000;

    private final LeakWatch leaks = new LeakWatch();
    private final ServedSamples samples = new ServedSamples();
    private final TransferThreads threads = TransferThreads.start("transfer", 2);
    private final long seed = Long.getLong("clairfs.fuzz.seed", 1);
    private final Random random = new Random(seed);

    TransferFuzzTest() {
        System.out.println("clairfs.fuzz.seed=" + seed);
        for (int i = 0; i < SAMPLES; i++) {
            samples.add(i, size(i));
        }
    }

    private static int size(int sample) {
        return sample == 0 ? 0 : 1 << (2 * sample);
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        threads.close();
        samples.end();
        leaks.end();
    }

    @Test
    void server_whateverArrives_goesOnServingOthers() throws Exception {
        try (TransferServer server = TransferServer.start(List.of(ANY_PORT), OPEN, samples, SERVING, threads);
                TransferClient client = new TransferClient(OPEN, PATIENT, threads)) {
            Peer good = ServedSamples.peer(client, server.addresses().getFirst());
            long end = in(SECONDS * 1_000L);
            int rounds = 0;
            while (System.nanoTime() - end < 0 || rounds < 10) {
                talkTo(server.addresses().getFirst());
                int sample = random.nextInt(SAMPLES);
                ServedSamples.assertGot(good.fetch(sample, size(sample), in(NOTICED_WITHIN_MS)), sample, size(sample));
                rounds++;
            }
            assertThat(client.counters().connections.sum()).isEqualTo(1);
            assertThat(client.counters().garbage.sum()).isZero();
            assertThat(server.counters().garbage.sum()
                            + server.counters().refused.sum())
                    .isPositive();
            System.out.println(rounds + " connections, " + server.counters().garbage + " of them dropped for a frame, "
                    + server.counters().refused + " in the handshake");
        }
    }

    /** One connection to a server: a handshake that is right in most cases, then frames. The server must end it or answer. */
    private void talkTo(InetSocketAddress server) throws IOException {
        try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
            socket.setSoTimeout(NOTICED_WITHIN_MS);
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            Handshake handshake = new Handshake(OPEN);
            ByteBuf greeting = Unpooled.buffer();
            handshake.writeGreeting(greeting, Refusal.NONE);
            boolean rightHandshake = random.nextInt(4) != 0;
            byte[] said = rightHandshake ? bytes(greeting) : changed(bytes(greeting));
            out.write(said);
            if (said.length < Handshake.GREETING_BYTES) {
                socket.shutdownOutput(); // else the server would wait for the rest of it
            }
            byte[] answer = in.readNBytes(Handshake.GREETING_BYTES);
            if (answer.length == Handshake.GREETING_BYTES) {
                byte[] proof = handshake.clientProof(Handshake.Greeting.read(Unpooled.wrappedBuffer(answer)));
                out.write(rightHandshake || random.nextBoolean() ? proof : changed(proof));
                if (rightHandshake) {
                    assertThat(in.readNBytes(Handshake.VERDICT_BYTES)).hasSize(Handshake.VERDICT_BYTES);
                    out.write(pieces(frames()));
                }
            }
            if (!socket.isOutputShutdown()) {
                socket.shutdownOutput();
            }
            byte[] ignored = new byte[16 << 10];
            while (in.read(ignored) >= 0) {}
        } catch (java.net.SocketTimeoutException e) {
            throw new AssertionError("the server neither answered nor ended the connection", e);
        } catch (IOException closed) {
            assertThat(closed).isNotNull(); // a connection that is dropped at once can be reset
        }
    }

    private byte[] frames() {
        ByteBuf all = Unpooled.buffer();
        int frames = 1 + random.nextInt(6);
        for (int f = 0; f < frames; f++) {
            int count = random.nextInt(10) == 0 ? random.nextInt(300) : 1 + random.nextInt(4);
            int type = 1 + random.nextInt(4);
            ByteBuf frame = Unpooled.buffer();
            frame.writeByte(type).writeByte(0).writeShort(count);
            for (int i = 0; i < count; i++) {
                switch (type) {
                    case Frames.REQUEST, Frames.MAKE -> {
                        int sample = random.nextInt(SAMPLES + 1);
                        frame.writeInt(random.nextInt(20)).writeInt(sample);
                        frame.writeLong(random.nextInt(4) == 0 ? random.nextLong() : size(sample % SAMPLES));
                        frame.writeInt(random.nextInt());
                    }
                    default -> frame.writeInt(random.nextInt(20));
                }
            }
            if (random.nextInt(3) == 0) { // changed before it is sealed: the checksum is right
                int at = random.nextInt(frame.writerIndex());
                frame.setByte(at, frame.getByte(at) ^ 1 << random.nextInt(8));
            }
            Frames.seal(frame, 0);
            byte[] whole = bytes(frame);
            all.writeBytes(random.nextInt(3) == 0 ? changed(whole) : whole);
        }
        return bytes(all);
    }

    /** Flips bits, cuts, doubles, or replaces all of it. */
    private byte[] changed(byte[] bytes) {
        byte[] changed = bytes.clone();
        switch (random.nextInt(5)) {
            case 0 -> random.nextBytes(changed);
            case 1 -> changed = java.util.Arrays.copyOf(changed, random.nextInt(changed.length + 1));
            case 2 -> {
                changed = java.util.Arrays.copyOf(changed, changed.length * 2);
                System.arraycopy(bytes, 0, changed, bytes.length, bytes.length);
            }
            default -> {
                for (int n = random.nextInt(4); n >= 0 && changed.length > 0; n--) {
                    changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
                }
            }
        }
        return changed;
    }

    /** The same bytes; sometimes only their beginning. */
    private byte[] pieces(byte[] bytes) {
        return random.nextInt(4) == 0 ? java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)) : bytes;
    }

    private static byte[] bytes(ByteBuf buffer) {
        return ByteBufUtil.getBytes(buffer);
    }

    @Test
    void client_whateverArrives_endsEveryRequestAndTakesNoWrongByte() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Thread liar;
        try (ServerSocket fake = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                TransferClient client = new TransferClient(OPEN, QUICK, threads)) {
            liar = Thread.ofPlatform().start(() -> {
                while (!stop.get()) {
                    try (Socket socket = fake.accept()) {
                        lie(socket);
                    } catch (IOException closed) {
                        assertThat(closed).isNotNull();
                    }
                }
            });
            Peer peer = ServedSamples.peer(client, (InetSocketAddress) fake.getLocalSocketAddress());
            long end = in(SECONDS * 1_000L);
            Random choices = new Random(seed + 1);
            int got = 0;
            int failed = 0;
            while (System.nanoTime() - end < 0 || got + failed < 20) {
                if (peer.isLeftAlone()) {
                    Thread.sleep(1);
                    continue;
                }
                List<CompletableFuture<Answer>> answers = new ArrayList<>();
                List<Integer> asked = new ArrayList<>();
                for (int i = 0; i < 1 + choices.nextInt(5); i++) {
                    int sample = choices.nextInt(SAMPLES);
                    asked.add(sample);
                    answers.add(peer.ask(sample, size(sample), in(ANSWER_WITHIN_MS)));
                }
                for (int i = 0; i < answers.size(); i++) {
                    Answer answer = answers.get(i).get(NOTICED_WITHIN_MS, java.util.concurrent.TimeUnit.MILLISECONDS);
                    if (answer instanceof Answer.Got) {
                        ServedSamples.assertGot(answer, asked.get(i), size(asked.get(i)));
                        got++;
                    } else {
                        failed++;
                    }
                }
            }
            assertThat(client.counters().requests.sum())
                    .isEqualTo(client.counters().got.sum()
                            + client.counters().notHere.sum()
                            + client.counters().failed.sum());
            System.out.println(got + " samples, " + failed + " refused, " + client.counters().garbage
                    + " times garbage, " + client.counters().connections + " connections");
            stop.set(true);
        }
        liar.join();
    }

    /** One connection as a server that is right for a while. */
    private void lie(Socket socket) throws IOException {
        socket.setSoTimeout((int) ANSWER_WITHIN_MS);
        InputStream in = socket.getInputStream();
        OutputStream out = socket.getOutputStream();
        Handshake handshake = new Handshake(OPEN);
        byte[] greeting = in.readNBytes(Handshake.GREETING_BYTES);
        if (greeting.length < Handshake.GREETING_BYTES) {
            return;
        }
        boolean right = random.nextInt(5) != 0;
        ByteBuf own = Unpooled.buffer();
        handshake.writeGreeting(own, Refusal.NONE);
        out.write(right ? bytes(own) : changed(bytes(own)));
        in.readNBytes(io.clairfs.peer.Secret.MAC_BYTES);
        ByteBuf verdict = Unpooled.buffer().writeShort(0);
        verdict.writeBytes(handshake.serverProof(Handshake.Greeting.read(Unpooled.wrappedBuffer(greeting))));
        out.write(right || random.nextBoolean() ? bytes(verdict) : changed(bytes(verdict)));
        while (true) {
            byte[] head = in.readNBytes(Frames.FRAME_HEAD_BYTES);
            if (head.length < Frames.FRAME_HEAD_BYTES) {
                return;
            }
            int count = ((head[2] & 255) << 8) | (head[3] & 255);
            ByteBuf rest =
                    Unpooled.wrappedBuffer(in.readNBytes(Frames.frameBytes(head[0], count) - Frames.FRAME_HEAD_BYTES));
            for (int i = 0; i < count && head[0] == Frames.REQUEST; i++) {
                int id = rest.readInt();
                int sample = rest.readInt();
                rest.skipBytes(Frames.REQUEST_BYTES - 8);
                out.write(reply(id, sample));
            }
        }
    }

    private byte[] reply(int id, int sample) {
        SampleBuffer right = SampleBuffer.allocate(size(sample));
        ServedSamples.fill(sample, right.bytes());
        ByteBuf reply = Unpooled.buffer();
        int lie = random.nextInt(12);
        int type = switch (lie) {
            case 0 -> Frames.NOT_HERE;
            case 1 -> Frames.FAILED;
            case 2 -> random.nextInt(256);
            default -> Frames.DATA;
        };
        long bytes = lie == 3 ? random.nextLong() : type == Frames.DATA ? right.size() : 0;
        Frames.writeReply(
                reply,
                type,
                lie == 1 ? random.nextInt(256) : 0,
                random.nextInt(0x10000),
                lie == 4 ? random.nextInt() : id,
                lie == 5 ? random.nextInt(SAMPLES) : sample,
                bytes,
                right.crc32c());
        if (type == Frames.DATA) {
            reply.writeBytes(right.bytes().asByteBuffer());
        }
        right.release();
        byte[] whole = bytes(reply);
        return lie == 6 ? changed(whole) : whole;
    }
}
