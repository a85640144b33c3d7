package io.clairfs.cache.fetch;

import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides who makes a sample that a view shows: this node, or a peer with processors to spare (KSpeed, ICNP 2024, section III-C 2).
 *
 * <p>A peer is asked if it is not much later than this node would be, or if nobody waits for the sample meanwhile
 * ({@link FetchRequest#spareSeconds}): that leaves this node's processors to its trainers. A reader waits for no peer that is later. Both times are measured ({@link MakingTimes}). One of many samples is made here all the same,
 * so that the time here stays known, and one by a peer that seems too slow ({@link PlacesOnTrial}). A peer that does not answer in time, or has
 * enough to do, costs a bounded wait: then the sample is made here. Thread-safe without a lock of its own.
 */
final class Making {
    private static final Place HERE = new Place.Local(0);

    /** One of so many samples is made here though a peer would make it. */
    private static final int ONE_HERE_OF = 64;

    /** What a sample takes here counts so many times, for meanwhile trainers lack the processor. */
    private static final double HERE_WEIGHS = 2;

    /** A peer is given up after so many times what it, or this node, usually takes, and this time more. */
    private static final int LATE_TIMES = 4;

    private static final double LATE_SECONDS = 0.3;

    /** The usual time of a peer while nothing was measured, neither of it nor of this node. */
    private static final double UNKNOWN_SECONDS = 0.2;

    /** A peer that has enough to do is asked again after this time. */
    private static final long REST_NS = TimeUnit.MILLISECONDS.toNanos(50);

    /** How many samples one peer makes for this node at once, for each of its threads. */
    private static final int UNDER_WAY_PER_THREAD = 8;

    private static final double NANOS_PER_SECOND = 1e9;

    private final PeerFetch peers;
    private final Counters counters;
    private final LongSupplier clockNs;
    private final int threadsHere;
    private final MakingTimes times;
    private final PlacesOnTrial trials;
    private final AtomicInteger asked = new AtomicInteger();

    /**
     * Makes the decisions of one node.
     *
     * @param threadsHere samples that are made here at once
     * @param clockNs as {@link System#nanoTime}
     */
    Making(PeerFetch peers, Counters counters, int threadsHere, LongSupplier clockNs) {
        this.peers = peers;
        this.counters = counters;
        this.threadsHere = threadsHere;
        this.clockNs = clockNs;
        times = new MakingTimes(clockNs);
        trials = new PlacesOnTrial(clockNs);
    }

    /**
     * A peer that is to make the sample.
     *
     * @param patienceSeconds how long to wait for it
     * @param onTrial whether it seems too slow, and is asked to see whether it still is
     * @param mostSeconds what it should take at most
     */
    record Choice(PeerFetch.Maker maker, double patienceSeconds, boolean onTrial, double mostSeconds) {}

    /** A sample is made here: the caller says when it is, and closes. */
    MakingTimes.Work here(long sourceBytes) {
        return times.begin(HERE, threadsHere, sourceBytes);
    }

    /**
     * The sample as a peer has made it, with a reference for the caller; null when it is to be made here.
     *
     * @param sourceBytes of the file of which it is made
     * @param bytes of the sample
     */
    @Nullable
    SampleBuffer elsewhere(int file, long sourceBytes, long bytes, FetchRequest request) {
        Choice choice = choose(peers.makers(file), sourceBytes, request);
        return choice == null ? null : ask(choice, sourceBytes, bytes);
    }

    /** Who makes a sample of which the source has so many bytes; null for this node. A choice on trial has to be {@link #ask asked}. */
    @Nullable
    Choice choose(List<PeerFetch.Maker> makers, long sourceBytes, FetchRequest request) {
        PeerFetch.Maker best = null;
        double least = Double.POSITIVE_INFINITY;
        for (PeerFetch.Maker maker : makers) {
            double seconds = seconds(maker, sourceBytes);
            if (seconds < least) {
                best = maker;
                least = seconds;
            }
        }
        if (best == null || asked.getAndIncrement() % ONE_HERE_OF == 0) {
            return null;
        }
        double here = times.seconds(HERE, threadsHere, sourceBytes);
        boolean waits = request.urgency() == FetchUrgency.READER;
        double most = waits
                ? here
                : Math.max(HERE_WEIGHS * here, request.spareSeconds().getAsDouble());
        double usual = Math.max(least, here);
        double patience = LATE_SECONDS + LATE_TIMES * (usual > 0 ? usual : UNKNOWN_SECONDS);
        if (least <= most) {
            return new Choice(best, patience, false, most);
        }
        return !waits && trials.begin(best.place()) ? new Choice(best, patience, true, most) : null;
    }

    private double seconds(PeerFetch.Maker maker, long sourceBytes) {
        Place place = maker.place();
        int underWay = times.underWay(place);
        if (maker.threads() < 1 || times.isResting(place) || underWay >= UNDER_WAY_PER_THREAD * maker.threads()) {
            return Double.POSITIVE_INFINITY;
        }
        return times.isKnown(place)
                ? times.seconds(place, maker.threads(), sourceBytes)
                : times.secondsAs(HERE, maker.threads(), Math.max(maker.busy(), underWay), sourceBytes);
    }

    private @Nullable SampleBuffer ask(Choice choice, long sourceBytes, long bytes) {
        PeerFetch.Maker maker = choice.maker;
        Place place = maker.place();
        boolean quick = false;
        try (MakingTimes.Work work = times.begin(place, maker.threads(), sourceBytes)) {
            long withinNs = Math.min(peers.mostNs(bytes), (long) (NANOS_PER_SECOND * choice.patienceSeconds));
            long dueNs = clockNs.getAsLong() + withinNs;
            PeerFetch.Delivery delivery = maker.make(withinNs);
            if (delivery == null) {
                counters.makersFailed.increment();
                if (clockNs.getAsLong() - dueNs < 0) {
                    times.rest(place, REST_NS);
                } else {
                    double _ = work.took(); // at least so long
                }
                return null;
            }
            double seconds = work.took();
            quick = seconds <= choice.mostSeconds;
            counters.madeElsewhere.increment();
            counters.fromPeerTook.record((long) (NANOS_PER_SECOND * seconds));
            counters.fromPeer.add(bytes);
            return delivery.sample();
        } finally {
            if (choice.onTrial && trials.end(place, quick)) {
                times.forget(place);
            }
        }
    }
}
