package io.clairfs.cache.order;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The orders of a sampler, computed on demand and shared by all ranks of this node. A few epochs are kept, which bounds memory to a few
 * orders whatever the number of epochs.
 *
 * <p>As a rule three are in use: the trainer's epoch, and those in which the ranks are staged, one on either side of a boundary. Where
 * ranks are staged many epochs ahead, with small datasets and in large worlds, more are kept. Kept orders are available without a wait
 * while another is computed. Thread-safe.
 */
public final class EpochOrders {
    private static final int KEPT = 3;

    /** Most orders kept where they are small. */
    private static final int MOST_KEPT = 64;

    /** Most samples of these orders together. */
    private static final int MOST_KEPT_SAMPLES = 1 << 20;

    /** Orders kept where each rank reads few samples per epoch, so that its window covers several epochs. */
    private static final int KEPT_OF_SHORT_EPOCHS = 6;

    /** Most samples of the orders of short epochs together. */
    private static final int MOST_SAMPLES_OF_SHORT_EPOCHS = 1 << 23;

    /** The pause before an epoch that was not ready is computed again. */
    static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final int MOST_AWAITED = 1024;

    private final Sampler sampler;
    private final LongSupplier clockNs;
    private final int most;

    /** Held during calls to the sampler, which takes one thread at a time. */
    private final Object computing = new Object();

    /** Guarded by {@link #computing}. */
    private final Map<Integer, NotReady> awaited = new LinkedHashMap<>();

    private final Map<Integer, EpochOrder> recent = new LinkedHashMap<>(8, 0.75f, true);

    /**
     * The orders of {@code sampler}.
     *
     * @param samples in the dataset
     * @param clockNs a monotonic clock, nanoseconds
     */
    public EpochOrders(Sampler sampler, int samples, LongSupplier clockNs) {
        this.sampler = sampler;
        this.clockNs = clockNs;
        int some = Math.max(1, samples);
        most = Math.max(
                Math.clamp(MOST_KEPT_SAMPLES / some, KEPT, MOST_KEPT),
                Math.min(MOST_SAMPLES_OF_SHORT_EPOCHS / some, KEPT_OF_SHORT_EPOCHS));
    }

    /** The last answer for an epoch that was not ready. */
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

    /** The order of {@code epoch}, not kept, so that a look at many epochs evicts none in use. */
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

    /** Keeps an order of {@link #peek} that is in use from now on. */
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
