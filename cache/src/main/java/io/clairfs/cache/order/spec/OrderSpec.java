package io.clairfs.cache.order.spec;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.OrderDigest;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import java.util.Arrays;

/**
 * One order, described by a line of {@code key=value} pairs: the epoch and the rank, beside the keys of the sampler.
 *
 * <p>Keys: {@code samples} (how many the dataset has), {@code epoch} (default 0), {@code rank} (default 0), {@code world} (default 1),
 * {@code sampler}, and the sampler's own keys. {@code skip_batches} and {@code skip_samples} apply to this epoch.
 */
public final class OrderSpec {
    private final EpochOrder order;
    private final int rank;

    private OrderSpec(EpochOrder order, int rank) {
        this.order = order;
        this.rank = rank;
    }

    /**
     * Computes the order that {@code line} describes.
     *
     * @throws InvalidSpecException when the line is invalid, or the framework itself would refuse it
     */
    public static OrderSpec parse(String line) throws InvalidSpecException {
        return of(Keys.parse(line));
    }

    /** As {@link #parse}; refuses keys that neither this class, the sampler, nor the caller has read. */
    public static OrderSpec of(Keys keys) throws InvalidSpecException {
        if (!keys.has("samples")) {
            throw new InvalidSpecException("samples is missing: how many samples the dataset has");
        }
        int samples = keys.integer("samples", 0, 0, Integer.MAX_VALUE - 8);
        int epoch = keys.integer("epoch", 0, 0, Integer.MAX_VALUE);
        int world = keys.integer("world", 1, 1, Integer.MAX_VALUE);
        int rank = keys.integer("rank", 0, 0, Integer.MAX_VALUE);
        if (rank >= world) {
            throw new InvalidSpecException(
                    "rank=" + rank + " is out of range: world=" + world + " has ranks 0 to " + (world - 1));
        }
        Sampler sampler = Samplers.create(new SamplerSetting(samples, epoch, null), keys);
        keys.requireAllUsed();
        return new OrderSpec(sampler.epoch(epoch), rank);
    }

    /** How many samples the rank reads in the epoch. */
    public int length() {
        return order.length(rank);
    }

    /** The sample index that the rank reads at {@code step}, from 0 to {@code length() - 1}. */
    public int sample(int step) {
        return order.sample(rank, step);
    }

    /** All indices, in order; 4 bytes each beside the order itself. */
    public int[] indices() {
        int[] indices = new int[length()];
        Arrays.setAll(indices, this::sample);
        return indices;
    }

    /** The digest of all indices, without a copy of them. */
    public OrderDigest digest() {
        return OrderDigest.of(order, rank);
    }
}
