package io.clairfs.cache.fetch;

import java.util.ArrayList;
import java.util.List;

/**
 * A store in virtual time, and loaders that fetch samples from it through {@link SourceTurns}: each piece takes a latency, then its share of the
 * bandwidth, at most what one stream gets.
 */
final class SimulatedStore {
    private static final double EPSILON = 1e-12;

    private double bytesPerSecond;
    private final double streamBytesPerSecond;
    private final double latencySeconds;
    final SourceTurns turns = new SourceTurns(this::nowNs);
    private final List<Fetch> transfers = new ArrayList<>();
    private double now;

    /** The samples that arrived, in order, and when, seconds. */
    final List<Integer> arrived = new ArrayList<>();

    final List<Double> arrivedAt = new ArrayList<>();

    SimulatedStore(double bytesPerSecond, double streamBytesPerSecond, double latencySeconds) {
        this.bytesPerSecond = bytesPerSecond;
        this.streamBytesPerSecond = streamBytesPerSecond;
        this.latencySeconds = latencySeconds;
    }

    /** From now on the store gives so many bytes per second in all. */
    void bandwidth(double bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    private long nowNs() {
        return (long) (now * 1e9);
    }

    double now() {
        return now;
    }

    /** One sample on its way. */
    final class Fetch {
        final int sample;
        final SourceTurns.Turn turn;
        private final long bytes;
        private long at;
        private long piece;
        private double latencyLeft;
        private double left;
        private boolean hangs;

        Fetch(int sample, long bytes, FetchUrgency urgency) {
            this.sample = sample;
            this.bytes = bytes;
            turn = turns.enter(bytes, urgency, sample, this::granted);
            next();
        }

        private void next() {
            piece = Math.min(InFlightLimit.PIECE_BYTES, bytes - at);
            if (piece > 0) {
                turns.ask(turn, piece);
            } else {
                turns.leave(turn, true);
                arrived.add(sample);
                arrivedAt.add(now);
            }
        }

        private void granted() {
            latencyLeft = latencySeconds;
            left = piece;
            transfers.add(this);
        }

        /** Its pieces do not come any more. */
        void hang() {
            hangs = true;
        }

        /** Its piece comes after all, at the next step. */
        void goOn() {
            hangs = false;
            latencyLeft = 0;
            left = 0;
        }

        private void advance(double seconds, double rate) {
            if (latencyLeft > EPSILON) {
                latencyLeft -= seconds;
            } else {
                left -= rate * seconds;
            }
        }

        private boolean isThrough() {
            return !hangs && latencyLeft <= EPSILON && left <= 1e-3;
        }
    }

    /** Lets time pass until something has happened, at most so long. */
    void step(double mostSeconds) {
        List<Fetch> live = transfers.stream().filter(each -> !each.hangs).toList();
        long sharing = live.stream().filter(each -> each.latencyLeft <= EPSILON).count();
        double rate = Math.min(streamBytesPerSecond, bytesPerSecond / Math.max(1, sharing));
        double wait = Math.min(mostSeconds, turns.nextLookNs() / 1e9);
        for (Fetch each : live) {
            wait = Math.min(wait, each.latencyLeft > EPSILON ? each.latencyLeft : each.left / rate);
        }
        now += wait;
        for (Fetch each : live) {
            each.advance(Math.max(wait, EPSILON), rate);
        }
        for (Fetch each : live) {
            if (each.isThrough()) {
                transfers.remove(each);
                each.at += each.piece;
                each.next();
            }
        }
        turns.grant();
    }

    /** So many loaders fetch samples of one size, in order; returns how long that takes, seconds. */
    double fetchAll(int loaders, int samples, long bytes) {
        double start = now;
        int before = arrived.size();
        int next = 0;
        while (arrived.size() - before < samples) {
            while (next < samples && next - (arrived.size() - before) < loaders) {
                Fetch _ = new Fetch(next++, bytes, FetchUrgency.STAGING);
            }
            step(1);
        }
        return now - start;
    }
}
