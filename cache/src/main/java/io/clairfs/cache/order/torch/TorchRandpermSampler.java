package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.ConsecutiveEpochs;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import java.math.BigInteger;

/**
 * {@code torch.randperm(n, generator=g)} with a fresh generator: epoch 0 is the first permutation after {@code manual_seed},
 * epoch e the e-th after it.
 */
public final class TorchRandpermSampler {
    private TorchRandpermSampler() {}

    public static Sampler create(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        int samples = setting.samples();
        TorchVersion torch = TorchVersion.read(keys);
        BigInteger seed = keys.torchSeed("seed", 0);
        return ConsecutiveEpochs.of(samples, new Run(samples, TorchGenerator.seeded(seed), torch));
    }

    private record Run(int samples, TorchGenerator g, TorchVersion torch) implements ConsecutiveEpochs.SmallRun<Run> {
        @Override
        public int[] next() {
            return TorchRandperm.permutation(samples, g, torch);
        }

        @Override
        public void pass() {
            g.skip(TorchRandperm.words(samples, torch));
        }

        @Override
        public Run copy() {
            return new Run(samples, g.copy(), torch);
        }
    }
}
