package io.clairfs.cache.fetch;

import java.util.concurrent.TimeUnit;

/**
 * How many bytes are requested from the source at once: as many as raise its throughput, no more.
 *
 * <p>It climbs the hill of throughput. From one piece on, the limit doubles as long as throughput grows by a good part of what twice the
 * requests can bring. A source with a high latency, or with slow single streams, takes many requests. One that is bound by its bandwidth
 * takes few; the sample that is needed first then comes first instead of together with all the others. Now and then the limit is tried at
 * half and at twice; it stays where less costs nothing, or more gains. A trial that gains nothing lengthens the pause before the next.
 *
 * <p>It measures throughput, not delay as TCP Vegas (Brakmo and Peterson, JSAC 13(8), 1995) does: delays of stores vary too much from
 * file to file. A limit that is too low costs an epoch its speed, one that is too high only the order of arrival. Only times in which the
 * limit is reached count: else the rate is that of the requests. Not thread-safe; its {@link SourceTurns} guards it.
 */
final class InFlightLimit {
    /** The bytes of one request to the source, and the lowest limit. */
    static final long PIECE_BYTES = 2 << 20;

    private static final long MOST_BYTES = 256 << 20;

    /** A limit that is tried at twice is kept, and climbs from there, if throughput grows by this factor over the mean of late, so often in a row. */
    private static final double GAIN = 1.1;

    private static final int GAINS = 2;

    /** How much the newest look weighs in that mean. */
    private static final double NEWEST_WEIGHS = 1.0 / 8;

    /**
     * While the limit climbs, a doubled one is kept, and doubled again, if throughput grows by this factor. Two looks at a source that is bound
     * by its bandwidth differ by up to 1.23, for eight pieces end in uneven waves, and each doubling that gains nothing makes the first samples
     * wait for eight pieces of others, then for sixteen.
     */
    private static final double CLIMBING_GAIN = 1.3;

    /** A halved limit is kept if this share of the throughput remains. */
    private static final double NO_LOSS = 0.97;

    private static final long SHORTEST_LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long SHORTEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
    /** The longest time between trials. */
    static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(30);

    /** The pause after a trial is at least so many times as long as the trial. */
    private static final int PAUSE_PER_TRIAL = 30;

    /** A look spans so many times the bytes in flight, for they come in waves. */
    private static final int LOOKS_AT = 4;

    private enum Phase {
        GROWING,
        HOLDING,
        TRYING_MORE,
        TRYING_LESS
    }

    private Phase phase = Phase.GROWING;
    private long limit = PIECE_BYTES;

    /** The limit to go back to, and the throughput there, bytes per nanosecond. */
    private long before = PIECE_BYTES;

    private double rateBefore;

    /** The mean throughput of late while the limit was held; 0 before the first look. A source whose rate varies would seem to gain by a trial that follows a slow moment. */
    private double mean;

    private int gains;
    private long pauseNs = SHORTEST_PAUSE_NS;
    private long tryAtNs;
    private boolean lessNext = true;

    /** Bytes of the former limit that still have to arrive before the look begins. */
    private long settling = PIECE_BYTES;

    private long lookFromNs;
    private long lastNs;
    private long arrived;
    private long arrivedHeld;

    long bytes() {
        return limit;
    }

    /**
     * Bytes arrived from the source.
     *
     * @param held whether as much was in flight up to now as the limit allows
     */
    void arrived(long bytes, long nowNs, boolean held) {
        // Requests that were made together are answered together: a look begins and ends behind all that came at one
        // moment.
        long ns = lastNs - lookFromNs;
        double rate = (double) arrived / Math.max(1, ns);
        if (nowNs > lastNs && ns >= SHORTEST_LOOK_NS && arrived >= LOOKS_AT * limit) {
            boolean limited = 2 * arrivedHeld >= arrived;
            lookFromNs = lastNs;
            arrived = 0;
            arrivedHeld = 0;
            if (limited) {
                judge(rate, ns, nowNs);
            }
        }
        lastNs = nowNs;
        if (settling > 0) {
            settling -= bytes;
            lookFromNs = nowNs;
            arrived = 0;
            arrivedHeld = 0;
        } else if (arrived > 0 || nowNs > lookFromNs) {
            arrived += bytes;
            arrivedHeld += held ? bytes : 0;
        }
    }

    private void judge(double rate, long lookNs, long nowNs) {
        switch (phase) {
            case GROWING -> {
                boolean gains = rate > CLIMBING_GAIN * rateBefore;
                if (gains && limit < MOST_BYTES) {
                    before = limit;
                    rateBefore = rate;
                    set(limit * 2);
                } else {
                    set(gains ? limit : before);
                    pauseNs = SHORTEST_PAUSE_NS;
                    hold(lookNs, nowNs);
                }
            }
            case HOLDING -> {
                rateBefore = rate;
                mean += mean == 0 ? rate : NEWEST_WEIGHS * (rate - mean);
                if (nowNs - tryAtNs >= 0) {
                    tryAnother();
                }
            }
            case TRYING_MORE -> {
                gains = rate > GAIN * Math.max(mean, rateBefore) ? gains + 1 : 0;
                if (gains == 0) {
                    goBack(lookNs, nowNs);
                } else if (gains == GAINS) {
                    before = limit;
                    rateBefore = rate;
                    mean = 0;
                    phase = Phase.GROWING;
                    set(Math.min(MOST_BYTES, limit * 2));
                }
            }
            case TRYING_LESS -> {
                if (rate < NO_LOSS * rateBefore) {
                    goBack(lookNs, nowNs);
                } else if (limit
                        > PIECE_BYTES) { // further down, against the same throughput: small losses do not add up
                    before = limit;
                    set(limit / 2);
                } else {
                    hold(lookNs, nowNs);
                }
            }
        }
    }

    private void tryAnother() {
        before = limit;
        boolean less = lessNext && limit > PIECE_BYTES;
        if (!less && limit >= MOST_BYTES) {
            lessNext = true;
            return;
        }
        lessNext = !less;
        gains = 0;
        phase = less ? Phase.TRYING_LESS : Phase.TRYING_MORE;
        set(less ? limit / 2 : limit * 2);
    }

    private void goBack(long lookNs, long nowNs) {
        set(before);
        pauseNs = Math.min(LONGEST_PAUSE_NS, 2 * pauseNs);
        hold(lookNs, nowNs);
    }

    private void hold(long lookNs, long nowNs) {
        if (limit < before) {
            mean = 0; // it is what more at once gave
        }
        phase = Phase.HOLDING;
        tryAtNs = nowNs + Math.max(pauseNs, PAUSE_PER_TRIAL * lookNs);
    }

    private void set(long bytes) {
        settling = Math.max(limit, bytes);
        limit = bytes;
    }
}
