package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.ConsecutiveEpochs;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import java.math.BigInteger;
import java.util.Arrays;

/**
 * torchdata's {@code StatefulDataLoader(shuffle=True)}: a sampler of its own, whose permutations are drawn when an iterator is
 * made, so twice when it has workers. Source: torchdata/stateful_dataloader (0.12); meta-pytorch/data issue 1440.
 */
public final class TorchStatefulSampler {
    private TorchStatefulSampler() {}

    public static Sampler create(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        TorchLoader loader = TorchLoader.read(setting.samples(), keys);
        if (loader.endless() || loader.replacement() || loader.drawn() != loader.samples()) {
            throw new InvalidSpecException(
                    "torchdata-stateful knows neither endless nor replacement nor num_samples; remove them");
        }
        boolean own = keys.choice("seeded", "default", "generator") == 1;
        BigInteger seed = keys.torchSeed("seed", 0);
        return ConsecutiveEpochs.of(loader.work(), Run.first(loader, own, TorchGenerator.seeded(seed)));
    }

    /** Tracks the generator of the permutations; {@code shared} says whether base seeds are drawn from it too. */
    private static final class Run implements ConsecutiveEpochs.SmallRun<Run> {
        private final TorchLoader loader;
        private final TorchGenerator g;
        private final boolean shared;
        private int epoch;

        private Run(TorchLoader loader, TorchGenerator g, boolean shared) {
            this.loader = loader;
            this.g = g;
            this.shared = shared;
        }

        /** Without a generator from the user, the loader seeds one from the default generator, once. */
        static Run first(TorchLoader loader, boolean own, TorchGenerator given) {
            given.skip(loader.drawsBefore());
            return new Run(loader, own ? given : TorchGenerator.seeded(given.int63()), own);
        }

        @Override
        public Run copy() {
            Run copy = new Run(loader, g.copy(), shared);
            copy.epoch = epoch;
            return copy;
        }

        private long wordsOfOrder() {
            return TorchRandperm.words(loader.samples(), loader.torch());
        }

        @Override
        public int[] next() {
            betweenEpochs();
            boolean fresh = loader.drawsBaseSeed(epoch);
            if (fresh && loader.workers() > 0) {
                g.skip(wordsOfOrder() + (shared ? 2 : 0));
                fresh = false;
            }
            int[] order = TorchRandperm.permutation(loader.samples(), g, loader.torch());
            if (fresh && shared) {
                g.skip(2);
            }
            int length = loader.length(epoch++);
            return length == order.length ? order : Arrays.copyOf(order, length);
        }

        @Override
        public void pass() {
            betweenEpochs();
            boolean fresh = loader.drawsBaseSeed(epoch++);
            long orders = fresh && loader.workers() > 0 ? 2 : 1;
            g.skip(orders * wordsOfOrder() + (fresh && shared ? 2 : 0));
        }

        private void betweenEpochs() {
            if (shared && epoch > 0) {
                g.skip(loader.drawsBetween());
            }
        }
    }
}
