package io.clairfs.cache.order;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The orders of a sampler, computed on demand and shared by all ranks of this node. A few epochs are kept, which bounds memory to a few
 * orders whatever the number of epochs.
 *
 * <p>As a rule three are in use: the trainer's epoch, and those in which the ranks are staged, one on either side of a boundary. Where
 * ranks are staged many epochs ahead, with small datasets and in large worlds, more are kept. Kept orders are available without a wait
 * while another is computed.
 *
 * <p>An order takes a moment to compute, and one in a file as long as the file system takes to answer. Whoever holds a lock that others need
 * asks by {@link #now}, which does not wait once {@link #computeAside} has named who computes instead. Thread-safe.
 */
public final class EpochOrders {
    private static final int KEPT = 3;

    /** Most orders kept where they are small. */
    private static final int MOST_KEPT = 64;

    /** Most indices of these orders together. */
    private static final int MOST_KEPT_INDICES = 1 << 20;

    /** Orders kept where each rank reads few samples per epoch, so that its window covers several epochs. */
    private static final int KEPT_OF_SHORT_EPOCHS = 6;

    /** Most indices of the orders of short epochs together. */
    private static final int MOST_INDICES_OF_SHORT_EPOCHS = 1 << 23;

    /** The pause before an epoch that was not ready is computed again. */
    static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final int MOST_REFUSED = 1024;

    private static final int NONE = -1;

    private final Sampler sampler;
    private final LongSupplier clockNs;
    private final int samples;

    /** Held during calls to the sampler, which takes one thread at a time. */
    private final Object computing = new Object();

    private volatile @Nullable Aside aside;

    /** Guarded by this, as all that follows. */
    private final Map<Integer, Refusal> refused = new LinkedHashMap<>();

    private final Map<Integer, Kept> recent = new LinkedHashMap<>(8, 0.75f, true);

    /** Indices of the orders that are kept. */
    private long keptIndices;

    /** The epoch whose order is computed aside, or {@link #NONE}, and since when. */
    private int underWay = NONE;

    private long underWaySinceNs;

    /** Whether another order was asked for meanwhile. */
    private boolean turnedAway;

    private boolean abandoned;

    /**
     * The orders of {@code sampler}.
     *
     * @param samples in the dataset
     * @param clockNs a monotonic clock, nanoseconds
     */
    public EpochOrders(Sampler sampler, int samples, LongSupplier clockNs) {
        this.sampler = sampler;
        this.clockNs = clockNs;
        this.samples = Math.max(1, samples);
    }

    private record Kept(EpochOrder order, long indices) {}

    /**
     * Why an epoch had no order when it was computed last.
     *
     * @param untold whether it is for good, and nobody who asks by {@link #now} has been told
     */
    private record Refusal(Throwable why, long atNs, boolean untold) {}

    /** Who computes what {@link #now} asks for, and who hears of it. */
    private record Aside(Executor executor, Runnable news) {}

    /**
     * From now on {@link #now} waits for nothing: {@code executor} computes what it asks for, one order at a time.
     *
     * @param news told by the executor's thread when an order is there, or has turned out to be invalid
     */
    public void computeAside(Executor executor, Runnable news) {
        aside = new Aside(executor, news);
    }

    /** Nothing more is computed aside, and nobody hears of what still is. */
    public synchronized void abandon() {
        abandoned = true;
    }

    /**
     * The order of {@code epoch} if it is kept; else it is computed aside, and given to a later call. As {@link #epoch} until {@link #computeAside}.
     *
     * @throws OrderNotReadyException when it is not there yet, or cannot be computed yet; it is tried again twice a second at most
     */
    public EpochOrder now(int epoch) throws InvalidSpecException {
        Aside by = aside;
        if (by == null) {
            return epoch(epoch);
        }
        EpochOrder order = kept(epoch);
        if (order == null && isToBegin(epoch)) {
            begin(epoch, by);
            order = kept(epoch);
        }
        if (order == null) {
            throw whyNot(epoch);
        }
        return order;
    }

    private synchronized boolean isToBegin(int epoch) {
        Refusal last = refused.get(epoch);
        if (underWay != NONE && underWay != epoch) {
            turnedAway = true;
        }
        if (abandoned || underWay != NONE || (last != null && (last.untold || isRecent(last.atNs)))) {
            return false;
        }
        underWay = epoch;
        underWaySinceNs = clockNs.getAsLong();
        return true;
    }

    private void begin(int epoch, Aside by) {
        try {
            by.executor.execute(() -> computeFor(epoch, by.news));
        } catch (OutOfMemoryError noThread) {
            refuse(
                    epoch,
                    new OrderNotReadyException("no thread could be started for the order of epoch " + epoch),
                    false);
            boolean _ = end(false);
        }
    }

    private void computeFor(int epoch, Runnable news) {
        boolean isNews = true;
        try {
            EpochOrder _ = epoch(epoch);
        } catch (OrderNotReadyException e) {
            isNews = false; // whoever needs it asks again
        } catch (InvalidSpecException | RuntimeException | Error e) {
            refuse(epoch, e, true); // whoever asks next is told, however late
        }
        if (end(isNews)) {
            news.run();
        }
    }

    /** Nothing is computed aside any more. Returns whether to tell of it: there is news, or another order can be computed now. */
    private synchronized boolean end(boolean isNews) {
        boolean tells = !abandoned && (isNews || turnedAway);
        underWay = NONE;
        turnedAway = false;
        return tells;
    }

    /** Why the order of an epoch is not there. What was said last is still true for a moment while it is tried again. */
    private synchronized InvalidSpecException whyNot(int epoch) {
        Refusal last = refused.get(epoch);
        if (last != null && (last.untold || isRecent(last.atNs))) {
            refused.put(epoch, new Refusal(last.why, last.atNs, false));
            if (last.why instanceof InvalidSpecException e) {
                return e;
            }
            throw new IllegalStateException(
                    "the order of epoch " + epoch + " could not be computed: " + last.why, last.why);
        }
        boolean isSlow = underWay != NONE && !isRecent(underWaySinceNs);
        return last != null && last.why instanceof OrderNotReadyException e && !isSlow
                ? e
                : new OrderNotReadyException(
                        "the order of epoch " + epoch + " is still being computed, or read from its file");
    }

    private boolean isRecent(long atNs) {
        return clockNs.getAsLong() - atNs < RETRY_NS;
    }

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
        Kept kept = new Kept(order, Math.max(samples, order.size())); // ranks of a large world read few of its indices
        forget(recent.put(epoch, kept));
        keptIndices += kept.indices;
        while (isTooMuch(recent.size())) {
            forget(recent.remove(recent.keySet().iterator().next()));
        }
    }

    private void forget(@Nullable Kept order) {
        keptIndices -= order == null ? 0 : order.indices;
    }

    private boolean isTooMuch(int orders) {
        boolean areSmall = orders <= MOST_KEPT && keptIndices <= MOST_KEPT_INDICES;
        boolean areShort = orders <= KEPT_OF_SHORT_EPOCHS && keptIndices <= MOST_INDICES_OF_SHORT_EPOCHS;
        return orders > KEPT && !areSmall && !areShort;
    }

    /** Whether the order of {@code epoch} can be computed, as far as can be told without doing so; blocks while another one is. */
    public boolean isReady(int epoch) {
        if (kept(epoch) != null) {
            return true;
        }
        synchronized (computing) {
            return sampler.isReady(epoch);
        }
    }

    /** The order of {@code epoch} if it is kept, else null; waits for nothing. */
    public synchronized @Nullable EpochOrder kept(int epoch) {
        Kept kept = recent.get(epoch);
        return kept == null ? null : kept.order;
    }

    private EpochOrder compute(int epoch) throws InvalidSpecException {
        requireNotAwaited(epoch);
        EpochOrder order;
        try {
            order = sampler.epoch(epoch);
        } catch (InvalidSpecException | RuntimeException | Error e) {
            if (!(e instanceof OrderNotReadyException late)
                    || !late.isUnanswered()) { // that was the patience of who asked
                refuse(epoch, e, false);
            }
            throw e;
        }
        synchronized (this) {
            refused.remove(epoch);
        }
        return order;
    }

    private synchronized void requireNotAwaited(int epoch) throws OrderNotReadyException {
        Refusal last = refused.get(epoch);
        if (last != null && last.why instanceof OrderNotReadyException e && isRecent(last.atNs)) {
            throw e;
        }
    }

    private synchronized void refuse(int epoch, Throwable why, boolean untold) {
        if (refused.size() >= MOST_REFUSED) {
            refused.clear();
        }
        refused.put(epoch, new Refusal(why, clockNs.getAsLong(), untold));
    }
}
