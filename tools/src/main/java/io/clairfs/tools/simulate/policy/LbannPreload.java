package io.clairfs.tools.simulate.policy;

/** The data store of LBANN (Jacobs et al. 2019), filled before the first epoch. */
final class LbannPreload extends SamplerOrder {
    private final Shards shards;

    private LbannPreload(Setup setup, Shards shards) {
        super(setup);
        this.shards = shards;
    }

    static LbannPreload create(Setup setup) throws UnsupportedScenarioException {
        var _ = LbannDynamic.requireMemory(setup);
        return new LbannPreload(setup, Shards.inMemory(setup));
    }

    @Override
    public double prepare() {
        return shards.load();
    }

    @Override
    public int place(int node, int sample) {
        return shards.place(node, sample);
    }
}
