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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Samples larger than what a server may promise a connection, over a link that passes none of them before the test says so. */
@Timeout(120)
final class LargeSamplesTest extends TransferFaultsFixture {
    private static final int SIZE = 16 << 20;
    private static final int HANDSHAKE_BYTES = Handshake.GREETING_BYTES + Handshake.VERDICT_BYTES;
    private static final TransferLimits NARROW = PATIENT.withWindows(1 << 16, 1 << 16, 1 << 20, 1 << 20);
    private static final TransferLimits WIDE = PATIENT.withWindows(100 << 20, 100 << 20, 100 << 20, 100 << 20);

    private final CountDownLatch linkGoesOn = new CountDownLatch(1);

    private Peer behindTheLink(TransferClient client, TransferServer server) throws IOException {
        Tampering link = closing(new Tampering(
                server.addresses().getFirst(),
                (_, length, before) -> before < HANDSHAKE_BYTES || awaitLink() ? length : -1));
        return ServedSamples.peer(client, link.address());
    }

    private boolean awaitLink() {
        try {
            linkGoesOn.await();
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    @Test
    void cancel_inTheMiddleOfASample_keepsTheConnection() throws Exception {
        samples.add(5, SIZE);
        samples.add(6, 100);
        TransferServer server = serve(NARROW);
        TransferClient client = client(CREDENTIALS, WIDE);
        Peer peer = behindTheLink(client, server);
        CompletableFuture<Answer> large = peer.ask(5, SIZE, in(PATIENCE_MS));
        eventually(() -> server.counters().served.sum() == 1);
        assertThat(large.cancel(false)).isTrue();
        eventually(() -> client.counters().failed.sum() == 1); // the next request comes behind its cancellation
        CompletableFuture<Answer> small = peer.ask(6, 100, in(PATIENCE_MS));
        eventually(() -> server.counters().requests.sum() == 2
                || server.counters().garbage.sum() == 1);
        linkGoesOn.countDown();
        ServedSamples.assertGot(small.join(), 6, 100);
        assertThat(server.counters().garbage.sum()).isZero();
        assertThat(client.counters().connections.sum()).isEqualTo(1);
    }

    /** A node that makes four samples at once, a fifth when the test says so, and does not bring what it is to give. */
    private SampleService maker(AtomicInteger made, CompletableFuture<ServeResult> fifth) {
        CompletableFuture<ServeResult> never = new CompletableFuture<>();
        return new SampleService() {
            @Override
            public ServeResult serve(int sample, long bytes, long deadlineNs) {
                return new ServeResult.Later(never);
            }

            @Override
            public ServeResult make(int sample, long bytes, long deadlineNs) {
                return new ServeResult.Later(
                        made.incrementAndGet() < 5
                                ? CompletableFuture.completedFuture(samples.serve(sample, bytes, deadlineNs))
                                : fifth);
            }
        };
    }

    @Test
    void make_manyAreReadyAtOnce_allComeOverOneConnection() throws Exception {
        samples.add(5, SIZE);
        AtomicInteger made = new AtomicInteger();
        CompletableFuture<ServeResult> fifth = new CompletableFuture<>();
        TransferServer server =
                closing(TransferServer.start(List.of(ANY_PORT), CREDENTIALS, maker(made, fifth), NARROW, threads));
        TransferClient client = client(CREDENTIALS, WIDE);
        Peer peer = behindTheLink(client, server);
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            answers.add(peer.askToMake(5, SIZE, in(PATIENCE_MS)));
        }
        CompletableFuture<Answer> other = peer.ask(6, 100, in(PATIENCE_MS));
        eventually(() -> server.counters().requests.sum() == 6);
        assertThat(other.cancel(false)).isTrue();
        eventually(() -> server.counters().failed.sum() == 1); // by then it has looked at what it owes
        assertThat(made.get()).as("made for a link that takes nothing").isLessThan(5);

        linkGoesOn.countDown();
        eventually(() -> answers.stream().filter(CompletableFuture::isDone).count() == 4);
        fifth.complete(samples.serve(5, SIZE, in(PATIENCE_MS)));
        for (CompletableFuture<Answer> answer : answers) {
            ServedSamples.assertGot(answer.join(), 5, SIZE);
        }
        assertThat(client.counters().connections.sum()).isEqualTo(1);
    }
}
