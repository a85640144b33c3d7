package io.clairfs.cache.order;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The orders of a sampler, computed when they are asked for and shared by all ranks of this node; a few epochs are kept, which
 * bounds memory to a few orders whatever the number of epochs.
 *
 * <p>Three are in use as a rule: the one that the trainer is in, and those in which the ranks are staged, one on either side of a
 * boundary. Where ranks are staged many epochs ahead, as of small datasets and in large worlds, more are kept. While one is computed, those that are kept
 * can be had without a wait. Thread-safe.
 */
public final class EpochOrders {
    private static final int KEPT = 3;

    /** So many are kept where they are small, */
    private static final int MOST_KEPT = 64;

    /** and together have no more samples than this. */
    private static final int MOST_KEPT_SAMPLES = 1 << 20;

    /** The epochs in use where each rank reads few samples of each, so that its window reaches over several, */
    private static final int KEPT_OF_SHORT_EPOCHS = 6;

    /** as long as together they have no more samples than this. */
    private static final int MOST_SAMPLES_OF_SHORT_EPOCHS = 1 << 23;

    /** How soon an epoch that was not ready is looked for again. */
    static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final int MOST_AWAITED = 1024;

    private final Sampler sampler;
    private final LongSupplier clockNs;
    private final int most;

    /** Held by who asks the sampler, which is for one thread at a time. */
    private final Object computing = new Object();

    /** Guarded by {@link #computing}. */
    private final Map<Integer, NotReady> awaited = new LinkedHashMap<>();

    private final Map<Integer, EpochOrder> recent = new LinkedHashMap<>(8, 0.75f, true);

    /**
     * The orders of {@code sampler}.
     *
     * @param samples in the dataset
     * @param clockNs a clock that only runs forward, nanoseconds
     */
    public EpochOrders(Sampler sampler, int samples, LongSupplier clockNs) {
        this.sampler = sampler;
        this.clockNs = clockNs;
        int some = Math.max(1, samples);
        most = Math.max(
                Math.clamp(MOST_KEPT_SAMPLES / some, KEPT, MOST_KEPT),
                Math.min(MOST_SAMPLES_OF_SHORT_EPOCHS / some, KEPT_OF_SHORT_EPOCHS));
    }

    /** What was said of an epoch the last time. */
    private record NotReady(OrderNotReadyException said, long atNs) {}

    /**
     * The order of {@code epoch}; blocks while it is computed.
     *
     * @throws OrderNotReadyException when it cannot be computed yet; the sampler is asked again twice a second at most
     */
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        EpochOrder kept = kept(epoch);
        if (kept != null) {
            return kept;
        }
        synchronized (computing) {
            EpochOrder order = kept(epoch);
            if (order == null) {
                order = compute(epoch);
                keep(epoch, order);
            }
            return order;
        }
    }

    /** The order of {@code epoch} for one look: not kept, so that a look at many epochs pushes out none in use. */
    public EpochOrder peek(int epoch) throws InvalidSpecException {
        EpochOrder kept = kept(epoch);
        if (kept != null) {
            return kept;
        }
        synchronized (computing) {
            EpochOrder order = kept(epoch);
            return order != null ? order : compute(epoch);
        }
    }

    /** What was only to be looked at is in use from now on. */
    public synchronized void keep(int epoch, EpochOrder order) {
        recent.put(epoch, order);
        if (recent.size() > most) {
            recent.remove(recent.keySet().iterator().next());
        }
    }

    /** Whether the order of {@code epoch} can be computed, as far as can be told without doing so. */
    public boolean isReady(int epoch) {
        if (kept(epoch) != null) {
            return true;
        }
        synchronized (computing) {
            return sampler.isReady(epoch);
        }
    }

    private synchronized @Nullable EpochOrder kept(int epoch) {
        return recent.get(epoch);
    }

    private EpochOrder compute(int epoch) throws InvalidSpecException {
        NotReady last = awaited.get(epoch);
        if (last != null && clockNs.getAsLong() - last.atNs < RETRY_NS) {
            throw last.said;
        }
        try {
            EpochOrder order = sampler.epoch(epoch);
            awaited.remove(epoch);
            return order;
        } catch (OrderNotReadyException e) {
            if (awaited.size() >= MOST_AWAITED) {
                awaited.clear();
            }
            awaited.put(epoch, new NotReady(e, clockNs.getAsLong()));
            throw e;
        }
    }
}
