package io.clairfs.cache.seed;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * The seeds that are found, those that are not, and what the search costs: {@code .ci/long-run seeds} runs it. Times are of one core, as its
 * clock counts them, so other load hardly matters.
 *
 * <p>{@code -Dclairfs.seeds.trials=N} sets the trials for each shape of a training, {@code -Dclairfs.seeds.unpredictable=N} the unpredictable
 * orders, {@code -Dclairfs.seeds.random=N} the seed of the chance in them.
 */
@Timeout(7200)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class SeedSearchBenchmark {
    private static final int[] SIZES = {1_000, 50_000, 1_281_167};
    private static final int[] WORLDS = {1, 2, 8, 64};
    private static final int[] WORKERS = {0, 2, 8};
    private static final int[] BATCHES = {32, 64, 128, 256};
    private static final int READS = 200;
    private static final int USUAL_SEEDS = 1_001;
    private static final int AROUND = 100;

    private final SplittableRandom random = new SplittableRandom(Long.getLong("clairfs.seeds.random", 18));

    private record Trial(int samples, int world, int first, int last, int batch, int workers, long seed) {
        static Trial of(int samples, int world, int workers, long seed, RandomGenerator random) {
            int here = Math.min(world, 1 << random.nextInt(4));
            int first = here * random.nextInt(world / here);
            return new Trial(
                    samples, world, first, first + here - 1, BATCHES[random.nextInt(BATCHES.length)], workers, seed);
        }

        String order() {
            return "sampler=torch-distributed seed=" + seed
                    + (world == 1 ? "" : " world=" + world + " ranks=" + first + (last > first ? "-" + last : ""));
        }

        FirstReads.Snapshot reads(RandomGenerator random) throws InvalidSpecException {
            EpochOrder order = JobSpec.parse(order()).sampler(samples).epoch(0);
            LoaderModel model = new LoaderModel(samples, order, first, last, batch, workers, false, random);
            if (random.nextBoolean()) {
                model.foreign(1, 0);
            }
            return model.first(READS);
        }
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format + "%n", arguments);
    }

    /** The compiler has seen the search before it is timed, as in a daemon that searches for more than a second. */
    @BeforeAll
    static void warmUp() throws InvalidSpecException {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 3; i++) {
            Trial trial = Trial.of(50_000, 8, 2, 100_000, random);
            new SeedSearch(trial.samples).search(trial.reads(random), SearchExtent.USUAL, () -> true);
        }
    }

    @Test
    @Order(1)
    void search_ofUsualSeeds_takesLessThanASecond() throws InvalidSpecException {
        assertThat(trials(USUAL_SEEDS, Integer.getInteger("clairfs.seeds.trials", 6), 1.0))
                .isGreaterThanOrEqualTo(0.99);
    }

    @Test
    @Order(2)
    void search_ofSeedsBelowAMillion_takesLessThanHalfAMinute() throws InvalidSpecException {
        assertThat(trials(SeedSearch.NEAR, Integer.getInteger("clairfs.seeds.trials", 6) / 6, 30.0))
                .isGreaterThanOrEqualTo(0.99);
    }

    /** Whether a seed is found does not depend on how many are tried before it: here few are, so there is time for many trainings. */
    @Test
    @Order(3)
    void search_ofSeedsBelowAMillion_findsThem() throws InvalidSpecException {
        assertThat(trials(SeedSearch.NEAR, 10 * Integer.getInteger("clairfs.seeds.trials", 6), 0))
                .isGreaterThanOrEqualTo(0.99);
    }

    /**
     * The part of the trials that is found within {@code mostSeconds} of one core.
     *
     * @param mostSeconds 0 when only the seeds around the right one are tried
     */
    private double trials(int seeds, int each, double mostSeconds) throws InvalidSpecException {
        print(
                "seeds below %,d, %s: %d trials for each world and number of workers",
                seeds, mostSeconds == 0 ? "those around the right one" : "all", each);
        int found = 0;
        int all = 0;
        for (int samples : SIZES) {
            List<Double> seconds = new ArrayList<>();
            int foundOfSize = 0;
            for (int world : WORLDS) {
                for (int workers : WORKERS) {
                    for (int i = 0; i < each; i++) {
                        Trial trial = Trial.of(samples, world, workers, random.nextLong(seeds), random);
                        foundOfSize += isFound(trial, mostSeconds, seconds) ? 1 : 0;
                    }
                }
            }
            double[] sorted = seconds.stream().mapToDouble(s -> s).sorted().toArray();
            print(
                    "%,10d samples: %d of %d found; %.2f s of one core mean, %.2f s the longest",
                    samples,
                    foundOfSize,
                    sorted.length,
                    Arrays.stream(sorted).average().orElse(0),
                    sorted[sorted.length - 1]);
            found += foundOfSize;
            all += sorted.length;
        }
        return (double) found / all;
    }

    private boolean isFound(Trial trial, double mostSeconds, List<Double> seconds) throws InvalidSpecException {
        FirstReads.Snapshot reads = trial.reads(random);
        long before = cpuNanos();
        SeedSearch search = new SeedSearch(trial.samples);
        Optional<FoundOrder> found = mostSeconds == 0
                ? search.between(reads, trial.seed - AROUND, trial.seed + AROUND)
                : search.search(reads, SearchExtent.USUAL, () -> true);
        double took = (cpuNanos() - before) / 1e9;
        seconds.add(took);
        String line = found.map(FoundOrder::line).orElse("nothing");
        boolean right = (line + " ").startsWith(trial.order() + " ");
        boolean inTime = mostSeconds == 0 || took <= mostSeconds;
        if (!right || !inTime) {
            print("%s after %.2f s: %s", trial, took, line);
        }
        return right && inTime;
    }

    /**
     * Random permutations in place of samplers: nothing may be found. To try 10,000 of them, every 2,500th is searched in full and of the
     * others the first 2,000 candidates; the readers of a tenth cannot be told apart.
     */
    @Test
    @Order(4)
    void search_ofUnpredictableOrders_findsNothing() throws InvalidSpecException {
        int orders = Integer.getInteger("clairfs.seeds.unpredictable", 10_000);
        long candidates = 0;
        int wrong = 0;
        for (int i = 0; i < orders; i++) {
            int samples = SIZES[random.nextInt(2)];
            long most = i % 2500 == 0 ? Long.MAX_VALUE : 2_000;
            Trial trial = Trial.of(
                    samples, WORLDS[random.nextInt(WORLDS.length)], WORKERS[random.nextInt(WORKERS.length)], 0, random);
            int[] order = shuffled(samples);
            EpochOrder dealt = dealt(order, trial.world);
            LoaderModel model = new LoaderModel(
                    samples, dealt, trial.first, trial.last, trial.batch, trial.workers, i % 10 == 0, random);
            SeedSearch search = new SeedSearch(samples);
            Optional<FoundOrder> found =
                    search.search(model.first(READS), SearchExtent.USUAL, () -> search.candidates() < most);
            candidates += search.candidates();
            wrong += found.isPresent() ? 1 : 0;
            found.ifPresent(order1 -> print("%s: %s", trial, order1));
        }
        print("%,d unpredictable orders, %,d candidates: %d false finds", orders, candidates, wrong);
        assertThat(wrong).isZero();
    }

    private int[] shuffled(int samples) {
        int[] order = new int[samples];
        for (int i = 0; i < samples; i++) {
            int j = random.nextInt(i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        return order;
    }

    private static EpochOrder dealt(int[] order, int world) {
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return order.length / world;
            }

            @Override
            public int sample(int rank, int step) {
                return order[step * world + rank];
            }
        };
    }

    /** What a candidate costs, by the number of its elements that are computed and looked at. */
    @Test
    @Order(5)
    void candidates_costMicroseconds() throws InvalidSpecException {
        for (int samples : new int[] {50_000, 1_281_167, 14_197_122}) {
            Trial trial = Trial.of(samples, 8, 2, 7, random);
            ReadPlaces places = new ReadPlaces(trial.reads(random), samples);
            for (int family = 0; family < SeedSearch.prefixFamilies(samples).size(); family++) {
                StringBuilder costs = new StringBuilder();
                for (int count : new int[] {64, 128, 512, 2048}) {
                    costs.append(String.format(
                            Locale.ROOT, "  %d: %6.2f us", count, microseconds(samples, family, places, count)));
                }
                print(
                        "%,10d samples  %-26s%s",
                        samples, SeedSearch.prefixFamilies(samples).get(family).whole(0), costs);
            }
            wholeOrders(samples);
        }
    }

    private static double microseconds(int samples, int family, ReadPlaces places, int count) {
        int[] order = new int[PrefixFamily.MOST];
        int candidates = 40_000_000 / (count + 1000);
        double best = Double.MAX_VALUE;
        for (int turn = 0; turn < 3; turn++) {
            PrefixFamily tried = SeedSearch.prefixFamilies(samples).get(family);
            long before = cpuNanos();
            for (long seed = 0; seed < candidates; seed += PrefixFamily.LANES) {
                tried.seed(new long[] {seed, seed + 1, seed + 2, seed + 3});
                for (int lane = 0; lane < PrefixFamily.LANES; lane++) {
                    places.clear();
                    places.scan(order, tried.first(lane, order, count));
                    places.fit();
                }
            }
            best = Math.min(best, (cpuNanos() - before) / 1e3 / candidates);
        }
        return best;
    }

    private static void wholeOrders(int samples) throws InvalidSpecException {
        for (WholeFamily family : WholeFamily.SEEDED) {
            double best = Double.MAX_VALUE;
            for (int turn = 0; turn < 5; turn++) {
                long before = cpuNanos();
                JobSpec.parse(family.whole(turn)).sampler(samples).epoch(0);
                best = Math.min(best, (cpuNanos() - before) / 1e6);
            }
            print("%,10d samples  %-60s%8.2f ms", samples, family.whole(0), best);
        }
    }
}
