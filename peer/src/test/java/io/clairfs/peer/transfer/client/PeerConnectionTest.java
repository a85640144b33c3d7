package io.clairfs.peer.transfer.client;

import static io.clairfs.peer.transfer.TransferTest.PATIENT;
import static io.clairfs.peer.transfer.TransferTest.in;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.peer.transfer.Frames;
import io.clairfs.peer.transfer.NoDirectMemory;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One connection without a network. */
final class PeerConnectionTest {
    private final WaitingFlights waiting = new WaitingFlights();
    private final List<String> lost = new ArrayList<>();
    private int retired;

    private final class User implements PeerConnection.Owner {
        @Override
        public void roomAgain() {}

        @Override
        public void wentWell(long bytes) {}

        @Override
        public boolean takesBack(Flight unanswered) {
            return false;
        }

        @Override
        public void retired() {
            retired++;
        }

        @Override
        public void lost(String reason) {
            lost.add(reason);
        }
    }

    /** Or else they would count as in flight for good, and so would their bytes. */
    @Test
    void requestsThatCannotBeWritten_endTheConnection_andFail() {
        int more = 3;
        List<Flight> flights = new ArrayList<>();
        for (int i = 0; i < Frames.MOST_ENTRIES + more; i++) {
            Flight flight = new Flight(i, 1, in(600_000), Flight.First.NOTHING);
            flights.add(flight);
            waiting.add(flight);
        }
        FairShare share = new FairShare(1 << 20, 1 << 20);
        PeerConnection connection = new PeerConnection(new User(), PATIENT, new FetchCounters(), share, false);
        EmbeddedChannel channel = new EmbeddedChannel(connection);
        channel.config().setAllocator(new NoDirectMemory());
        connection.send(waiting, System.nanoTime());

        assertThat(lost).containsExactly("requests cannot be written: no direct memory, for the test");
        assertThat(channel.isOpen()).isFalse();
        assertThat(connection.inFlightBytes()).isZero();
        assertThat(retired).isEqualTo(Frames.MOST_ENTRIES);
        assertThat(flights.subList(0, Frames.MOST_ENTRIES))
                .allSatisfy(flight -> assertThat(flight.promise().join()).isInstanceOf(Answer.Failed.class));
        assertThat(waiting.takeAll()).as("for another connection").hasSize(more);
    }
}
