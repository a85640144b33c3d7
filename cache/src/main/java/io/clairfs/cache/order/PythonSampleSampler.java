package io.clairfs.cache.order;

import java.math.BigInteger;

/** {@code random.sample(range(n), k)}, epoch after epoch from one generator. Source: Lib/random.py. */
final class PythonSampleSampler {
    private PythonSampleSampler() {}

    static Sampler create(SamplerSetting setting, Keys keys, BigInteger seed) throws InvalidSpecException {
        int samples = setting.samples();
        int count = keys.integer("num_samples", samples, 0, samples);
        return new ConsecutiveEpochs<>(samples, new Run(samples, count, new PythonRandom(seed)), true);
    }

    private record Run(int samples, int count, PythonRandom random) implements ConsecutiveEpochs.Run<Run> {
        @Override
        public int[] next() {
            return random.sample(samples, count);
        }

        @Override
        public void pass() {
            random.sample(samples, count);
        }

        @Override
        public Run copy() {
            return new Run(samples, count, random.copy());
        }
    }
}
