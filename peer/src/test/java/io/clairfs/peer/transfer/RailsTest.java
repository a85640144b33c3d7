package io.clairfs.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.peer.transfer.client.Answer;
import io.clairfs.peer.transfer.client.Peer;
import io.clairfs.peer.transfer.client.RailFigures;
import io.clairfs.peer.transfer.client.TransferClient;
import io.clairfs.peer.transfer.server.SampleService;
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.peer.transfer.server.TransferServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What several paths to one peer promise. */
@Timeout(120)
final class RailsTest {
    private static final int SAMPLES = 400;
    private static final int BYTES = 50_000;

    /** No rail is lost because the machine stands still. */
    private static final TransferLimits LIMITS = TransferTest.PATIENT.withPong((int) TransferTest.PATIENCE_MS);

    /** Until a rail that is cut is lost: longer than a machine stands still, for the other rail must not be lost then, and short enough to wait for. */
    private static final int PONG_MS = 15_000;

    private final ServedSamples samples = new ServedSamples();
    private final TransferThreads threads = TransferThreads.start("transfer", 2);
    private final TransferClient client = new TransferClient(TransferTest.CREDENTIALS, LIMITS, threads);
    private final LeakWatch leaks = new LeakWatch();

    /** Answers nothing before it is done. */
    private final CompletableFuture<Boolean> answering = new CompletableFuture<>();

