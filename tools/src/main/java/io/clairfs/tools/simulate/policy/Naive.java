package io.clairfs.tools.simulate.policy;

/** Reads from the source when a sample is needed; no prefetching, no caching. */
final class Naive extends SamplerOrder {
    Naive(Setup setup) {
        super(setup);
    }

    @Override
    public int place(int node, int sample) {
        return costs.source();
    }

    @Override
    public boolean waitsForSource() {
        return true;
    }
}
