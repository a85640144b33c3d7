package io.clairfs.cache.seed;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PrefixFamilyTest {
    private static final long RANDOM_SEED = 18;
    private static final int CASES = 60;

    @Test
    void first_elements_are_those_of_the_sampler() throws InvalidSpecException {
        SplittableRandom random = new SplittableRandom(RANDOM_SEED);
        for (int i = 0; i < CASES; i++) {
            int samples = 1 + random.nextInt(1 << random.nextInt(1, 18));
            for (PrefixFamily family : SeedSearch.prefixFamilies(samples)) {
                long[] seeds = random.longs(PrefixFamily.LANES, 0, 1L << random.nextInt(1, 32))
                        .toArray();
                family.seed(seeds);
                for (int turn = 0;
                        turn < 2 * PrefixFamily.LANES;
                        turn++) { // lengths in any order, lanes more than once
                    int lane = random.nextInt(PrefixFamily.LANES);
                    int count = 1 + random.nextInt(PrefixFamily.MOST);
                    requireSame(family, lane, seeds[lane], count, samples);
                }
            }
        }
    }

    private static void requireSame(PrefixFamily family, int lane, long seed, int count, int samples)
            throws InvalidSpecException {
        int[] first = new int[PrefixFamily.MOST];
        int written = family.first(lane, first, count);
        EpochOrder order = JobSpec.parse(family.whole(seed)).sampler(samples).epoch(0);
        int[] expected = new int[Math.min(count, samples)];
        Arrays.setAll(expected, step -> order.sample(0, step));
        assertThat(Arrays.copyOf(first, written))
                .as("%s, %d of %d samples, random seed %d", family.whole(seed), count, samples, RANDOM_SEED)
                .isEqualTo(expected);
    }

    @Test
    void large_seeds_and_bounds_that_divide_nothing_are_exact() throws InvalidSpecException {
        for (int samples : new int[] {1, 2, 3, 1_281_167}) {
            for (PrefixFamily family : SeedSearch.prefixFamilies(samples)) {
                long[] seeds = {67280421310721L, 6148914691236517204L, 0xffffffffL, 0x7fffffffL};
                family.seed(seeds);
                for (int lane = 0; lane < (samples > 3 ? 2 : PrefixFamily.LANES); lane++) {
                    requireSame(family, lane, seeds[lane], PrefixFamily.MOST, samples);
                }
            }
        }
    }
}
