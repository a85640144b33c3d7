package io.clairfs.cache.seed;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Orders by {@code torch.randperm} from a freshly seeded generator, of which some words are drawn before: none by DistributedSampler and
 * accelerate, two by a DataLoader with a generator, for the base seed of its workers. Without a generator the DataLoader draws a base seed
 * and then the seed of a second generator. Sources: as for {@link io.clairfs.cache.order.torch.TorchLoaderRun}.
 */
final class TorchFamily implements PrefixFamily {
    private static final int BASE_SEED = 2;
    private static final int LOW_WORD_OF_SEED = 3;

    private final String keys;
    private final Dealing dealing;
    private final Words words;
    private final int drawnBefore;
    private final ForwardShuffle shuffle;
    private final int samples;

    private TorchFamily(
            String keys, Dealing dealing, Words words, int drawnBefore, ForwardShuffle shuffle, int samples) {
        this.keys = keys;
        this.dealing = dealing;
        this.words = words;
        this.drawnBefore = drawnBefore;
        this.shuffle = shuffle;
        this.samples = samples;
    }

    /** The families of torch over {@code samples} samples. They are asked in this order, with the same seeds, and share what they have in common. */
    static List<PrefixFamily> all(int samples) {
        ForwardShuffle shuffle = new ForwardShuffle(samples, MOST);
        Words own = new Words(null);
        Words drawn = new Words(own);
        return List.of(
                new TorchFamily(TORCH_DISTRIBUTED, Dealing.BY_SAMPLE_OR_BATCH, own, 0, shuffle, samples),
                new TorchFamily("sampler=torch-generator", Dealing.TO_ONE, own, BASE_SEED, shuffle, samples),
                new TorchFamily("sampler=torch-default", Dealing.TO_ONE, drawn, 0, shuffle, samples));
    }

    @Override
    public String whole(long seed) {
        return keys + " seed=" + seed;
    }

    @Override
    public Dealing dealing() {
        return dealing;
    }

    @Override
    public void seed(long[] seeds) {
        words.seed(seeds);
    }

    @Override
    public int first(int lane, int[] order, int count) {
        int written = Math.min(count, samples);
        shuffle.first(words.draw(lane, BASE_SEED + written), drawnBefore, order, written);
        return written;
    }

    /** The words of the seeds, or of the seeds that a DataLoader draws from theirs; made once for all families. */
    private static final class Words {
        private final @Nullable Words origin;
        private final TorchWords generator = new TorchWords();
        private final long[] seeds = new long[LANES];
        private final int[][] words = new int[LANES][MOST + BASE_SEED];
        private final int[] made = new int[LANES];
        private boolean seeded;

        Words(@Nullable Words origin) {
            this.origin = origin;
        }

        void seed(long[] given) {
            if (seeded && Arrays.equals(given, seeds)) {
                return;
            }
            System.arraycopy(given, 0, seeds, 0, LANES);
            Arrays.fill(made, 0);
            seeded = true;
            if (origin == null) {
                generator.seed(given);
                return;
            }
            origin.seed(given);
            long[] drawn = new long[LANES];
            for (int lane = 0; lane < LANES; lane++) {
                drawn[lane] = origin.draw(lane, LOW_WORD_OF_SEED + 1)[LOW_WORD_OF_SEED];
            }
            generator.seed(drawn);
        }

        int[] draw(int lane, int count) {
            if (made[lane] < count) {
                generator.draw(lane, words[lane], count);
                made[lane] = count;
            }
            return words[lane];
        }
    }
}