    RailsTest() {
        for (int i = 0; i < SAMPLES; i++) {
            samples.add(i, BYTES);
        }
    }

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        client.close();
        threads.close();
        samples.end();
        leaks.end();
    }

    private final class Held implements SampleService {
        @Override
        public ServeResult serve(int sample, long bytes, long deadlineNs) {
            return answering.isDone()
                    ? samples.serve(sample, bytes, deadlineNs)
                    : new ServeResult.Later(answering.thenApply(_ -> samples.serve(sample, bytes, deadlineNs)));
        }
    }

    private TransferServer serve(String... hosts) throws IOException {
        return serve(LIMITS, hosts);
    }

    private TransferServer serve(TransferLimits limits, String... hosts) throws IOException {
        List<InetSocketAddress> listen = new ArrayList<>();
        for (String host : hosts) {
            listen.add(new InetSocketAddress(host, 0));
        }
        return TransferServer.start(listen, TransferTest.CREDENTIALS, new Held(), limits, threads);
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) { // the class's timeout ends it
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private static Peer connected(TransferClient client, List<InetSocketAddress> rails) throws InterruptedException {
        Peer peer = Objects.requireNonNull(client.peer(rails));
        peer.connectEarly();
        await(() -> peer.figures().rails().stream().allMatch(RailFigures::connected));
        return peer;
    }

    private static List<CompletableFuture<Answer>> askForAll(Peer peer) {
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < SAMPLES; i++) {
            answers.add(peer.ask(i, BYTES, TransferTest.in(TransferTest.PATIENCE_MS)));
        }
        return answers;
    }

    private static void assertAllRight(List<CompletableFuture<Answer>> answers) {
        for (int i = 0; i < answers.size(); i++) {
            ServedSamples.assertGot(answers.get(i).join(), i, BYTES);
        }
    }

    @Test
    void connections_areBoundedForEachRail() throws Exception {
        TransferLimits twoPeers = LIMITS.withCounts(8, 8, 2, 64);
        try (TransferServer server = serve(twoPeers, "127.0.0.1", "127.0.0.2");
                TransferClient second = new TransferClient(TransferTest.CREDENTIALS, LIMITS, threads);
                TransferClient third = new TransferClient(TransferTest.CREDENTIALS, LIMITS, threads)) {
            connectEarly(client, server);
            awaitAnswered(server, 2);
            connectEarly(second, server);
            awaitAnswered(server, 4);
            assertThat(server.counters().refused.sum()).isZero();
            connectEarly(third, server);
            awaitAnswered(server, 6);
            assertThat(server.counters().refused.sum()).isEqualTo(2);
        }
    }

    private static void connectEarly(TransferClient from, TransferServer server) {
        Objects.requireNonNull(from.peer(server.addresses())).connectEarly();
    }

    private static void awaitAnswered(TransferServer server, int connections) throws InterruptedException {
        await(() ->
                server.counters().connections.sum() + server.counters().refused.sum() == connections);
    }

    // Promise G18
    @Test
    void whatOneRailCannotTake_anotherTakes() throws Exception {
        try (TransferServer server = serve("127.0.0.1", "127.0.0.2")) {
            Peer peer = connected(client, server.addresses());
            List<CompletableFuture<Answer>> answers = askForAll(peer);
            await(() -> peer.figures().rails().stream().allMatch(rail -> rail.inFlightBytes() > BYTES));
            answering.complete(true);
            assertAllRight(answers);
            assertThat(peer.figures().rails()).allMatch(rail -> rail.gotBytes() >= BYTES);
            assertThat(peer.figures().rails().stream()
                            .mapToLong(RailFigures::gotBytes)
                            .sum())
                    .isEqualTo((long) SAMPLES * BYTES);
            await(() -> peer.figures().outstanding() == 0); // a little after the answer
        }
    }

    // Promise G18
    @Test
    void whatACutRailOwes_comesByAnother() throws Exception {
        AtomicBoolean cut = new AtomicBoolean();
        try (TransferServer server = serve("127.0.0.1");
                Tampering first =
                        new Tampering(server.addresses().getFirst(), (_, length, _) -> cut.get() ? 0 : length);
                Tampering second = new Tampering(server.addresses().getFirst(), (_, length, _) -> length);
                TransferClient asking =
                        new TransferClient(TransferTest.CREDENTIALS, LIMITS.withPong(PONG_MS), threads)) {
            Peer peer = connected(asking, List.of(first.address(), second.address()));
            List<CompletableFuture<Answer>> answers = askForAll(peer);
            await(() -> peer.figures().rails().stream().allMatch(rail -> rail.inFlightBytes() > BYTES));
            cut.set(true);
            answering.complete(true);
            assertAllRight(answers);
            assertThat(asking.counters().moved.sum()).isPositive();
            assertThat(asking.counters().got.sum()).isEqualTo(SAMPLES);
            assertThat(asking.counters().failed.sum()).isZero();
            assertThat(peer.isLeftAlone()).isFalse();
            assertThat(peer.trouble()).isNull();
            assertThat(peer.figures().rails().stream().map(RailFigures::leftAlone))
                    .containsExactly(true, false);
            ServedSamples.assertGot(peer.fetch(3, BYTES, TransferTest.in(TransferTest.PATIENCE_MS)), 3, BYTES);
        }
    }

    @Test
    void railThatWaitsForASlowAnswer_isNotLost() throws Exception {
        AtomicLong sent = new AtomicLong();
        Tampering.Deed counting = (_, length, _) -> {
            sent.addAndGet(length);
            return length;
        };
        try (TransferServer server = serve("127.0.0.1");
                Tampering first = new Tampering(server.addresses().getFirst(), counting);
                Tampering second = new Tampering(server.addresses().getFirst(), counting)) {
            Peer peer = connected(client, List.of(first.address(), second.address()));
            long before = sent.get();
            CompletableFuture<Answer> answer = peer.ask(1, BYTES, TransferTest.in(TransferTest.PATIENCE_MS));
            // A rail is pinged again only when the last ping was answered: one whose pings are answered is never lost.
            await(() -> sent.get() >= before + 3L * Frames.REPLY_HEAD_BYTES);
            assertThat(answer).isNotDone();
            answering.complete(true);
            ServedSamples.assertGot(answer.join(), 1, BYTES);
            assertThat(client.counters().moved.sum()).isZero();
            assertThat(client.counters().leftAlone.sum()).isZero();
        }
    }

    @Test
    void peerWhoseRailsAreAllLost_isLeftAlone() throws Exception {
        TransferServer server = serve("127.0.0.1", "127.0.0.2");
        Peer peer = connected(client, server.addresses());
        List<CompletableFuture<Answer>> answers = askForAll(peer);
        server.close();
        for (CompletableFuture<Answer> answer : answers) {
            assertThat(answer.join()).isInstanceOf(Answer.Failed.class);
        }
        await(peer::isLeftAlone);
        assertThat(peer.trouble()).isNotNull();
        await(() -> peer.figures().outstanding() == 0); // a little after the answer
        answering.complete(false);
    }

    @Test
    void rail_beginsAtTheAddressOfItsNumber() throws Exception {
        List<InetAddress> from = List.of(InetAddress.getByName("127.0.0.3"), InetAddress.getByName("127.0.0.4"));
        answering.complete(true);
        try (TransferServer server = serve("127.0.0.1", "127.0.0.2");
                TransferClient bound = new TransferClient(TransferTest.CREDENTIALS, LIMITS, threads, from)) {
            Peer peer = connected(bound, server.addresses());
            ServedSamples.assertGot(peer.fetch(1, BYTES, TransferTest.in(TransferTest.PATIENCE_MS)), 1, BYTES);
            assertThat(connectionsTo(server.addresses().get(0).getPort())).contains("0300007F");
            assertThat(connectionsTo(server.addresses().get(1).getPort())).contains("0400007F");
        }
    }

    /** The lines of the kernel's tables of connections to this port; addresses are hexadecimal there, their last byte first. */
    private static String connectionsTo(int port) throws IOException {
        String there = ":%04X ".formatted(port);
        List<String> found = new ArrayList<>();
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            Path lines = Path.of(table);
            for (String line : Files.exists(lines) ? Files.readAllLines(lines) : List.<String>of()) {
                if (line.contains(there)) {
                    found.add(line);
                }
            }
        }
        return String.join("\n", found);
    }
}
