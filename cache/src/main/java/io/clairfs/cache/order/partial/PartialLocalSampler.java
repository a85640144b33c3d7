package io.clairfs.cache.order.partial;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * Partial local shuffling (Nguyen et al., IPDPS 2022): each node reads its own part of the dataset, newly shuffled in each epoch, and between
 * epochs the nodes exchange a fraction of their parts ({@link GlobalExchange}). Ranks of one node share its part, dealt in turn; ranks that
 * get fewer samples than others repeat their first ones.
 *
 * <p>An epoch follows from the one before: its order is all of the state. The orders of two epochs are kept, those that were last asked for,
 * and an epoch is computed from the nearest kept one before it, or from epoch 0.
 */
public final class PartialLocalSampler implements Sampler {
    /** Samples that are moved to reach an epoch, minutes of work; more is refused. */
    private static final long MOST_WORK = 100_000_000_000L;
    /** How many samples the generators of one node cost. */
    private static final int WORK_OF_NODE = 200;

    private final int samples;
    private final int world;
    private final int ranksOfNode;
    private final GlobalExchange exchange;
    private final long work;
    private @Nullable Kept latest;
    private @Nullable Kept earlier;

    /** The parts of all nodes in one epoch; not changed any more. */
    private record Kept(int epoch, int[] parts) {}

    public PartialLocalSampler(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        samples = setting.samples();
        BigInteger seed = keys.integer("seed", BigInteger.ZERO);
        if (seed.signum() < 0) {
            throw new InvalidSpecException("seed=" + Keys.shorten(seed.toString()) + " is negative; use 0 or more");
        }
        world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
        ranksOfNode = keys.integer("per_node", 1, 1, Integer.MAX_VALUE);
        double fraction = keys.decimal("exchange", 0);
        if (fraction > 1) {
            throw new InvalidSpecException("exchange=" + keys.text("exchange", "0")
                    + " is out of range: it is the share of each part that is exchanged, from 0 to 1");
        }
        if (world % ranksOfNode != 0) {
            throw new InvalidSpecException(
                    "per_node=" + ranksOfNode + " does not divide world=" + world + ": all nodes have as many ranks");
        }
        if (samples > 0 && samples < world) {
            throw new InvalidSpecException(
                    samples + " samples are too few for world=" + world + ": each rank keeps one of its own at least");
        }
        int nodes = samples == 0 ? 1 : world / ranksOfNode;
        exchange = new GlobalExchange(seed, samples, nodes, fraction);
        work = samples + (long) WORK_OF_NODE * nodes;
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        if (latest == null || latest.epoch != epoch) {
            Kept next = earlier != null && earlier.epoch == epoch ? earlier : compute(epoch);
            earlier = latest;
            latest = next;
        }
        return new Dealt(latest.parts);
    }

    private Kept compute(int epoch) throws InvalidSpecException {
        Kept from = nearest(epoch);
        int at = from == null ? 0 : from.epoch;
        if ((double) (epoch - at) * work > MOST_WORK) {
            throw new InvalidSpecException("epoch " + epoch + " of " + samples
                    + " samples follows from too long a history; begin at an earlier epoch, with another seed");
        }
        int[] parts = from == null ? exchange.first() : from.parts.clone();
        while (at < epoch) {
            at++;
            exchange.next(parts, at);
        }
        return new Kept(epoch, parts);
    }

    /** The later of the kept epochs before this one. */
    private @Nullable Kept nearest(int epoch) {
        Kept nearest = null;
        for (Kept each : new Kept[] {latest, earlier}) {
            if (each != null && each.epoch < epoch && (nearest == null || each.epoch > nearest.epoch)) {
                nearest = each;
            }
        }
        return nearest;
    }

    private final class Dealt implements EpochOrder {
        private final int[] parts;

        Dealt(int[] parts) {
            this.parts = parts;
        }

        @Override
        public int length(int rank) {
            return Math.ceilDiv(samples, world);
        }

        @Override
        public int sample(int rank, int step) {
            int node = rank / ranksOfNode;
            int first = rank % ranksOfNode;
            int own = Math.ceilDiv(exchange.length(node) - first, ranksOfNode);
            int place = step < own ? step : step % own;
            return parts[exchange.begin(node) + first + place * ranksOfNode];
        }
    }
}
