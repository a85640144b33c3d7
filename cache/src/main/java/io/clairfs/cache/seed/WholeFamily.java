package io.clairfs.cache.seed;

import java.util.List;

/**
 * A family whose first elements need all draws, or that has no seed: each candidate costs a whole order.
 *
 * @param keys the sampler and its other keys
 * @param seeded whether a seed is added to them
 * @param dealing how the order is dealt to ranks
 */
record WholeFamily(String keys, boolean seeded, Dealing dealing) implements OrderFamily {
    /** Orders without a seed. */
    static final List<WholeFamily> SEEDLESS = List.of(
            new WholeFamily("sampler=sequential", false, Dealing.TO_ONE),
            new WholeFamily(TORCH_DISTRIBUTED + " shuffle=false", false, Dealing.BY_SAMPLE_OR_BATCH),
            new WholeFamily("sampler=dali", false, Dealing.TO_ONE),
            new WholeFamily("sampler=dali shuffle_after_epoch=true", false, Dealing.TO_ONE));

    /** Orders that need all draws. */
    static final List<WholeFamily> SEEDED = List.of(
            new WholeFamily("sampler=numpy-legacy", true, Dealing.TO_ONE),
            new WholeFamily(
                    "sampler=numpy-generator", true, Dealing.TO_ONE), // and hf-datasets, the same in its first epoch
            new WholeFamily("sampler=python-random", true, Dealing.TO_ONE),
            new WholeFamily("sampler=python-random method=sample", true, Dealing.TO_ONE),
            new WholeFamily("sampler=torchdata-stateful", true, Dealing.TO_ONE),
            new WholeFamily("sampler=torchdata-stateful workers=1", true, Dealing.TO_ONE),
            new WholeFamily("sampler=torchdata-stateful seeded=generator workers=1", true, Dealing.TO_ONE));

    @Override
    public String whole(long seed) {
        return seeded ? keys + " seed=" + seed : keys;
    }
}
