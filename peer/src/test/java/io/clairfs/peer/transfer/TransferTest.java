package io.clairfs.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.Fingerprint;
import io.clairfs.peer.Secret;
import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.SampleService;
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.peer.transfer.server.TransferServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What transfers promise between nodes that mean well. */
@Timeout(120)
public final class TransferTest {
    static final Fingerprint DATASET = new Fingerprint(1, 2);
    static final Secret SECRET = Secret.of("0123456789abcdef".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    public static final Credentials CREDENTIALS = new Credentials(DATASET, SECRET);
    public static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** For answers that must come, on a machine as slow as may be. */
    static final long PATIENCE_MS = 60_000;

    /** No time runs out in a test, and who is left alone is left alone for the rest of it. */
    public static final TransferLimits PATIENT =
            TransferLimits.DEFAULT.withTimes(60_000, 60_000, 60_000, 60_000, 600_000, 600_000);

    private final ServedSamples samples = new ServedSamples();
    private final TransferThreads threads = TransferThreads.start("transfer", 2);
    private final TransferClient client = new TransferClient(CREDENTIALS, PATIENT, threads);
    private final LeakWatch leaks = new LeakWatch();

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        client.close();
        threads.close();
        samples.end();
        leaks.end();
    }

    public static long in(long ms) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    }

    private TransferServer serve(SampleService service) throws IOException {
        return TransferServer.start(List.of(ANY_PORT), CREDENTIALS, service, PATIENT, threads);
    }

    private Peer peer(TransferServer server) {
        return ServedSamples.peer(client, server.addresses().getFirst());
    }

    @Test
    void fetch_heldSample_bringsItsBytes() throws IOException {
        samples.add(7, 110_000);
        try (TransferServer server = serve(samples)) {
            ServedSamples.assertGot(peer(server).fetch(7, 110_000, in(PATIENCE_MS)), 7, 110_000);
            assertThat(server.counters().servedBytes.sum()).isEqualTo(110_000);
            assertThat(client.counters().got.sum()).isEqualTo(1);
            assertThat(peer(server).figures().connected()).isTrue();
        }
    }

    @Test
    void fetch_sampleThatIsNotThere_saysSo() throws IOException {
        try (TransferServer server = serve(samples)) {
            assertThat(peer(server).fetch(7, 10, in(PATIENCE_MS))).isEqualTo(new Answer.NotHere());
            assertThat(peer(server).isLeftAlone()).isFalse();
        }
    }

    // Promise V7
    @Test
    void make_isAnsweredByAServiceThatMakes_andByNoOther() throws IOException {
        ServedSamples made = new ServedSamples();
        made.add(9, 70_000);
        SampleService maker = new SampleService() {
            @Override
            public ServeResult serve(int sample, long bytes, long deadlineNs) {
                return samples.serve(sample, bytes, deadlineNs);
            }

            @Override
            public ServeResult make(int sample, long bytes, long deadlineNs) {
                return new ServeResult.Later(CompletableFuture.completedFuture(made.serve(sample, bytes, deadlineNs)));
            }
        };
        samples.add(7, 110_000);
        try (TransferServer server = serve(maker);
                TransferServer other = serve(samples)) {
            ServedSamples.assertGot(peer(server).make(9, 70_000, in(PATIENCE_MS)), 9, 70_000);
            ServedSamples.assertGot(peer(server).fetch(7, 110_000, in(PATIENCE_MS)), 7, 110_000);
            assertThat(peer(server).fetch(9, 70_000, in(PATIENCE_MS)))
                    .as("not held, and not to be made")
                    .isEqualTo(new Answer.NotHere());
            assertThat(peer(server).make(9, 70_001, in(PATIENCE_MS)))
                    .isEqualTo(new Answer.Failed("it has another size there"));
            assertThat(peer(other).make(7, 110_000, in(PATIENCE_MS))).isEqualTo(new Answer.NotHere());
            List<CompletableFuture<Answer>> mixed = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                mixed.add(peer(server).ask(7, 110_000, in(PATIENCE_MS)));
                mixed.add(peer(server).askToMake(9, 70_000, in(PATIENCE_MS)));
            }
            for (int i = 0; i < mixed.size(); i++) {
                ServedSamples.assertGot(mixed.get(i).join(), i % 2 == 0 ? 7 : 9, i % 2 == 0 ? 110_000 : 70_000);
            }
        } finally {
            endOf(made);
        }
    }

    private static void endOf(ServedSamples samples) {
        try {
            samples.end();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void fetch_otherSize_failsAndTheConnectionStays() throws IOException {
        samples.add(7, 11);
        try (TransferServer server = serve(samples)) {
            assertThat(peer(server).fetch(7, 10, in(PATIENCE_MS)))
                    .isEqualTo(new Answer.Failed("it has another size there"));
            ServedSamples.assertGot(peer(server).fetch(7, 11, in(PATIENCE_MS)), 7, 11);
            assertThat(client.counters().connections.sum()).isEqualTo(1);
        }
    }

    @Test
    void fetch_serviceThrows_failsAndTheConnectionStays() throws IOException {
        try (TransferServer server = serve((sample, bytes, deadline) -> {
            throw new IllegalStateException("broken on purpose");
        })) {
            assertThat(peer(server).fetch(7, 10, in(PATIENCE_MS))).isEqualTo(new Answer.Failed("an error there"));
            assertThat(peer(server).figures().connected()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void ask_manyAtOnceOfAllSizes_bringsEachWhole(boolean epoll) throws Exception {
        Random random = new Random(1);
        List<Integer> sizes = new ArrayList<>(List.of(0, 1, 27, 28, 29, 8191, 8192, 8193, 40 << 20, 0));
        for (int i = 0; i < 500; i++) {
            sizes.add(random.nextInt(1 << random.nextInt(19)));
        }
        for (int i = 0; i < sizes.size(); i++) {
            samples.add(i, sizes.get(i));
        }
        try (TransferThreads own = TransferThreads.start("own", 2, epoll);
                TransferServer server = TransferServer.start(List.of(ANY_PORT), CREDENTIALS, samples, PATIENT, own);
                TransferClient asking = new TransferClient(CREDENTIALS, PATIENT, own)) {
            Peer peer = ServedSamples.peer(asking, server.addresses().getFirst());
            List<Thread> askers = new ArrayList<>();
            List<Throwable> errors = java.util.Collections.synchronizedList(new ArrayList<>());
            for (int t = 0; t < 4; t++) {
                List<Integer> order = new ArrayList<>();
                for (int i = 0; i < sizes.size(); i++) {
                    order.add(i);
                }
                java.util.Collections.shuffle(order, random);
                askers.add(Thread.ofPlatform()
                        .uncaughtExceptionHandler((_, e) -> errors.add(e))
                        .start(() -> {
                            List<CompletableFuture<Answer>> answers = new ArrayList<>();
                            order.forEach(i -> answers.add(peer.ask(i, sizes.get(i), in(PATIENCE_MS))));
                            for (int i = 0; i < order.size(); i++) {
                                ServedSamples.assertGot(answers.get(i).join(), order.get(i), sizes.get(order.get(i)));
                            }
                        }));
            }
            for (Thread asker : askers) {
                asker.join();
            }
            assertThat(errors).isEmpty();
            assertThat(asking.counters().got.sum()).isEqualTo(4L * sizes.size());
            assertThat(peer.figures().inFlightBytes()).isZero();
            System.out.println("requests per frame "
                    + 4.0 * sizes.size() / asking.counters().requestFrames.sum());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void fetch_storedSample_isSentFromItsFile(boolean epoll) throws Exception {
        Path file = directory.resolve("samples");
        SampleBuffer bytes = SampleBuffer.allocate(300_000);
        ServedSamples.fill(3, bytes.bytes());
        Files.write(file, new byte[1000]);
        AtomicInteger done = new AtomicInteger();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
                TransferThreads own = TransferThreads.start("own", 1, epoll)) {
            channel.write(bytes.bytes().asByteBuffer(), 1000);
            int crc = Frames.crc(bytes.bytes().asByteBuffer());
            bytes.release();
            SampleService service = (sample, size, deadline) ->
                    new ServeResult.Stored(channel, 1000, 300_000, crc, done::incrementAndGet);
            try (TransferServer server = TransferServer.start(List.of(ANY_PORT), CREDENTIALS, service, PATIENT, own)) {
                for (int i = 0; i < 3; i++) {
                    ServedSamples.assertGot(peer(server).fetch(3, 300_000, in(PATIENCE_MS)), 3, 300_000);
                }
                assertThat(server.counters().sentFromFile.sum()).isEqualTo(3);
                awaitReleases(done, 3);
            }
            assertThat(done.get()).isEqualTo(3);
            assertThat(channel.isOpen()).isTrue();
        }
    }

    /** The server releases what it has sent a little after the client has it, and what it could not send after it has closed the connection. */
    private static void awaitReleases(AtomicInteger done, int count) throws InterruptedException {
        while (done.get() < count) { // the class's timeout ends it
            Thread.sleep(1);
        }
    }

    @Test
    void fetch_storedSampleThatIsShorterThanSaid_failsAndIsReleased() throws Exception {
        Path file = Files.write(directory.resolve("short"), new byte[1000]);
        AtomicInteger done = new AtomicInteger();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            SampleService service =
                    (sample, size, deadline) -> new ServeResult.Stored(channel, 0, 300_000, 1, done::incrementAndGet);
            try (TransferServer server = serve(service)) {
                assertThat(peer(server).fetch(3, 300_000, in(PATIENCE_MS))).isInstanceOf(Answer.Failed.class);
                awaitReleases(done, 1);
            }
            assertThat(done.get()).isEqualTo(1);
        }
    }

    @Test
    void fetch_loanThatComesLater_arrives() throws IOException {
        samples.add(5, 5_000);
        SampleService later = (sample, size, deadline) -> new ServeResult.Later(CompletableFuture.supplyAsync(
                () -> samples.serve(sample, size, deadline),
                CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS)));
        try (TransferServer server = serve(later)) {
            ServedSamples.assertGot(peer(server).fetch(5, 5_000, in(PATIENCE_MS)), 5, 5_000);
            assertThat(peer(server).fetch(6, 5_000, in(PATIENCE_MS))).isEqualTo(new Answer.NotHere());
        }
    }

    @Test
    void fetch_loanThatNeverComes_failsInTime() throws IOException {
        CompletableFuture<ServeResult> never = new CompletableFuture<>();
        try (TransferServer server = serve((sample, size, deadline) -> new ServeResult.Later(never))) {
            assertThat(peer(server).fetch(5, 5_000, in(500))).isInstanceOf(Answer.Failed.class);
        }
    }

    /** Given up by its caller, and not by a deadline, which might pass before the server is asked. */
    @Test
    void fetch_loanThatComesTooLate_isReleased() throws Exception {
        samples.add(5, 5_000);
        CompletableFuture<ServeResult> promise = new CompletableFuture<>();
        CountDownLatch asked = new CountDownLatch(1);
        SampleService late = (sample, size, deadline) -> {
            if (sample != 5) {
                return ServeResult.NOT_HERE;
            }
            asked.countDown();
            return new ServeResult.Later(promise);
        };
        try (TransferServer server = serve(late)) {
            CompletableFuture<Answer> answer = peer(server).ask(5, 5_000, in(PATIENCE_MS));
            assertThat(asked.await(PATIENCE_MS, TimeUnit.MILLISECONDS)).isTrue();
            assertThat(answer.cancel(false)).isTrue();
            while (server.counters().failed.sum() == 0) { // until it has heard of that; the class's timeout ends it
                Thread.sleep(1);
            }
            promise.complete(samples.serve(5, 5_000, in(1)));
            assertThat(peer(server).fetch(6, 1, in(PATIENCE_MS))).isEqualTo(new Answer.NotHere());
            assertThat(client.counters().failed.sum()).isEqualTo(1);
        }
    }

    @Test
    void ask_moreThanMayBePromised_waitsForWhatWas() throws Exception {
        TransferLimits serving = PATIENT.withWindows(100, 100, 1_000, 1_000);
        List<CompletableFuture<ServeResult>> promises = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < 10; i++) {
            samples.add(i, 400);
        }
        SampleService later = (sample, size, deadline) -> {
            CompletableFuture<ServeResult> promise = new CompletableFuture<>();
            promises.add(promise);
            return new ServeResult.Later(promise);
        };
        try (TransferServer server = TransferServer.start(List.of(ANY_PORT), CREDENTIALS, later, serving, threads)) {
            List<CompletableFuture<Answer>> answers = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                answers.add(peer(server).ask(i, 400, in(PATIENCE_MS)));
            }
            for (int i = 0; i < 10; i++) {
                while (promises.size() <= i) {
                    Thread.sleep(1);
                }
                Thread.sleep(5);
                assertThat(promises.size() - i).isBetween(1, 3);
                promises.get(i).complete(samples.serve(i, 400, in(1)));
                ServedSamples.assertGot(answers.get(i).join(), i, 400);
            }
        }
    }

    @Test
    void cancel_sampleUnderWay_dropsItAndTheConnectionGoesOn() throws Exception {
        samples.add(5, 20 << 20);
        samples.add(6, 100);
        try (TransferServer server = serve(samples)) {
            for (int i = 0; i < 20; i++) {
                CompletableFuture<Answer> large = peer(server).ask(5, 20 << 20, in(PATIENCE_MS));
                Thread.sleep(i);
                if (!large.cancel(false)) {
                    ServedSamples.assertGot(large.join(), 5, 20 << 20);
                }
                ServedSamples.assertGot(peer(server).fetch(6, 100, in(PATIENCE_MS)), 6, 100);
            }
            assertThat(client.counters().connections.sum()).isEqualTo(1);
            assertThat(client.counters().requests.sum())
                    .isEqualTo(client.counters().got.sum()
                            + client.counters().failed.sum());
        }
    }

    @Test
    void fetch_interrupted_givesUp() throws Exception {
        CompletableFuture<ServeResult> never = new CompletableFuture<>();
        try (TransferServer server = serve((sample, size, deadline) -> new ServeResult.Later(never))) {
            Thread.currentThread().interrupt();
            assertThat(peer(server).fetch(5, 5, in(PATIENCE_MS))).isEqualTo(new Answer.Failed("interrupted"));
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void ask_moreThanMayWait_failsAtOnce() throws Exception {
        CompletableFuture<ServeResult> never = new CompletableFuture<>();
        TransferLimits few = PATIENT.withCounts(2, 4, 8, 8);
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        try (TransferServer server = serve((sample, size, deadline) -> new ServeResult.Later(never));
                TransferClient asking = new TransferClient(CREDENTIALS, few, threads)) {
            Peer peer = ServedSamples.peer(asking, server.addresses().getFirst());
            for (int i = 0; i < 6; i++) {
                answers.add(peer.ask(i, 10, in(PATIENCE_MS)));
            }
            assertThat(answers.get(4).join()).isEqualTo(new Answer.Failed("more than 4 requests wait for it"));
        }
        for (CompletableFuture<Answer> answer : answers) {
            assertThat(answer.join()).isInstanceOf(Answer.Failed.class);
        }
    }

    // Promise G6
    @Test
    void start_publicAddressWithoutSecret_refuses() {
        Credentials open = new Credentials(DATASET, null);
        assertThatThrownBy(() -> TransferServer.start(
                        List.of(new InetSocketAddress("192.0.2.1", 0)), open, samples, PATIENT, threads))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("without a secret");
        assertThatThrownBy(() -> TransferServer.start(
                        List.of(new InetSocketAddress("0.0.0.0", 0)), CREDENTIALS, samples, PATIENT, threads))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("wildcard");
    }

    @Test
    void start_listensOnItsAddressOnly() throws IOException {
        try (TransferServer server = serve(samples)) {
            int port = server.addresses().getFirst().getPort();
            InetAddress other = InetAddress.getByAddress(new byte[] {127, 0, 0, 2});
            new Socket(InetAddress.getLoopbackAddress(), port).close();
            assertThatThrownBy(() -> new Socket(other, port).close()).isInstanceOf(IOException.class);
        }
    }

    @Test
    void start_moreConnectionsThanItMay_refusesWithAReason() throws IOException {
        samples.add(1, 10);
        TransferLimits one = PATIENT.withCounts(8, 8, 1, 8);
        try (TransferServer server = TransferServer.start(List.of(ANY_PORT), CREDENTIALS, samples, one, threads);
                TransferClient second = new TransferClient(CREDENTIALS, PATIENT, threads)) {
            ServedSamples.assertGot(peer(server).fetch(1, 10, in(PATIENCE_MS)), 1, 10);
            assertThat(ServedSamples.peer(second, server.addresses().getFirst()).fetch(1, 10, in(PATIENCE_MS)))
                    .isEqualTo(new Answer.Failed("it has as many connections as it may"));
            ServedSamples.assertGot(peer(server).fetch(1, 10, in(PATIENCE_MS)), 1, 10);
        }
    }

    @Test
    void fetch_withoutSecretOnLoopback_works() throws IOException {
        samples.add(1, 10);
        Credentials open = new Credentials(DATASET, null);
        try (TransferServer server = TransferServer.start(List.of(ANY_PORT), open, samples, PATIENT, threads);
                TransferClient asking = new TransferClient(open, PATIENT, threads)) {
            ServedSamples.assertGot(
                    ServedSamples.peer(asking, server.addresses().getFirst()).fetch(1, 10, in(PATIENCE_MS)), 1, 10);
        }
    }
}
