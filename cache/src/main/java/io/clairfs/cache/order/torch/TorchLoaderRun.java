package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.ConsecutiveEpochs;
import java.math.BigInteger;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The draws of {@code DataLoader(shuffle=True)} in each epoch: a base seed when the iterator is made, a permutation when the first index is
 * requested, and since torch 1.11 another one, discarded, when the sampler is exhausted.
 *
 * <p>Sources: torch/utils/data/sampler.py, dataloader.py; pytorch issues 52568, 63026, 71568, 80119.
 */
public final class TorchLoaderRun implements ConsecutiveEpochs.SmallRun<TorchLoaderRun> {
    private final TorchLoader loader;
    private final Holder holder;
    private final @Nullable BigInteger reseed;
    private TorchGenerator g;
    private int epoch;

    /** What draws from the tracked generator. */
    public enum Holder {
        /** {@code DataLoader(generator=g)}: the loader and its sampler. */
        LOADER,
        /** {@code RandomSampler(generator=g)}: the sampler alone. */
        SAMPLER,
        /** No generator was given: both draw from the default generator. */
        NOBODY
    }

    /** @param reseed the generator is seeded with this plus the epoch before each epoch, null for never again */
    public TorchLoaderRun(TorchLoader loader, Holder holder, TorchGenerator g, @Nullable BigInteger reseed) {
        this.loader = loader;
        this.holder = holder;
        this.g = g;
        this.reseed = reseed;
    }

    /** Samples and words of an epoch that is passed over, about. */
    long work() {
        if (reseed != null) {
            return 1;
        }
        return seedsItsOwn() ? loader.drawsBetween() + 1 : loader.work();
    }

    /** Since torch 1.9 a sampler without a generator seeds a new one in each epoch. */
    private boolean seedsItsOwn() {
        return holder == Holder.NOBODY && loader.torch().atLeast(1, 9);
    }

    @Override
    public TorchLoaderRun copy() {
        TorchLoaderRun copy = new TorchLoaderRun(loader, holder, g.copy(), reseed);
        copy.epoch = epoch;
        return copy;
    }

    @Override
    public int[] next() {
        begin();
        int[] drawn;
        if (seedsItsOwn()) {
            drawn = draw(TorchGenerator.seeded(g.int63()));
        } else {
            throwAwaySeed();
            drawn = draw(g);
            finish();
        }
        int length = loader.length(epoch++);
        return length == drawn.length ? drawn : Arrays.copyOf(drawn, length);
    }

    @Override
    public void pass() {
        if (reseed != null) {
            epoch++;
            return;
        }
        begin();
        if (seedsItsOwn()) {
            g.skip(2);
        } else {
            throwAwaySeed();
            passOrder();
            finish();
        }
        epoch++;
    }

    private void begin() {
        if (reseed != null) {
            g = TorchGenerator.seeded(reseed.add(BigInteger.valueOf(epoch)));
        }
        g.skip(epoch == 0 ? loader.drawsBefore() : loader.drawsBetween());
        if (holder != Holder.SAMPLER && loader.drawsBaseSeed(epoch)) {
            g.skip(2);
        }
    }

    /** torch 1.7 and 1.8 drew a seed for a generator that they then did not use. */
    private void throwAwaySeed() {
        if (holder == Holder.NOBODY && loader.torch().atLeast(1, 7)) {
            g.skip(2);
        }
    }

    private int[] draw(TorchGenerator from) {
        int n = loader.samples();
        int count = loader.drawn();
        if (loader.replacement()) {
            return TorchRandperm.integers(n, count, from, loader.torch());
        }
        int[] first = TorchRandperm.permutation(n, from, loader.torch());
        if (count == n) {
            return first;
        }
        int[] drawn = Arrays.copyOf(first, count);
        for (int at = n; at < count; at += n) {
            int[] more = TorchRandperm.permutation(n, from, loader.torch());
            System.arraycopy(more, 0, drawn, at, Math.min(n, count - at));
            if (count - at <= n) {
                break;
            }
        }
        return drawn;
    }

    private void passOrder() {
        int n = loader.samples();
        int count = loader.drawn();
        g.skip(
                loader.replacement()
                        ? TorchRandperm.wordsOfIntegers(n, count, loader.torch())
                        : Math.ceilDiv(count, n) * TorchRandperm.words(n, loader.torch()));
    }

    /** torch draws a permutation for the samples that are left over even when none are. */
    private void finish() {
        boolean whole = loader.drawn() % loader.samples() == 0;
        if (loader.torch().atLeast(1, 11) && !loader.replacement() && whole && loader.exhausts(epoch)) {
            g.skip(TorchRandperm.words(loader.samples(), loader.torch()));
        }
    }
}
