package io.clairfs.tools.simulate.scenario;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.spec.Samplers;
import io.clairfs.cache.plan.request.Need;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;

/**
 * The reads: the sizes of the samples, and the order in which each rank reads them. The order is torch's {@code DistributedSampler}'s or,
 * if the scenario says so, that order dealt by locality; one rank per node, cut to whole batches if the last one is dropped.
 */
public final class Workload {
    private static final double MEGA = 1e6;

    private final Scenario scenario;
    private final int[] sizes;
    private final Sampler sampler;
    private final int reads;
    private final long bytes;

    public Workload(Scenario scenario) throws InvalidScenarioException {
        this.scenario = scenario;
        Scenario.Dataset dataset = scenario.dataset();
        sizes = new int[dataset.samples()];
        Random random = new Random(scenario.seed());
        long sum = 0;
        for (int sample = 0; sample < sizes.length; sample++) {
            double size =
                    dataset.stddev() == 0 ? dataset.mean() : dataset.mean() + dataset.stddev() * random.nextGaussian();
            sizes[sample] = (int) Math.round(Math.max(0, size) * MEGA);
            sum += sizes[sample];
        }
        bytes = sum;
        try {
            sampler = newSampler();
            sampler.requirePossible(scenario.epochs() - 1);
        } catch (InvalidSpecException e) {
            throw new InvalidScenarioException(scenario.name() + ": " + e.getMessage());
        }
        int nodes = scenario.nodes();
        int length = scenario.dropLast() ? sizes.length / nodes : Math.ceilDiv(sizes.length, nodes);
        reads = scenario.dropLast() ? length - length % scenario.batch() : length;
    }

    public int[] sizes() {
        return sizes;
    }

    /** S, in bytes. */
    public long bytes() {
        return bytes;
    }

    /** The number of samples that each node reads in an epoch. */
    public int reads() {
        return reads;
    }

    public int iterations() {
        return Math.ceilDiv(reads, scenario.batch());
    }

    /** The bytes of a batch of samples of mean size. */
    public double meanBatchBytes() {
        return (double) bytes / sizes.length * scenario.batch();
    }

    /** Makes a sampler for one thread. */
    private Sampler newSampler() throws InvalidSpecException {
        return Samplers.create(
                sizes.length,
                Keys.parse("sampler=" + Objects.requireNonNullElse(scenario.sampler(), Samplers.DEFAULT) + " seed="
                        + scenario.seed() + " world=" + scenario.nodes() + " batch=" + scenario.batch()
                        + " drop_last=" + scenario.dropLast()));
    }

    /** The order of an epoch. Only one thread may call this at a time. */
    public EpochOrder order(int epoch) throws InvalidSpecException {
        return cut(sampler.epoch(epoch));
    }

    private EpochOrder cut(EpochOrder whole) {
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return reads;
            }

            @Override
            public int sample(int rank, int step) {
                return whole.sample(rank, step);
            }
        };
    }

    /** The orders of all epochs, one after the other, for one run. */
    public OrdersAhead ordersAhead() throws InvalidSpecException {
        Sampler own = newSampler();
        return new OrdersAhead(epoch -> cut(own.epoch(epoch)), scenario.nodes(), scenario.epochs());
    }

    /** The reads, for the planner. */
    public Need need() {
        int[] nodeOfRank = new int[scenario.nodes()];
        Arrays.setAll(nodeOfRank, rank -> rank);
        return new Need(this::order, 0, scenario.epochs(), nodeOfRank);
    }
}
