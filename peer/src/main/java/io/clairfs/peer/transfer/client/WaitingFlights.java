package io.clairfs.peer.transfer.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The requests to one peer that no rail has taken yet, the first first. Whoever takes one out owns it. Thread-safe without a lock. */
final class WaitingFlights {
    private final ConcurrentLinkedDeque<Flight> flights = new ConcurrentLinkedDeque<>();

    void add(Flight flight) {
        flights.add(flight);
    }

    /** Puts one before all others: it was taken, and not answered. */
    void putBack(Flight flight) {
        flights.addFirst(flight);
    }

    @Nullable
    Flight poll() {
        return flights.poll();
    }

    /** Takes out the first of which {@code so} holds. */
    @Nullable
    Flight poll(Predicate<Flight> so) {
        for (Flight flight : flights) {
            if (so.test(flight) && flights.remove(flight)) {
                return flight;
            }
        }
        return null;
    }

    /** The first one, which stays. */
    @Nullable
    Flight peek() {
        return flights.peek();
    }

    boolean isEmpty() {
        return flights.isEmpty();
    }

    /** Takes out all. */
    List<Flight> takeAll() {
        List<Flight> all = new ArrayList<>();
        for (Flight flight = flights.poll(); flight != null; flight = flights.poll()) {
            all.add(flight);
        }
        return all;
    }

    /** Takes out those that are overdue or that no caller waits for. */
    List<Flight> takeOver(long nowNs) {
        List<Flight> over = new ArrayList<>();
        for (Flight flight : flights) {
            if ((flight.promise().isDone() || flight.isOverdue(nowNs)) && flights.remove(flight)) {
                over.add(flight);
            }
        }
        return over;
    }
}
