package io.clairfs.peer.transfer.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.peer.transfer.TransferLimits;
import java.util.ArrayDeque;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The window against a simulated line that has a bandwidth and a delay. */
final class FlightWindowTest {
    private static final long MS = 1_000_000;
    private static final long SAMPLE = 100_000;

    private record Travelling(FlightWindow.Sent sent, long arrivesNs) {}

    /** Keeps a line busy for a while; returns bytes per second that it carried in the second half. */
    private static double busy(FlightWindow window, double bytesPerNs, long delayNs, long forNs) {
        ArrayDeque<Travelling> line = new ArrayDeque<>();
        long now = 0;
        long free = 0;
        long carried = 0;
        while (now < forNs) {
            while (line.isEmpty() || (line.size() + 1) * SAMPLE <= window.bytes()) {
                FlightWindow.Sent sent =
                        window.sent(line.size() * SAMPLE, line.size() * SAMPLE >= window.bytes() / 2, now);
                free = Math.max(free, now + delayNs) + (long) (SAMPLE / bytesPerNs);
                line.add(new Travelling(sent, free));
            }
            Travelling next = line.removeFirst();
            now = next.arrivesNs();
            window.answered(next.sent(), now - (long) (SAMPLE / bytesPerNs));
            window.delivered(next.sent(), SAMPLE, now);
            carried += now > forNs / 2 ? SAMPLE : 0;
        }
        return carried * 2e9 / forNs;
    }

    @ParameterizedTest
    @CsvSource({"1.25, 50000", "1.25, 1000000", "12.5, 100000", "0.125, 5000000", "0.1, 200000"})
    void bytes_busyLine_fillsItWithoutFloodingIt(double bytesPerNs, long delayNs) {
        FlightWindow window = new FlightWindow(TransferLimits.DEFAULT, 0);
        double carried = busy(window, bytesPerNs, delayNs, 20_000 * MS);
        double product = bytesPerNs * delayNs;
        System.out.printf(
                "%.0f MB/s, %d us: carried %.0f MB/s, window %,d, product %,.0f%n",
                bytesPerNs * 1e3, delayNs / 1000, carried / 1e6, window.bytes(), product);
        assertThat(carried).isGreaterThan(0.95 * bytesPerNs * 1e9);
        long turn = (long) (bytesPerNs * FlightWindow.TURN_NS);
        assertThat(window.bytes()).isLessThanOrEqualTo(Math.max(512 << 10, (long) (2.6 * (product + turn + SAMPLE))));
    }

    @Test
    void bytes_lineThatBecomesSlower_shrinks() {
        FlightWindow window =
                new FlightWindow(TransferLimits.DEFAULT.withWindows(1000, 1 << 20, 64 << 20, 64 << 20), 0);
        busy(window, 10, 2 * MS, 3_000 * MS);
        long wide = window.bytes();
        assertThat(wide).isGreaterThan(20_000_000);
        long now = 3_000 * MS;
        for (int i = 0; i < 50; i++) {
            FlightWindow.Sent sent = window.sent(wide, true, now);
            now += 100 * MS; // a megabyte per second
            window.answered(sent, now);
            window.delivered(sent, SAMPLE, now);
        }
        assertThat(window.bytes()).isLessThan(wide / 10);
    }

    @Test
    void bytes_littleAsked_doesNotShrinkIt() {
        FlightWindow window = new FlightWindow(TransferLimits.DEFAULT, 0);
        busy(window, 1.25, 2 * MS, 1_000 * MS);
        long wide = window.bytes();
        long now = 1_000 * MS;
        for (int i = 0; i < 300; i++) {
            now += 10 * MS;
            FlightWindow.Sent sent = window.sent(0, false, now);
            window.answered(sent, now + 2 * MS);
            window.delivered(sent, 1_000, now + 3 * MS);
        }
        assertThat(window.bytes()).isEqualTo(wide);
    }

    @Test
    void fairShare_divides() {
        FairShare share = new FairShare(100, 10);
        assertThat(share.limit(1000)).isEqualTo(100);
        for (int i = 0; i < 4; i++) {
            share.begin(1);
        }
        assertThat(share.limit(1000)).isEqualTo(25);
        assertThat(share.limit(20)).isEqualTo(20);
        for (int i = 0; i < 40; i++) {
            share.begin(1);
        }
        assertThat(share.limit(1000)).isEqualTo(10);
    }
}
