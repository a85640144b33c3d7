package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.ConsecutiveEpochs;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.torch.TorchLoaderRun.Holder;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * torch's {@code DataLoader(shuffle=True)} over the epochs of a run: with a generator of its own, from the default generator,
 * or from a generator's recorded state. Source: as for {@link TorchLoaderRun}.
 */
public final class TorchLoaderSampler implements Sampler {
    private final Sampler epochs;
    private final @Nullable BigInteger reseed;

    private TorchLoaderSampler(TorchLoader loader, Holder holder, TorchGenerator g, @Nullable BigInteger reseed) {
        this.reseed = reseed;
        TorchLoaderRun run = new TorchLoaderRun(loader, holder, g, reseed);
        epochs = ConsecutiveEpochs.of(run.work(), run);
    }

    /** {@code generator=g} after {@code g.manual_seed(seed)}, given to the loader or to its RandomSampler. */
    public static Sampler ofGenerator(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        TorchLoader loader = TorchLoader.read(setting.samples(), keys);
        if (!loader.torch().atLeast(1, 6)) {
            throw new InvalidSpecException(
                    "torch " + loader.torch() + " takes no generator; its order is that of sampler=torch-default");
        }
        Holder holder = keys.choice("generator", "loader", "sampler") == 0 ? Holder.LOADER : Holder.SAMPLER;
        return seeded(loader, holder, keys);
    }

    /** No generator, after {@code torch.manual_seed(seed)}. */
    public static Sampler ofDefault(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        return seeded(TorchLoader.read(setting.samples(), keys), Holder.NOBODY, keys);
    }

    private static Sampler seeded(TorchLoader loader, Holder holder, Keys keys) throws InvalidSpecException {
        BigInteger seed = keys.torchSeed("seed", 0);
        BigInteger reseed = keys.flag("reseed_each_epoch", false) ? seed : null;
        if (reseed != null && loader.endless()) {
            throw new InvalidSpecException("endless has one iterator for all epochs: no reseed_each_epoch");
        }
        return new TorchLoaderSampler(loader, holder, TorchGenerator.seeded(seed), reseed);
    }

    /** From the state of the default generator, or of a generator given to the loader, before epoch 0. */
    public static Sampler ofState(SamplerSetting setting, Keys keys) throws InvalidSpecException {
        TorchLoader loader = TorchLoader.read(setting.samples(), keys);
        Holder holder = keys.choice("seeded", "default", "generator") == 0
                ? Holder.NOBODY
                : keys.choice("generator", "loader", "sampler") == 0 ? Holder.LOADER : Holder.SAMPLER;
        String state = keys.text("state");
        if (state == null) {
            throw new InvalidSpecException("sampler=torch-state needs state=FILE, or the state in base64");
        }
        return new TorchLoaderSampler(loader, holder, TorchStateFile.read(state), null);
    }

    @Override
    public void requirePossible(int epoch) throws InvalidSpecException {
        if (reseed != null) {
            Keys.requireTorchSeed("seed + epoch", reseed.add(BigInteger.valueOf(epoch)));
        }
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        requirePossible(epoch);
        return epochs.epoch(epoch);
    }
}
