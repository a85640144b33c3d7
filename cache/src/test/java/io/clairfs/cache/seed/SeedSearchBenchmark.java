package io.clairfs.cache.seed;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * The seeds that are found, those that are not, and what the search costs: {@code .ci/long-run seeds} runs it. Times are of one core, as the
 * clock of the searching thread counts them, so other load hardly matters.
 *
 * <p>{@code -Dclairfs.seeds.trials=N} sets the trials, {@code -Dclairfs.seeds.unpredictable=N} the unpredictable orders, {@code
 * -Dclairfs.seeds.full=N} those of them that are searched in full, {@code -Dclairfs.seeds.random=N} the seed of the chance in all.
 */
@Timeout(7200)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class SeedSearchBenchmark {
    private static final int TRIALS = Integer.getInteger("clairfs.seeds.trials", 100);
    private static final int UNPREDICTABLE = Integer.getInteger("clairfs.seeds.unpredictable", 10_000);
    private static final int FULL = Integer.getInteger("clairfs.seeds.full", 30);
    private static final int USUAL_SEEDS = 1_001;
    private static final int AROUND = 100;

    /** The usual seeds of the families that are tried by their first elements, once: what a search has done in its first tenth of a second. */
    private static final long FIRST_CANDIDATES = 5L * UsualSeeds.many().length;

    private final SplittableRandom random = new SplittableRandom(Long.getLong("clairfs.seeds.random", 18));
    private final BenchmarkReport report = new BenchmarkReport("seeds-report.txt");

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private void print(String format, Object... arguments) {
        report.line(format, arguments);
    }

    /** The compiler has seen the search before it is timed, as in a daemon that searches for more than a second. */
    @BeforeAll
    static void warmUp() throws InvalidSpecException {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 6; i++) {
            SeedTrial trial = SeedTrial.of(i, 100_000, random);
            var _ = new SeedSearch(trial.samples()).search(trial.reads(random), SearchExtent.USUAL, () -> true);
        }
    }

    @Test
    @Order(1)
    void search_ofUsualSeeds_takesLessThanASecond() throws InvalidSpecException {
        assertThat(trials(USUAL_SEEDS, TRIALS, 1.0)).isGreaterThanOrEqualTo(0.99);
    }

    /** All seeds before the right one are tried. */
    @Test
    @Order(2)
    void search_ofSeedsBelowAMillion_takesLessThanHalfAMinute() throws InvalidSpecException {
        assertThat(trials(SeedSearch.NEAR, TRIALS, 30.0)).isGreaterThanOrEqualTo(0.99);
    }

    /** Whether a seed is found does not depend on how many are tried before it: here few are, so there is time for many trainings. */
    @Test
    @Order(4)
    void search_ofSeedsBelowAMillion_findsThem() throws InvalidSpecException {
        assertThat(trials(SeedSearch.NEAR, 20 * TRIALS, 0)).isGreaterThanOrEqualTo(0.99);
    }

    /**
     * The part of the trials that is found within {@code mostSeconds} of one core.
     *
     * @param mostSeconds 0 when only the seeds around the right one are tried
     */
    private double trials(int seeds, int count, double mostSeconds) throws InvalidSpecException {
        boolean all = mostSeconds > 0;
        print(
                "seeds below %,d, %s: %d trials",
                seeds, all ? "all before the right one" : "those around the right one", count);
        Map<Integer, List<Double>> seconds = new TreeMap<>();
        int found = 0;
        for (int i = 0; i < count; i++) {
            SeedTrial trial = SeedTrial.of(i, seeds, random);
            FirstReads.Snapshot reads = trial.reads(random);
            SeedSearch search = new SeedSearch(trial.samples());
            long before = cpuNanos();
            Optional<FoundOrder> result = all
                    ? search.search(reads, SearchExtent.USUAL, () -> true)
                    : search.between(reads, trial.seed() - AROUND, trial.seed() + AROUND);
            double took = (cpuNanos() - before) / 1e9;
            seconds.computeIfAbsent(trial.samples(), _ -> new ArrayList<>()).add(took);
            String line = result.map(FoundOrder::line).orElse("nothing");
            boolean right = (line + " ").startsWith(trial.order() + " ");
            boolean inTime = !all || took <= mostSeconds;
            found += right && inTime ? 1 : 0;
            if (all || !right) {
                print(
                        "%4d/%d %s after %,d candidates and %.2f s: %s, of %s",
                        i + 1,
                        count,
                        !right ? "NOT FOUND" : inTime ? "found" : "LATE",
                        search.candidates(),
                        took,
                        right ? trial.order() : line,
                        trial);
            }
        }
        seconds.forEach((samples, each) -> {
            DoubleSummaryStatistics of = each.stream().mapToDouble(s -> s).summaryStatistics();
            print(
                    "%,10d samples, %d trials: %.2f s of one core mean, %.2f s the longest",
                    samples, of.getCount(), of.getAverage(), of.getMax());
        });
        print("%d of %d found%s", found, count, all ? " within " + mostSeconds + " s" : "");
        return (double) found / count;
    }

    /**
     * Random permutations in place of samplers: nothing may be found. As the search of one takes 10 to 20 s when nothing is found, all are
     * searched among the first candidates, every tenth among the usual seeds with many elements too, and some in full. The readers of a tenth
     * cannot be told apart.
     */
    @Test
    @Order(3)
    void search_ofUnpredictableOrders_findsNothing() {
        print("%,d unpredictable orders, %d of them searched in full", UNPREDICTABLE, FULL);
        long candidates = 0;
        int wrong = 0;
        double before = BenchmarkReport.cpuSeconds();
        for (int i = 0; i < UNPREDICTABLE; i++) {
            boolean full = i < FULL;
            long most = full ? Long.MAX_VALUE : i % 10 == 0 ? 2 * FIRST_CANDIDATES : FIRST_CANDIDATES;
            SeedTrial trial = SeedTrial.of(i, 1, random);
            FirstReads.Snapshot reads = trial.unpredictable(i / SeedTrial.COMBINATIONS % 10 == 1, random);
            SeedSearch search = new SeedSearch(trial.samples());
            Optional<FoundOrder> found = search.search(reads, SearchExtent.USUAL, () -> search.candidates() < most);
            candidates += search.candidates();
            wrong += found.isPresent() ? 1 : 0;
            found.ifPresent(order -> print("FALSE FIND %s: %s", trial, order));
            if (full || (i + 1) % 500 == 0) {
                print(
                        "%,6d/%,d orders, %,d candidates, %d false finds, %.0f s of one core",
                        i + 1, UNPREDICTABLE, candidates, wrong, BenchmarkReport.cpuSeconds() - before);
            }
        }
        print("%,d unpredictable orders, %,d candidates: %d false finds", UNPREDICTABLE, candidates, wrong);
        assertThat(wrong).isZero();
    }

    /** What a candidate costs, by the number of its elements that are computed and looked at. */
    @Test
    @Order(5)
    void candidates_costMicroseconds() throws InvalidSpecException {
        for (int samples : new int[] {50_000, 1_281_167, 14_197_122}) {
            SeedTrial trial = new SeedTrial(samples, 8, 0, 7, 64, 2, 7);
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

    private void wholeOrders(int samples) throws InvalidSpecException {
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
