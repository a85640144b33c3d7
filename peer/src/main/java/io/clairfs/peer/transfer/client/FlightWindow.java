package io.clairfs.peer.transfer.client;

import io.clairfs.peer.transfer.TransferLimits;
import java.util.concurrent.TimeUnit;

/**
 * How many bytes one peer may owe at a time: twice what its bandwidth delivers within its delay.
 *
 * <p>KSpeed (ICNP'24, section III-D) paces batched requests at the requesting side, by the measured delay of transfers, so
 * that answers do not congest the path to it. Here both factors are measured all the time, as in BBR: bandwidth is the highest
 * rate of delivery between a request and the end of its answer, delay the least time to an answer's first byte. A measurement
 * while the window was not the limit counts only if it raises the estimate. A full window delays every answer, so the line
 * runs empty every few seconds, and the delay is measured on one request alone.
 *
 * <p>Used on one event loop; times are nanoseconds of one clock.
 */
final class FlightWindow {
    private static final int GAIN = 2;

    /**
     * Added to the delay. On a fast path the delay is shorter than two busy event loops need to get their turns, and a window that
     * they empty in one turn makes them wake each other for every sample.
     */
    static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long BANDWIDTH_HELD_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long DELAY_HELD_NS = TimeUnit.SECONDS.toNanos(5);

    private final long leastBytes;
    private final long startBytes;
    private final long mostBytes;

    private long delivered;
    private long deliveredAtNs;
    private double bandwidth; // bytes per nanosecond, now and in the period before
    private double bandwidthBefore;
    private long bandwidthSinceNs;
    private long delayNs = Long.MAX_VALUE;
    private long delayBeforeNs = Long.MAX_VALUE;
    private long delaySinceNs;
    private boolean looking;

    FlightWindow(TransferLimits limits, long nowNs) {
        leastBytes = limits.windows().leastBytes();
        startBytes = limits.windows().startBytes();
        mostBytes = limits.windows().mostBytes();
        deliveredAtNs = nowNs;
        bandwidthSinceNs = nowNs;
        delaySinceNs = nowNs;
    }

    /**
     * The state when a request goes out.
     *
     * @param limited whether the window held back others behind it
     * @param alone whether nothing else was in flight
     */
    record Sent(long sentNs, long delivered, long deliveredAtNs, boolean limited, boolean alone) {}

    Sent sent(long inFlightBytes, boolean limited, long nowNs) {
        boolean alone = inFlightBytes == 0;
        if (alone) {
            deliveredAtNs = nowNs;
        }
        return new Sent(nowNs, delivered, deliveredAtNs, limited && !alone, alone);
    }

    /** Measures an answer whose first byte is here. */
    void answered(Sent sent, long nowNs) {
        long delay = Math.max(1, nowNs - sent.sentNs());
        if (nowNs - delaySinceNs > DELAY_HELD_NS) {
            delayBeforeNs = delayNs;
            delayNs = delay;
            delaySinceNs = nowNs;
            looking = !sent.alone();
        } else {
            delayNs = Math.min(delayNs, delay);
            looking &= !sent.alone();
        }
    }

    /** Measures an answer whose {@code bytes} are all here. */
    void delivered(Sent sent, long bytes, long nowNs) {
        delivered += bytes;
        deliveredAtNs = nowNs;
        double rate = (double) (delivered - sent.delivered()) / Math.max(1, nowNs - sent.deliveredAtNs());
        if (sent.limited() && nowNs - bandwidthSinceNs > BANDWIDTH_HELD_NS) {
            bandwidthBefore = bandwidth;
            bandwidth = rate;
            bandwidthSinceNs = nowNs;
        } else {
            bandwidth = Math.max(bandwidth, rate);
        }
    }

    /** How many bytes may be in flight; one sample always may be. 0 while the line runs empty. */
    long bytes() {
        if (delivered == 0 || delayNs() == 0) {
            return startBytes;
        }
        if (looking) {
            return 0;
        }
        double product = GAIN * Math.max(bandwidth, bandwidthBefore) * (delayNs() + TURN_NS);
        return Math.clamp((long) product, leastBytes, mostBytes);
    }

    long delayNs() {
        long least = Math.min(delayNs, delayBeforeNs);
        return least == Long.MAX_VALUE ? 0 : least;
    }

    long bytesPerSecond() {
        return (long) (Math.max(bandwidth, bandwidthBefore) * 1e9);
    }
}
