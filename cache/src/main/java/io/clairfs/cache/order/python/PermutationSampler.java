package io.clairfs.cache.order.python;

import io.clairfs.cache.order.ConsecutiveEpochs;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import java.math.BigInteger;

/**
 * User code that permutes with one generator, epoch after epoch: {@code np.random.RandomState}, {@code np.random.default_rng}
 * or {@code random.Random}. Sources: as for {@link NumpyShuffle} and {@link PythonRandom}.
 *
 * <p>Key {@code in_place}: the same list is shuffled again each epoch, instead of a fresh one. Key {@code reseed_each_epoch}:
 * each epoch has a new generator, seeded with seed + epoch. Key {@code method=sample}: {@code random.sample} in place of
 * {@code random.shuffle}.
 */
public final class PermutationSampler {
    private PermutationSampler() {}

    /** Makes the generator of {@code epoch}; epoch 0 has the seed itself. */
    @FunctionalInterface
    private interface Seeding {
        Shuffler shuffler(int epoch) throws InvalidSpecException;
    }

    /** Permutes with {@code np.random.RandomState(seed)}. */
    public static Sampler numpyLegacy(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        NumpySeed seed = NumpySeed.read(keys);
        return create(setting, keys, e -> new NumpyShuffle((e == 0 ? seed : seed.plus(e)).legacy()));
    }

    /** Permutes with {@code np.random.default_rng(seed)}. */
    public static Sampler numpyGenerator(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        NumpySeed seed = NumpySeed.read(keys);
        return create(setting, keys, e -> new NumpyShuffle((e == 0 ? seed : seed.plus(e)).generator()));
    }

    /** Permutes with {@code random.Random(seed)}. */
    public static Sampler python(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        String said = keys.text("seed", "0");
        BigInteger seed = PythonSeed.read(said);
        if (keys.choice("method", "shuffle", "sample") == 1) {
            Sampled first = new Sampled(setting.samples(), new PythonRandom(seed));
            return ConsecutiveEpochs.of(setting.samples(), first);
        }
        if (!PythonSeed.isInteger(said) && keys.flag("reseed_each_epoch", false)) {
            throw new InvalidSpecException(
                    "reseed_each_epoch adds the epoch to the seed, which has to be an integer; use sampler=order-file");
        }
        return create(setting, keys, e -> new PythonRandom(seed.add(BigInteger.valueOf(e))));
    }

    private static Sampler create(SamplerSetting setting, Keys keys, Seeding seeding) throws InvalidSpecException {
        int samples = setting.samples();
        boolean inPlace = keys.flag("in_place", false);
        Shuffler first = seeding.shuffler(0);
        if (keys.flag("reseed_each_epoch", false)) {
            if (inPlace) {
                throw new InvalidSpecException("in_place does not go with reseed_each_epoch; use sampler=order-file");
            }
            return new Reseeded(samples, seeding);
        }
        return inPlace
                ? ConsecutiveEpochs.ofLarge(samples, () -> new InPlace(identity(samples), first.copy()))
                : ConsecutiveEpochs.of(samples, new Fresh(samples, first));
    }

    /** The numbers from 0 to {@code samples - 1}. */
    public static int[] identity(int samples) {
        int[] items = new int[samples];
        for (int i = 0; i < samples; i++) {
            items[i] = i;
        }
        return items;
    }

    /** Each epoch has its own generator. */
    private record Reseeded(int samples, Seeding seeding) implements Sampler {
        @Override
        public void requirePossible(int epoch) throws InvalidSpecException {
            seeding.shuffler(epoch);
        }

        @Override
        public EpochOrder epoch(int epoch) throws InvalidSpecException {
            int[] items = identity(samples);
            seeding.shuffler(epoch).shuffle(items);
            return EpochOrder.of(items);
        }
    }

    /** {@code random.sample(range(n), n)} each epoch. */
    private record Sampled(int samples, PythonRandom random) implements ConsecutiveEpochs.SmallRun<Sampled> {
        @Override
        public int[] next() {
            return random.sample(samples, samples);
        }

        @Override
        public void pass() {
            random.sample(samples, samples);
        }

        @Override
        public Sampled copy() {
            return new Sampled(samples, random.copy());
        }
    }

    /** A fresh list is shuffled each epoch. */
    private record Fresh(int samples, Shuffler shuffler) implements ConsecutiveEpochs.SmallRun<Fresh> {
        @Override
        public int[] next() {
            int[] items = identity(samples);
            shuffler.shuffle(items);
            return items;
        }

        @Override
        public void pass() {
            shuffler.pass(samples);
        }

        @Override
        public Fresh copy() {
            return new Fresh(samples, shuffler.copy());
        }
    }

    /** One list is shuffled again and again. */
    private record InPlace(int[] items, Shuffler shuffler) implements ConsecutiveEpochs.Run {
        @Override
        public int[] next() {
            shuffler.shuffle(items);
            return items.clone();
        }

        @Override
        public void pass() {
            shuffler.shuffle(items);
        }
    }
}
