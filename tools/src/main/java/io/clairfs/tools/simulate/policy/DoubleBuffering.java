package io.clairfs.tools.simulate.policy;

/** Prefetches from the source and drops after use: double buffering, PyTorch's loader, tf.data. */
final class DoubleBuffering extends SamplerOrder {
    DoubleBuffering(Setup setup) {
        super(setup);
    }

    @Override
    public int place(int node, int sample) {
        return costs.source();
    }
}
