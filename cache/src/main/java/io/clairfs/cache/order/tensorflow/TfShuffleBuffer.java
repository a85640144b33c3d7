package io.clairfs.cache.order.tensorflow;

import io.clairfs.cache.order.python.PermutationSampler;
import io.clairfs.cache.order.random.Philox;

/**
 * The ring buffer of tf.data's shuffle: it is kept full while input is left, and each draw takes one of its items. Source:
 * tensorflow/core/kernels/data/shuffle_dataset_op.cc.
 */
final class TfShuffleBuffer {
    private TfShuffleBuffer() {}

    /** The order in which the numbers from 0 to {@code samples - 1} leave a buffer of {@code size}; draws a word for each. */
    static int[] order(int samples, int size, Philox words) {
        int capacity = Math.min(size, samples);
        int[] ring = PermutationSampler.identity(capacity);
        int[] order = new int[samples];
        int start = 0;
        for (int out = 0; out < samples; out++) {
            int held = Math.min(capacity, samples - out);
            int at = start + Integer.remainderUnsigned(words.next32(), held);
            int place = at >= capacity || at < 0 ? at - capacity : at;
            order[out] = ring[place];
            ring[place] = ring[start];
            if (out + capacity < samples) {
                ring[start] = out + capacity;
            }
            start = start + 1 == capacity ? 0 : start + 1;
        }
        return order;
    }
}
