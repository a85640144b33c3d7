package io.clairfs.peer.transfer.client;

import static io.clairfs.peer.transfer.TransferTest.ANY_PORT;
import static io.clairfs.peer.transfer.TransferTest.CREDENTIALS;
import static io.clairfs.peer.transfer.TransferTest.PATIENT;
import static io.clairfs.peer.transfer.TransferTest.in;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.peer.transfer.TransferLimits;
import io.clairfs.peer.transfer.TransferThreads;
import io.clairfs.peer.transfer.server.ServeResult;
import io.clairfs.peer.transfer.server.TransferServer;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What one rail does by itself, with a peer made for the test. */
@Timeout(240)
final class RailTest {
    private final TransferThreads threads = TransferThreads.start("rail", 2);
    private final CompletableFuture<ServeResult> never = new CompletableFuture<>();
    private final WaitingFlights waiting = new WaitingFlights();

    @AfterEach
    void endThreads() {
        threads.close();
    }

    /** A peer with this rail alone. */
    private class Alone implements Rail.Owner {
        @Override
        public WaitingFlights waiting() {
            return waiting;
        }

        @Override
        public boolean isIdle() {
            return false;
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public void hasMore(Rail from) {}

        @Override
        public void expireWaiting(long nowNs) {}

        @Override
        public List<Flight> stranded(Rail rail) {
            return waiting.takeAll();
        }

        @Override
        public void fail(List<Flight> stranded, String reason) {
            stranded.forEach(flight -> flight.settle(new Answer.Failed(reason)));
        }

        @Override
        public boolean takesBack(Rail from, Flight unanswered) {
            return false;
        }

        @Override
        public void retired() {}
    }

    private Rail rail(Rail.Owner owner, InetSocketAddress address) {
        return rail(owner, address, PATIENT);
    }

    private Rail rail(Rail.Owner owner, InetSocketAddress address, TransferLimits limits) {
        FairShare share = new FairShare(
                PATIENT.windows().allPeersBytes(), PATIENT.windows().leastBytes());
        Rail.Means means = new Rail.Means(CREDENTIALS, limits, threads, new FetchCounters(), share);
        return new Rail(owner, address, null, false, threads.next(), means);
    }

    @Test
    void requestThatIsTakenWithoutAWakeUp_isGivenUpAtItsDeadline() throws Exception {
        try (TransferServer server = TransferServer.start(
                List.of(ANY_PORT), CREDENTIALS, (_, _, _) -> new ServeResult.Later(never), PATIENT, threads)) {
            Rail rail = rail(new Alone(), server.addresses().getFirst());
            Flight flight = new Flight(1, 100, in(300), Flight.First.NOTHING);
            waiting.add(flight);
            rail.connectEarly(); // takes what waits when it is connected
            assertThat(flight.promise().get(120, TimeUnit.SECONDS)).isInstanceOf(Answer.Failed.class);
            end(rail);
        }
    }

    /** Else two rails that have room for less than the first waiting sample would wake each other without an end. */
    @Test
    void rail_takesNoMoreThanItWouldSend() throws Exception {
        TransferLimits limits = PATIENT.withWindows(1 << 20, 1 << 20, 1 << 20, 64 << 20);
        try (TransferServer server = TransferServer.start(
                List.of(ANY_PORT), CREDENTIALS, (_, _, _) -> new ServeResult.Later(never), limits, threads)) {
            Rail rail = rail(new Alone(), server.addresses().getFirst(), limits);
            int bytes = 600 << 10;
            waiting.add(new Flight(1, bytes, in(600_000), Flight.First.NOTHING));
            assertThat(rail.wake()).isTrue();
            while (rail.figures().inFlightBytes() == 0) {
                Thread.sleep(1);
            }
            assertThat(rail.takes(new Flight(0, bytes, 0, Flight.First.NOTHING)))
                    .isFalse();
            assertThat(rail.takes(new Flight(0, 100 << 10, 0, Flight.First.NOTHING)))
                    .isTrue();
            end(rail);
        }
    }

    @Test
    void lookThatFails_isNotTheLast() throws Exception {
        CountDownLatch looks = new CountDownLatch(3);
        Rail.Owner failing = new Alone() {
            @Override
            public void expireWaiting(long nowNs) {
                looks.countDown();
                throw new AssertionError("for the test");
            }
        };
        try (TransferServer server = TransferServer.start(
                List.of(ANY_PORT), CREDENTIALS, (_, _, _) -> new ServeResult.Later(never), PATIENT, threads)) {
            Rail rail = rail(failing, server.addresses().getFirst());
            waiting.add(new Flight(1, 100, in(600_000), Flight.First.NOTHING));
            assertThat(rail.wake()).isTrue();
            assertThat(looks.await(120, TimeUnit.SECONDS)).isTrue();
            end(rail);
        }
    }

    private static void end(Rail rail) throws InterruptedException {
        var ended = rail.end();
        if (ended != null) {
            ended.await();
        }
    }
}
