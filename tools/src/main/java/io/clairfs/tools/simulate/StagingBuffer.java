package io.clairfs.tools.simulate;

/** Prefetches from the source and drops after use: double buffering, PyTorch's loader, tf.data. */
final class StagingBuffer extends SamplerOrder {
    StagingBuffer(Setup setup) {
        super(setup);
    }

    @Override
    public int place(int node, int sample) {
        return costs.source();
    }
}
