package io.clairfs.peer.transfer;

import static io.clairfs.peer.transfer.TransferTest.ANY_PORT;
import static io.clairfs.peer.transfer.TransferTest.DATASET;
import static io.clairfs.peer.transfer.TransferTest.PATIENCE_MS;
import static io.clairfs.peer.transfer.TransferTest.PATIENT;
import static io.clairfs.peer.transfer.TransferTest.SECRET;
import static io.clairfs.peer.transfer.TransferTest.in;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.SampleService;
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.peer.transfer.server.TransferServer;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same transfers, encrypted. Keys are made by the JDK's keytool. */
@Timeout(120)
final class TransferTlsTest {
    /** More than sockets keep for a reader that takes nothing. */
    private static final int LARGE = 64 << 20;

    private static final char[] PASSWORD = "changeit".toCharArray();

    private final LeakWatch leaks = new LeakWatch();
    private final ServedSamples samples = new ServedSamples();
    private final TransferThreads threads = TransferThreads.start("transfer", 2);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        threads.close();
        samples.end();
        leaks.end();
    }

    /** A node whose certificate is its own authority. */
    private void makeKey(String name) throws Exception {
        Path store = directory.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/keytool",
                        "-genkeypair",
                        "-alias",
                        "node",
                        "-keyalg",
                        "EC",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        new String(PASSWORD),
                        "-keystore",
                        store.toString(),
                        "-dname",
                        "CN=" + name,
                        "-validity",
                        "2",
                        "-ext",
                        "bc=ca:true")
                .inheritIO()
                .start();
        assertThat(keytool.waitFor()).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        pem(name + ".crt", "CERTIFICATE", keys.getCertificate("node").getEncoded());
        pem(name + ".key", "PRIVATE KEY", keys.getKey("node", PASSWORD).getEncoded());
    }

    private void pem(String file, String kind, byte[] der) throws IOException {
        String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        Files.writeString(
                directory.resolve(file), "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n");
    }

    private Credentials credentials(String own, String trusted) throws IOException {
        TransferTls tls = TransferTls.read(
                directory.resolve(own + ".crt"), directory.resolve(own + ".key"), directory.resolve(trusted + ".crt"));
        return new Credentials(DATASET, SECRET, tls);
    }

    @Test
    void fetch_overTls_fromMemoryAndFromFile() throws Exception {
        makeKey("a");
        makeKey("b");
        samples.add(1, 0);
        samples.add(2, 3_000_000);
        Path file = directory.resolve("stored");
        SampleBuffer bytes = SampleBuffer.allocate(200_000);
        ServedSamples.fill(9, bytes.bytes());
        AtomicInteger done = new AtomicInteger();
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            channel.write(bytes.bytes().asByteBuffer());
            int crc = Frames.crc(bytes.bytes().asByteBuffer());
            bytes.release();
            SampleService service = (sample, size, deadline) -> sample == 9
                    ? new ServeResult.Stored(channel, 0, 200_000, crc, done::incrementAndGet)
                    : samples.serve(sample, size, deadline);
            try (TransferServer server =
                            TransferServer.start(List.of(ANY_PORT), credentials("a", "b"), service, PATIENT, threads);
                    TransferClient client = new TransferClient(credentials("b", "a"), PATIENT, threads)) {
                Peer peer = ServedSamples.peer(client, server.addresses().getFirst());
                for (int i = 0; i < 3; i++) {
                    ServedSamples.assertGot(peer.fetch(1, 0, in(PATIENCE_MS)), 1, 0);
                    ServedSamples.assertGot(peer.fetch(2, 3_000_000, in(PATIENCE_MS)), 2, 3_000_000);
                    ServedSamples.assertGot(peer.fetch(9, 200_000, in(PATIENCE_MS)), 9, 200_000);
                }
                assertThat(server.counters().sentFromFile.sum()).isZero();
                while (done.get()
                        < 3) { // the server is told a little after the client has it; the class's timeout ends this
                    Thread.sleep(1);
                }
                assertThat(done.get()).isEqualTo(3);
            }
        }
    }

    /** Encrypted bytes are a copy, which a reader that takes nothing would have kept, and others of its event loop wait for. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Timeout(600)
    void largeSample_isEncryptedAsFarAsItsReaderTakesIt_andOthersAreServedMeanwhile(boolean fromFile) throws Exception {
        makeKey("a");
        makeKey("b");
        samples.add(1, 1_000);
        CompletableFuture<ServeResult> large = new CompletableFuture<>();
        CountDownLatch isAsked = new CountDownLatch(1);
        CountDownLatch readerGoesOn = new CountDownLatch(1);
        SampleService service = (sample, size, deadline) -> {
            if (sample == 1) {
                return samples.serve(sample, size, deadline);
            }
            isAsked.countDown();
            return new ServeResult.Later(large);
        };
        AtomicInteger released = new AtomicInteger();
        SampleBuffer bytes = SampleBuffer.allocate(LARGE);
        ServedSamples.fill(9, bytes.bytes());
        TransferThreads readers = TransferThreads.start("reader", 1);
        try (FileChannel file = FileChannel.open(
                        directory.resolve("stored"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
                TransferThreads one = TransferThreads.start("serve", 1);
                TransferServer server =
                        TransferServer.start(List.of(ANY_PORT), credentials("a", "b"), service, PATIENT, one);
                TransferClient other = new TransferClient(credentials("b", "a"), PATIENT, threads);
                TransferClient reader = new TransferClient(credentials("b", "a"), PATIENT, readers)) {
            var _ = file.write(bytes.bytes().asByteBuffer());
            CompletableFuture<Answer> answer =
                    ServedSamples.peer(reader, server.addresses().getFirst()).ask(9, LARGE, in(600_000));
            isAsked.await();
            stop(readers, readerGoesOn);
            long before = directBytes();
            ServeResult.Stored stored =
                    new ServeResult.Stored(file, 0, LARGE, bytes.crc32c(), released::incrementAndGet);
            assertThat(bytes.tryRetain()).isTrue();
            large.complete(fromFile ? stored : new ServeResult.Memory(bytes));
            Peer peer = ServedSamples.peer(other, server.addresses().getFirst());
            ServedSamples.assertGot(peer.fetch(1, 1_000, in(PATIENCE_MS)), 1, 1_000);
            assertThat(directBytes() - before).isLessThan(LARGE / 2);
            if (fromFile) {
                bytes.release();
                assertThat(released).hasValue(0);
            } else {
                bytes.release();
                assertThat(bytes.tryRetain()).as("still to be sent").isTrue();
                bytes.release();
            }
            readerGoesOn.countDown();
            ServedSamples.assertGot(answer.join(), 9, LARGE);
        } finally {
            readerGoesOn.countDown();
            readers.close();
        }
        if (fromFile) {
            bytes.release();
            assertThat(released).hasValue(1);
        }
        assertThat(bytes.tryRetain()).isFalse();
    }

    private static long directBytes() {
        return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT)
                .metric()
                .usedDirectMemory();
    }

    /** Returns when the only event loop of these waits for the latch. */
    private static void stop(TransferThreads threads, CountDownLatch until) throws InterruptedException {
        CountDownLatch stands = new CountDownLatch(1);
        threads.next().execute(() -> {
            stands.countDown();
            try {
                until.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        stands.await();
    }

    @Test
    void fetch_fromAStrangersAuthority_isRefusedEitherWay() throws Exception {
        makeKey("a");
        makeKey("b");
        makeKey("stranger");
        try (TransferServer server =
                        TransferServer.start(List.of(ANY_PORT), credentials("a", "b"), samples, PATIENT, threads);
                TransferClient untrusted = new TransferClient(credentials("stranger", "a"), PATIENT, threads);
                TransferClient distrusting = new TransferClient(credentials("b", "stranger"), PATIENT, threads);
                TransferClient plain = new TransferClient(new Credentials(DATASET, SECRET), PATIENT, threads)) {
            for (TransferClient client : List.of(untrusted, distrusting, plain)) {
                Answer answer = ServedSamples.peer(client, server.addresses().getFirst())
                        .fetch(1, 1, in(PATIENCE_MS));
                System.out.println(answer);
                assertThat(answer).isInstanceOf(Answer.Failed.class);
            }
            assertThat(samples.asked.get()).isZero();
        }
    }

    @Test
    void read_missingOrWrongFile_says() throws Exception {
        makeKey("a");
        Path wrong = Files.writeString(directory.resolve("wrong"), "nonsense");
        Path certificate = directory.resolve("a.crt");
        assertThatThrownBy(() -> TransferTls.read(certificate, directory.resolve("none"), certificate))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("none: cannot be read");
        assertThatThrownBy(() -> TransferTls.read(certificate, wrong, certificate))
                .isInstanceOf(IOException.class);
    }
}
