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
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How much is in flight, how it is shared among peers, and what becomes of what nobody wants any more. */
@Timeout(120)
final class TransferLimitsTest {
    private static final int SIZE = 1_000;
    private static final int SAMPLES = 100;

    private final LeakWatch leaks = new LeakWatch();
    private final ServedSamples samples = new ServedSamples();
    private final TransferThreads threads = TransferThreads.start("transfer", 2);
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    TransferLimitsTest() {
        for (int i = 0; i < SAMPLES; i++) {
            samples.add(i, SIZE);
        }
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        threads.close();
        samples.end();
        leaks.end();
    }

    private <T extends AutoCloseable> T closing(T resource) {
        open.push(resource);
        return resource;
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        long end = in(PATIENCE_MS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime())
                    .as("it did not happen within a minute")
                    .isLessThan(end);
            Thread.sleep(2);
        }
    }

    /** A node that serves when the test says so, and knows what it was asked for. */
    private final class SlowNode implements SampleService {
        private final ConcurrentLinkedQueue<CompletableFuture<ServeResult>> owed = new ConcurrentLinkedQueue<>();
        private final ConcurrentLinkedQueue<Integer> asked = new ConcurrentLinkedQueue<>();
        final TransferServer server;

        SlowNode(TransferLimits limits) throws IOException {
            server = closing(TransferServer.start(List.of(ANY_PORT), CREDENTIALS, this, limits, threads));
        }

        @Override
        public ServeResult serve(int sample, long bytes, long deadlineNs) {
            asked.add(sample);
            CompletableFuture<ServeResult> promise = new CompletableFuture<>();
            owed.add(promise);
            return new ServeResult.Later(promise.thenApply(_ -> samples.serve(sample, bytes, deadlineNs)));
        }

        void answerOne() {
            CompletableFuture<ServeResult> promise = owed.poll();
            if (promise != null) {
                promise.complete(ServeResult.NOT_HERE);
            }
        }

        void answerAll(List<CompletableFuture<Answer>> answers) throws InterruptedException {
            eventually(() -> {
                answerOne();
                return answers.stream().allMatch(CompletableFuture::isDone);
            });
        }
    }

    private static List<CompletableFuture<Answer>> askAll(Peer peer) {
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < SAMPLES; i++) {
            answers.add(peer.ask(i, SIZE, in(PATIENCE_MS)));
        }
        return answers;
    }

    private static void assertAllGot(List<CompletableFuture<Answer>> answers) {
        for (int i = 0; i < answers.size(); i++) {
            ServedSamples.assertGot(answers.get(i).join(), i, SIZE);
        }
    }

    @Test
    void inFlight_peerThatAnswersSlowly_isBoundedByItsWindow() throws Exception {
        TransferLimits limits = PATIENT.withWindows(10 * SIZE, 10 * SIZE, 10 * SIZE, 1_000 * SIZE);
        SlowNode node = new SlowNode(PATIENT);
        TransferClient client = closing(new TransferClient(CREDENTIALS, limits, threads));
        Peer peer = ServedSamples.peer(client, node.server.addresses().getFirst());
        List<CompletableFuture<Answer>> answers = askAll(peer);
        eventually(() -> node.owed.size() >= 8); // the last quarter waits until it is free as a whole
        for (int i = 0; i < 30; i++) {
            assertThat(node.owed.size()).isLessThanOrEqualTo(10);
            assertThat(peer.figures().inFlightBytes()).isLessThanOrEqualTo(10 * SIZE);
            Thread.sleep(1);
            node.answerOne();
        }
        node.answerAll(answers);
        assertAllGot(answers);
    }

    @Test
    void inFlight_samplesLargerThanTheWindow_comeOneByOne() throws Exception {
        TransferLimits limits = PATIENT.withWindows(SIZE / 2, SIZE / 2, SIZE / 2, SIZE / 2);
        SlowNode node = new SlowNode(PATIENT);
        TransferClient client = closing(new TransferClient(CREDENTIALS, limits, threads));
        List<CompletableFuture<Answer>> answers =
                askAll(ServedSamples.peer(client, node.server.addresses().getFirst()));
        for (int i = 0; i < 20; i++) {
            eventually(() -> node.owed.size() == 1);
            Thread.sleep(2);
            assertThat(node.owed).hasSize(1);
            node.answerOne();
        }
        node.answerAll(answers);
        assertAllGot(answers);
    }

    /** As where all loaders ask the home for samples that it has yet to fetch from a slow source. */
    @Test
    void inFlight_samplesThatTheHomeHasToFetch_holdUpNoneThatItHas_andAreNoMeasureOfThePath() throws Exception {
        TransferLimits limits = PATIENT.withWindows(SIZE, SIZE, 2 * SAMPLES * SIZE, SIZE);
        SlowNode node = new SlowNode(PATIENT);
        TransferClient client = closing(new TransferClient(CREDENTIALS, limits, threads));
        Peer peer = ServedSamples.peer(client, node.server.addresses().getFirst());
        List<CompletableFuture<Answer>> fetched = new ArrayList<>();
        for (int i = 0; i < SAMPLES - 1; i++) {
            fetched.add(peer.askHome(i, SIZE, in(PATIENCE_MS)));
        }
        CompletableFuture<Answer> there = peer.ask(SAMPLES - 1, SIZE, in(PATIENCE_MS));
        eventually(() -> node.owed.size() == SAMPLES);
        assertThat(peer.figures().inFlightBytes()).isEqualTo(SIZE);
        for (int i = 0; i < SAMPLES - 1; i++) {
            node.answerOne();
        }
        assertAllGot(fetched);
        assertThat(peer.figures().delayNs()).as("nothing was measured").isZero();
        assertThat(peer.figures().bytesPerSecond()).isZero();
        node.answerOne();
        ServedSamples.assertGot(there.join(), SAMPLES - 1, SIZE);
        assertThat(peer.figures().delayNs()).isPositive();
    }

    @Test
    void inFlight_samplesThatTheHomeHasToFetch_leaveHalfOfItsPromisesToThoseThatItHas() throws Exception {
        SlowNode node = new SlowNode(PATIENT);
        TransferClient client = closing(
                new TransferClient(CREDENTIALS, PATIENT.withWindows(SIZE, 4 * SIZE, 20 * SIZE, 20 * SIZE), threads));
        Peer peer = ServedSamples.peer(client, node.server.addresses().getFirst());
        List<CompletableFuture<Answer>> all = new ArrayList<>();
        for (int i = 0; i < SAMPLES - 1; i++) {
            all.add(peer.askHome(i, SIZE, in(PATIENCE_MS)));
        }
        all.add(peer.ask(SAMPLES - 1, SIZE, in(PATIENCE_MS)));
        eventually(() -> node.asked.contains(SAMPLES - 1));
        assertThat(node.asked).hasSize(10 + 1);
        node.answerAll(all);
        assertThat(node.asked).hasSize(SAMPLES);
    }

    @Test
    void samplesThatTheHomeCannotFetchInTime_areNoReasonToLeaveItAlone() throws Exception {
        SlowNode node = new SlowNode(PATIENT);
        TransferClient client = closing(new TransferClient(CREDENTIALS, PATIENT, threads));
        Peer peer = ServedSamples.peer(client, node.server.addresses().getFirst());
        CompletableFuture<Answer> before = peer.ask(0, SIZE, in(PATIENCE_MS));
        eventually(() -> node.owed.size() == 1);
        List<CompletableFuture<Answer>> late = new ArrayList<>();
        for (int i = 0; i < 2 * PATIENT.counts().expiriesInARow(); i++) {
            late.add(peer.askHome(1, SIZE, in(200)));
        }
        late.forEach(CompletableFuture::join);
        assertThat(peer.isLeftAlone()).isFalse();
        node.answerOne();
        ServedSamples.assertGot(before.join(), 0, SIZE);
    }

    @Test
    void inFlight_severalPeersAtOnce_eachHasItsShare() throws Exception {
        TransferLimits limits = PATIENT.withWindows(SIZE, 40 * SIZE, 40 * SIZE, 40 * SIZE);
        TransferClient client = closing(new TransferClient(CREDENTIALS, limits, threads));
        List<SlowNode> nodes = new ArrayList<>();
        List<Peer> peers = new ArrayList<>();
        List<CompletableFuture<Answer>> never = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            SlowNode node = new SlowNode(PATIENT);
            nodes.add(node);
            peers.add(ServedSamples.peer(client, node.server.addresses().getFirst()));
            never.add(peers.get(i).ask(0, SIZE, in(PATIENCE_MS))); // so that all are busy when the first asks for more
        }
        for (SlowNode node : nodes) {
            eventually(() -> node.owed.size() == 1);
        }
        List<List<CompletableFuture<Answer>>> answers =
                peers.stream().map(TransferLimitsTest::askAll).toList();
        for (SlowNode node : nodes) {
            eventually(() -> node.owed.size() >= 8);
        }
        Thread.sleep(50);
        for (SlowNode node : nodes) {
            assertThat(node.owed).as("a quarter of what all may have in flight").hasSizeBetween(8, 10);
        }
        for (int i = 0; i < 4; i++) {
            nodes.get(i).answerAll(answers.get(i));
            assertAllGot(answers.get(i));
            ServedSamples.assertGot(never.get(i).join(), 0, SIZE);
        }
    }

    @Test
    void onePeerThatNeverAnswers_holdsUpNoOther() throws Exception {
        TransferClient client = closing(new TransferClient(CREDENTIALS, PATIENT, threads));
        SlowNode silent = new SlowNode(PATIENT);
        TransferServer good = closing(TransferServer.start(List.of(ANY_PORT), CREDENTIALS, samples, PATIENT, threads));
        List<CompletableFuture<Answer>> waiting =
                askAll(ServedSamples.peer(client, silent.server.addresses().getFirst()));
        assertAllGot(askAll(ServedSamples.peer(client, good.addresses().getFirst())));
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        silent.answerAll(waiting);
        assertAllGot(waiting);
    }

    @Test
    void cancel_requestsThatHaveNotBeenSent_areNeverSent() throws Exception {
        TransferLimits limits = PATIENT.withWindows(SIZE, SIZE, SIZE, SIZE);
        SlowNode node = new SlowNode(PATIENT);
        TransferClient client = closing(new TransferClient(CREDENTIALS, limits, threads));
        List<CompletableFuture<Answer>> answers =
                askAll(ServedSamples.peer(client, node.server.addresses().getFirst()));
        eventually(() -> node.owed.size() == 1);
        for (int i = 1; i < SAMPLES - 1; i++) {
            assertThat(answers.get(i).cancel(false)).isTrue();
        }
        node.answerAll(List.of(answers.getFirst(), answers.getLast()));
        ServedSamples.assertGot(answers.getFirst().join(), 0, SIZE);
        ServedSamples.assertGot(answers.getLast().join(), SAMPLES - 1, SIZE);
        assertThat(node.asked).containsExactly(0, SAMPLES - 1);
    }

    @Test
    void cancel_requestsThatWaitThere_areNeverLent() throws Exception {
        TransferLimits promisesOne = PATIENT.withWindows(SIZE, SIZE, SIZE, SIZE);
        SlowNode node = new SlowNode(promisesOne);
        TransferClient client = closing(new TransferClient(CREDENTIALS, PATIENT, threads));
        List<CompletableFuture<Answer>> answers =
                askAll(ServedSamples.peer(client, node.server.addresses().getFirst()));
        eventually(() -> node.server.counters().requests.sum() == SAMPLES);
        Set<Integer> wanted = new HashSet<>(List.of(0, 50));
        for (int i = 0; i < SAMPLES; i++) {
            if (!wanted.contains(i)) {
                answers.get(i).cancel(false);
            }
        }
        eventually(() -> node.server.counters().failed.sum() == SAMPLES - 2);
        node.answerAll(List.of(answers.get(0), answers.get(50)));
        ServedSamples.assertGot(answers.get(0).join(), 0, SIZE);
        ServedSamples.assertGot(answers.get(50).join(), 50, SIZE);
        assertThat(node.asked).containsExactly(0, 50);
    }

    private static TransferLimits withPeers(int peers) {
        TransferLimits limits = TransferLimits.DEFAULT;
        TransferLimits.Counts some = limits.counts();
        return new TransferLimits(
                limits.times(),
                limits.windows(),
                new TransferLimits.Counts(
                        some.requestsInFlight(),
                        some.requestsPerPeer(),
                        some.connections(),
                        some.handshakes(),
                        peers,
                        some.expiriesInARow()),
                limits.largestSampleBytes());
    }

    @Test
    void peer_beyondTheLimit_isNone_untilOthersAreForgotten() {
        TransferClient client = closing(new TransferClient(CREDENTIALS, withPeers(3), threads));
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            addresses.add(InetSocketAddress.createUnresolved("10.0.0." + i, 7000));
        }
        Peer first = client.peer(addresses.getFirst());
        assertThat(first).isNotNull();
        assertThat(client.peer(addresses.get(1))).isNotNull();
        assertThat(client.peer(addresses.get(2))).isNotNull();
        assertThat(client.peer(addresses.get(3)))
                .as("no peer, and no exception")
                .isNull();
        assertThat(client.peer(addresses.getFirst())).as("known as before").isSameAs(first);

        client.keepOnly(List.of(List.of(addresses.getFirst()), List.of(addresses.get(3))));
        assertThat(client.peers()).containsExactly(first);
        assertThat(client.peer(addresses.get(3))).isNotNull();
        assertThat(client.peer(addresses.get(4))).isNotNull();
        assertThat(client.peer(addresses.get(1))).isNull();
    }

    @Test
    void peersThatComeBackWithNewAddresses_neverAddUpToTheLimit() {
        TransferClient client = closing(new TransferClient(CREDENTIALS, withPeers(2), threads));
        for (int i = 0; i < 2_000; i++) {
            InetSocketAddress now = InetSocketAddress.createUnresolved("node-" + i, 7000);
            client.keepOnly(List.of(List.of(now)));
            assertThat(client.peer(now)).as("membership " + i).isNotNull();
            assertThat(client.peers()).hasSize(1);
        }
    }

    @Test
    void peerThatLeft_whatItWasAskedFails_andItIsAskedAnewWhenItIsBack() throws Exception {
        SlowNode node = new SlowNode(PATIENT);
        InetSocketAddress address = node.server.addresses().getFirst();
        TransferClient client = closing(new TransferClient(CREDENTIALS, PATIENT, threads));
        CompletableFuture<Answer> asked = ServedSamples.peer(client, address).ask(1, SIZE, in(PATIENCE_MS));
        eventually(() -> node.owed.size() == 1);
        client.keepOnly(List.of());
        assertThat(asked.get(60, TimeUnit.SECONDS)).isEqualTo(new Answer.Failed("closed"));
        assertThat(client.peers()).isEmpty();

        CompletableFuture<Answer> again = ServedSamples.peer(client, address).ask(2, SIZE, in(PATIENCE_MS));
        eventually(() -> node.owed.size() == 2);
        node.answerOne();
        node.answerOne();
        ServedSamples.assertGot(again.get(60, TimeUnit.SECONDS), 2, SIZE);
    }
}
