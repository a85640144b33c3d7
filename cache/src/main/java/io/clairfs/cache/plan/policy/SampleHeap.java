package io.clairfs.cache.plan.policy;

/** A binary heap of samples over an array of the caller, the greatest value on top; of equal ones the lower number. */
final class SampleHeap {
    private final int[] samples;
    private final float[] values;
    private int size;

    /**
     * An empty one.
     *
     * @param samples overwritten; as long as the heap will ever be
     * @param values by sample; that of a sample in the heap must not change
     */
    SampleHeap(int[] samples, float[] values) {
        this.samples = samples;
        this.values = values;
    }

    boolean isEmpty() {
        return size == 0;
    }

    float greatest() {
        return values[samples[0]];
    }

    void add(int sample) {
        int place = size++;
        while (place > 0 && before(sample, samples[(place - 1) / 2])) {
            samples[place] = samples[(place - 1) / 2];
            place = (place - 1) / 2;
        }
        samples[place] = sample;
    }

    int poll() {
        int top = samples[0];
        int last = samples[--size];
        int place = 0;
        while (2 * place + 1 < size) {
            int child = 2 * place + 1;
            if (child + 1 < size && before(samples[child + 1], samples[child])) {
                child++;
            }
            if (!before(samples[child], last)) {
                break;
            }
            samples[place] = samples[child];
            place = child;
        }
        samples[place] = last;
        return top;
    }

    private boolean before(int a, int b) {
        return values[a] > values[b] || (values[a] == values[b] && a < b);
    }
}
