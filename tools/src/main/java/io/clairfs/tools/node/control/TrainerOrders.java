package io.clairfs.tools.node.control;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import java.lang.ref.SoftReference;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The orders that trainers read from here. Each job has a sampler of its own for them, so that no reader delays staging or evicts an order that
 * staging uses.
 *
 * <p>All ranks of a node read an epoch at about the same time: the last order of each job is kept while the heap has room. Thread-safe;
 * readers of one job wait for each other while an order is computed.
 */
final class TrainerOrders {
    private final LongSupplier clockNs;

    /** A job that is replaced is another object; its orders go with it. */
    private final Map<JobRun, OfJob> byJob = new WeakHashMap<>();

    TrainerOrders(LongSupplier clockNs) {
        this.clockNs = clockNs;
    }

    /**
     * The samples that the trainer of {@code rank} takes in {@code epoch}, in order.
     *
     * @throws io.clairfs.cache.order.OrderNotReadyException when the order has still to be written
     */
    int[] samples(JobRun job, int epoch, int rank) throws InvalidSpecException {
        return of(job).samples(job, epoch, rank);
    }

    /** The same if the order was read last and is still there, else null. Does not wait for who reads another, whose file may not answer. */
    int @Nullable [] kept(JobRun job, int epoch, int rank) {
        EpochOrder order = of(job).kept(epoch);
        return order == null ? null : samples(order, rank);
    }

    /** The samples of one rank; an open file that held the order would hold the samples of all. */
    private static int[] samples(EpochOrder order, int rank) {
        int[] samples = new int[order.length(rank)];
        for (int step = 0; step < samples.length; step++) {
            samples[step] = order.sample(rank, step);
        }
        return samples;
    }

    /** The order that was read last, and its epoch. */
    private record Last(int epoch, SoftReference<EpochOrder> order) {}

    private synchronized OfJob of(JobRun job) {
        return byJob.computeIfAbsent(job, _ -> new OfJob(clockNs));
    }

    /** It keeps nothing of the job that leads to the job. */
    private static final class OfJob {
        private final LongSupplier clockNs;

        /** Made by the first who asks: it may look at a file, and readers of other jobs do not wait for that. */
        private @Nullable EpochOrders orders;

        private volatile @Nullable Last last;

        OfJob(LongSupplier clockNs) {
            this.clockNs = clockNs;
        }

        private EpochOrders orders(JobRun job) throws InvalidSpecException {
            EpochOrders made = orders;
            if (made == null) {
                made = new EpochOrders(
                        job.spec().samplerOfWholeEpochs(job.index()),
                        job.index().size(),
                        clockNs);
                orders = made;
            }
            return made;
        }

        synchronized int[] samples(JobRun job, int epoch, int rank) throws InvalidSpecException {
            EpochOrder order = kept(epoch);
            if (order == null) {
                order = orders(job).peek(epoch);
                last = new Last(epoch, new SoftReference<>(order));
            }
            return TrainerOrders.samples(order, rank);
        }

        /** Takes no lock: who holds it may be reading a file that does not answer. */
        @Nullable
        EpochOrder kept(int epoch) {
            Last now = last;
            return now == null || now.epoch != epoch ? null : now.order.get();
        }
    }
}
