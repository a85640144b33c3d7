package io.clairfs.cache.order.locality;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import java.util.function.IntUnaryOperator;

/**
 * The order of a base sampler, with the samples of every global batch dealt to the nodes that own them (Yang and Cong, HiPC 2019, section V).
 *
 * <p>Every step trains on the samples of the base order, and every rank on as many, so the gradients are the same but for the order of
 * additions (theorem 1, section V-B). Only which rank reads which sample changes. A run on one node keeps the base order.
 *
 * <p>Keys, beside those of the base: {@code batch} (samples per rank and step; required), {@code per_node} (ranks of a node, default 1: node n
 * has ranks {@code [n per_node, (n + 1) per_node)}), {@code cached} (the share of the dataset that the nodes own, above 0 to 1, default 1;
 * alpha in the paper). Orders take 4 bytes for each sample of the epoch.
 */
public final class LocalityAwareSampler implements Sampler {
    private static final int MOST_RANKS = 1 << 20;

    private final Sampler base;
    private final IntUnaryOperator owners;
    private final int nodes;
    private final int perNode;
    private final int batch;

    /**
     * Deals {@code base} by any owners.
     *
     * @param owners the node that owns a sample, or {@link Owners#NONE}
     * @param perNode ranks of each node; {@code base} has {@code nodes * perNode} ranks
     * @param batch samples per rank and step
     */
    public LocalityAwareSampler(Sampler base, IntUnaryOperator owners, int nodes, int perNode, int batch) {
        if (nodes < 1 || perNode < 1 || batch < 1 || (long) nodes * perNode > MOST_RANKS) {
            throw new IllegalArgumentException(
                    nodes + " nodes of " + perNode + " ranks, " + batch + " samples in a batch");
        }
        this.base = base;
        this.owners = owners;
        this.nodes = nodes;
        this.perNode = perNode;
        this.batch = batch;
    }

    /**
     * The sampler that a line describes.
     *
     * @param base made from the same line
     * @param batch samples that a rank of the base reads in a step
     * @throws InvalidSpecException when nodes cannot have {@code per_node} ranks each, or a value is out of range
     */
    public static LocalityAwareSampler create(SamplerSetting setting, Keys keys, Sampler base, int batch)
            throws InvalidSpecException {
        int world = keys.integer("world", 1, 1, MOST_RANKS);
        int perNode = keys.integer("per_node", 1, 1, MOST_RANKS);
        if (world % perNode != 0) {
            throw new InvalidSpecException("per_node=" + perNode + " does not divide world=" + world
                    + ": give the number of ranks that every node has");
        }
        double cached = keys.decimal("cached", 1);
        if (cached <= 0 || cached > 1) {
            throw new InvalidSpecException("cached=" + keys.text("cached", "1")
                    + " is out of range: it is the share of the dataset that the nodes own, above 0 and at most 1");
        }
        int nodes = world / perNode;
        return new LocalityAwareSampler(base, new Owners(setting.samples(), nodes, cached), nodes, perNode, batch);
    }

    @Override
    public void requirePossible(int epoch) throws InvalidSpecException {
        base.requirePossible(epoch);
    }

    @Override
    public boolean isReady(int epoch) {
        return base.isReady(epoch);
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        EpochOrder order = base.epoch(epoch);
        return nodes == 1 ? order : new Dealer(order, owners, nodes, perNode, batch).deal();
    }
}
