package io.clairfs.cache.plan.loaders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.plan.loaders.RankLoad.Pending;
import io.clairfs.cache.plan.model.Contention;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.plan.model.Throughput;
import io.clairfs.cache.plan.model.Throughput.Point;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads beside a source that more than four of them make no faster: 1 MB/s for each of up to four, 4 MB/s for all. */
final class SaturatedSourceTest {
    private static final double MEGA = 1e6;
    private static final int SAMPLE = 100_000;
    private static final double LOCAL_SECONDS = 0.01;
    private static final int MOST_THREADS = 33;
    private static final double THRESHOLD = 1e-6;
    private static final Place LOCAL = new Place.Local(0);

    /** The source's time is that of the contention. */
    private static final FetchCosts COSTS = (place, _) -> place.equals(LOCAL) ? LOCAL_SECONDS : 1000;

    private static final Throughput SATURATED = new Throughput(List.of(new Point(1, MEGA), new Point(4, 4 * MEGA)));

    private static RankLoad load(int source, int local, double until) {
        return new RankLoad(
                List.of(new Pending(Place.SOURCE, source, (long) source * SAMPLE), new Pending(LOCAL, local, local)),
                until);
    }

    private static Map<Place, Contention> fillers(int number) {
        return Map.of(Place.SOURCE, new Contention(SATURATED, number));
    }

    private static Prediction prediction(int fillers, RankLoad... ranks) {
        return new Prediction(List.of(ranks), COSTS, fillers(fillers), MOST_THREADS);
    }

    private static int[] assign(int threads, int fillers, RankLoad... ranks) {
        return ThreadAssignment.assign(List.of(ranks), COSTS, fillers(fillers), threads, THRESHOLD);
    }

    @Test
    void lateness_ofOneRank_isEquationOneUpToSaturationAndFlatBeyond() {
        Prediction prediction = prediction(0, load(400, 0, 0)); // 40 MB
        for (int threads = 1; threads <= 16; threads++) {
            assertThat(prediction.lateness(new int[] {threads})[0])
                    .isCloseTo(40.0 / Math.min(threads, 4), within(1e-6));
        }
    }

    @Test
    void lateness_besideFillers_isOfTheShareThatTheyLeave() {
        Prediction prediction = prediction(8, load(400, 0, 0));
        assertThat(prediction.lateness(new int[] {8})[0]).isCloseTo(20, within(1e-6)); // half of 4 MB/s
    }

    @Test
    void assign_hopelessRankAtASaturatedSource_getsNoMoreThanMakesItFaster() {
        // without contention the first would get 15 of 16 threads, which make it no earlier than 4 do
        assertThat(assign(16, 0, load(4000, 0, 0), load(0, 400, 0))).containsExactly(4, 12);
        assertThat(ThreadAssignment.assign(
                        List.of(load(4000, 0, 0), load(0, 400, 0)),
                        (place, _) -> place.equals(LOCAL) ? LOCAL_SECONDS : SAMPLE / MEGA,
                        Map.of(),
                        16,
                        THRESHOLD))
                .containsExactly(15, 1);
    }

    @Test
    void assign_besideFillers_takesAShareByThreads() {
        // each further thread takes a share from the fillers, so the rank at the source gets them
        assertThat(assign(16, 8, load(4000, 0, 0), load(0, 400, 0))).containsExactly(15, 1);
    }

