package io.clairfs.tools.simulate.policy;

/**
 * DeepIO (Zhu et al. 2018) in its ordered mode: the memory of each node is filled with a share of the dataset; other samples are read from the
 * source when they are needed.
 */
final class DeepIoOrdered extends SamplerOrder {
    private final Shards shards;

    private DeepIoOrdered(Setup setup, Shards shards) {
        super(setup);
        this.shards = shards;
    }

    static DeepIoOrdered create(Setup setup) throws UnsupportedScenarioException {
        return new DeepIoOrdered(setup, Shards.inMemory(setup));
    }

    @Override
    public double prepare() {
        return shards.load();
    }

    @Override
    public int place(int node, int sample) {
        return shards.place(node, sample);
    }

    @Override
    public boolean waitsForSource() {
        return true;
    }
}