    @Test
    void assign_bothRanksAtASaturatedSource_sharesItByWork() {
        assertThat(assign(16, 0, load(300, 0, 0), load(100, 0, 0))).containsExactly(12, 4);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void assign_randomLoads_noRankHasAThreadThatMakesItNoFasterButAnotherRankEarlier(long seed) {
        Random random = new Random(seed);
        for (int run = 0; run < 60; run++) {
            RankLoad[] ranks = new RankLoad[2 + random.nextInt(3)];
            Arrays.setAll(ranks, _ -> load(random.nextInt(300), 1 + random.nextInt(2000), random.nextDouble() * 20));
            int fillers = random.nextInt(3);
            int total = ranks.length + random.nextInt(12);
            int[] assigned = assign(total, fillers, ranks);
            Prediction prediction = prediction(fillers, ranks);
            double[] before = prediction.lateness(assigned);
            double[] together = together(prediction, assigned);
            assertThat(Arrays.stream(assigned).sum()).isEqualTo(total);
            for (int from = 0; from < ranks.length; from++) {
                for (int to = 0; to < ranks.length; to++) {
                    if (from != to && assigned[from] > 1) {
                        int[] other = assigned.clone();
                        other[from]--;
                        other[to]++;
                        double[] after = prediction.lateness(other);
                        assertThat(together(prediction, other)[from] <= together[from]
                                        && after[to] < before[to] - 1e-2
                                        && latest(after) <= latest(before))
                                .as("seed %d, run %d: %s", seed, run, Arrays.toString(assigned))
                                .isFalse();
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void assign_randomLoads_latestIsNearlyAsEarlyAsInAnyAssignment(long seed) {
        Random random = new Random(seed);
        for (int run = 0; run < 60; run++) {
            RankLoad[] ranks = new RankLoad[2 + random.nextInt(2)];
            Arrays.setAll(ranks, _ -> load(random.nextInt(300), 1 + random.nextInt(2000), 0));
            int total = ranks.length + random.nextInt(9);
            Prediction prediction = prediction(1, ranks);
            double best = Double.POSITIVE_INFINITY;
            for (int[] other : ThreadAssignmentTest.all(total, ranks.length)) {
                best = Math.min(best, latest(prediction.lateness(other)));
            }
            int[] assigned = assign(total, 1, ranks);
            assertThat(latest(prediction.lateness(assigned)))
                    .as("seed %d, run %d: %s", seed, run, Arrays.toString(assigned))
                    .isLessThanOrEqualTo(best * 1.02);
        }
    }

    /** It is computed anew every 20 ms, and an evaluation for 16 ranks costs some microseconds. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void assign_sixteenRanks_evaluatesThePredictionFewTimes(long seed) {
        Random random = new Random(seed);
        int total = MOST_THREADS - 1;
        for (int run = 0; run < 200; run++) {
            RankLoad[] ranks = new RankLoad[16];
            double slack = random.nextDouble() * 20;
            Arrays.setAll(ranks, _ -> load(random.nextInt(300), random.nextInt(2000), random.nextDouble() * slack));
            Prediction prediction = prediction(random.nextInt(5), ranks);
            int[] assigned = ThreadAssignment.assign(List.of(ranks), prediction, total, THRESHOLD);
            assertThat(Arrays.stream(assigned).sum()).isEqualTo(total);
            assertThat(prediction.evaluations())
                    .as("seed %d, run %d: dear evaluations", seed, run)
                    .isBetween(1, 73);
            assertThat(prediction.settled())
                    .as("seed %d, run %d: fixed points beside them", seed, run)
                    .isBetween(1, 130);
        }
    }

    private static double[] together(Prediction prediction, int[] threads) {
        prediction.settle(threads);
        return IntStream.range(0, threads.length)
                .mapToDouble(prediction::together)
                .toArray();
    }

    private static double latest(double[] late) {
        return Arrays.stream(late).max().orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void lateness_ofTheAssignment_agreesWithAQueueingSimulation(long seed) {
        Random random = new Random(seed);
        for (int run = 0; run < 20; run++) {
            int fillers = random.nextInt(5);
            RankLoad[] ranks = new RankLoad[2 + random.nextInt(3)];
            Arrays.setAll(ranks, _ -> load(100 + random.nextInt(300), random.nextInt(4000), 0));
            int[] threads = assign(ranks.length + random.nextInt(13), fillers, ranks);
            double[] predicted = prediction(fillers, ranks).lateness(threads);
            double[] simulated = simulate(ranks, threads, fillers, random);
            for (int rank = 0; rank < ranks.length; rank++) {
                assertThat(predicted[rank])
                        .as("seed %d, run %d, rank %d of %s", seed, run, rank, Arrays.toString(threads))
                        .isCloseTo(simulated[rank], Percentage.withPercentage(10));
            }
        }
    }

    /**
     * Each thread takes the next request of its rank, in random order, when it is free; all that are at the source, and the fillers, share its rate.
     * Returns when each rank is done.
     */
    private static double[] simulate(RankLoad[] ranks, int[] threads, int fillers, Random random) {
        int[][] left = new int[ranks.length][];
        int all = Arrays.stream(threads).sum();
        int[] rankOf = new int[all];
        for (int rank = 0, thread = 0; rank < ranks.length; rank++) {
            left[rank] =
                    ranks[rank].pending().stream().mapToInt(Pending::requests).toArray();
            for (int i = 0; i < threads[rank]; i++) {
                rankOf[thread++] = rank;
            }
        }
        double[] bytes = new double[all];
        double[] seconds = new double[all];
        double[] done = new double[ranks.length];
        double now = 0;
        while (true) {
            int readers = fillers;
            int busy = 0;
            for (int thread = 0; thread < all; thread++) {
                int[] mine = left[rankOf[thread]];
                if (bytes[thread] <= 0 && seconds[thread] <= 0 && mine[0] + mine[1] > 0) {
                    boolean source = random.nextInt(mine[0] + mine[1]) < mine[0];
                    mine[source ? 0 : 1]--;
                    bytes[thread] = source ? SAMPLE : 0;
                    seconds[thread] = source ? 0 : LOCAL_SECONDS;
                }
                readers += bytes[thread] > 0 ? 1 : 0;
                busy += bytes[thread] > 0 || seconds[thread] > 0 ? 1 : 0;
            }
            if (busy == 0) {
                return done;
            }
            double each = readers == 0 ? 0 : SATURATED.each(readers);
            double next = Double.POSITIVE_INFINITY;
            for (int thread = 0; thread < all; thread++) {
                if (bytes[thread] > 0) {
                    next = Math.min(next, bytes[thread] / each);
                } else if (seconds[thread] > 0) {
                    next = Math.min(next, seconds[thread]);
                }
            }
            now += next;
            for (int thread = 0; thread < all; thread++) {
                if (bytes[thread] > 0) {
                    bytes[thread] -= next * each;
                    bytes[thread] = bytes[thread] < 1e-3 ? 0 : bytes[thread];
                    done[rankOf[thread]] = now;
                } else if (seconds[thread] > 0) {
                    seconds[thread] -= next;
                    seconds[thread] = seconds[thread] < 1e-12 ? 0 : seconds[thread];
                    done[rankOf[thread]] = now;
                }
            }
        }
    }
}
