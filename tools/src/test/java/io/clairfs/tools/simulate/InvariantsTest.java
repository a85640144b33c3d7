package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What must hold in any scenario, on random small ones. */
class InvariantsTest {
    /** Prices follow the last few iterations, so runs that are as good as the same may differ by this much. */
    private static final double NOISE = 1.05;

    /**
     * Epochs after which it shows what storage is worth: it is filled while the first is read, from the same source, and NoPFS as
     * published also fetches to its classes what staging has just fetched.
     */
    private static final int LONG = 30;

    static LongStream seeds() {
        long first = System.nanoTime() & 0xffff;
        return LongStream.range(first, first + 25);
    }

    /** Caches that are faster than the source, which is slow enough to be worth it or not. */
    private static Scenario random(long seed) {
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        int nodes = 1 + random.nextInt(6);
        int batch = 1 + random.nextInt(16);
        int samples = nodes * batch * (10 + random.nextInt(60));
        double mean = Math.exp(random.nextDouble() * 6 - 4);
        double share = samples * mean / nodes;
        return new Scenario(
                "random-" + seed,
                nodes,
                20 + random.nextInt(200),
                100 + random.nextInt(400),
                5_000,
                new Scenario.Staging(mean * batch * (2 + random.nextInt(20)), 1 + random.nextInt(4), null, null),
                List.of(
                        new Scenario.Device("memory", share * random.nextDouble() * 2, 2, Rate.of(10_000), null),
                        new Scenario.Device("ssd", share * random.nextDouble() * 2, 2, Rate.of(4_000), null)),
                Rate.of(50 + random.nextInt(300)),
                null,
                new Scenario.Dataset(samples, mean, random.nextBoolean() ? 0 : mean / 4),
                1 + random.nextInt(8),
                batch,
                true,
                seed,
                random.nextInt(4) == 0 ? Scenario.Sync.NONE : Scenario.Sync.BULK);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void no_policy_is_below_the_lower_bound(long seed) throws IOException {
        SimulationReport report = Scenarios.runAll(random(seed));
        assertThat(report.lowerBoundSeconds()).isPositive();
        for (PolicyResult each : report.policies()) {
            if (each.unsupported() == null && !each.orderChanged()) {
                assertThat(each.seconds())
                        .as(each.name())
                        .isGreaterThanOrEqualTo(report.lowerBoundSeconds() * (1 - 1e-9));
                assertThat(each.epochs().stream().mapToDouble(e -> e).sum() + each.prepareSeconds())
                        .isCloseTo(each.seconds(), org.assertj.core.data.Percentage.withPercentage(1e-6));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void more_storage_is_never_slower(long seed) throws IOException {
        Scenario scenario = random(seed).withEpochs(LONG);
        double[] had = scenario.classes().stream()
                .mapToDouble(Scenario.Device::capacity)
                .toArray();
        notSlower(scenario, Policies.CLAIRFS, times -> new double[] {had[0] * times, had[1] * times});
        notSlower(scenario, Policies.CLAIRFS, times -> new double[] {had[0] * times, had[1]});
        notSlower(scenario, Policies.CLAIRFS, times -> new double[] {had[0], had[1] * times});
        // more memory can make NoPFS slower, as published: what its SSD's threads fetched, those of memory then fetch
        // as well
        notSlower(scenario, "nopfs", times -> new double[] {had[0], had[1] * times});
    }

    private static void notSlower(Scenario scenario, String policy, DoubleFunction<double[]> capacities)
            throws IOException {
        double before = Double.POSITIVE_INFINITY;
        for (double times : new double[] {0, 0.25, 0.5, 1, 2, 4}) {
            double[] each = capacities.apply(times);
            double now = Scenarios.run(scenario.withCapacities(each), policy).seconds();
            assertThat(now).as("%s with %s MB", policy, Arrays.toString(each)).isLessThan(before * NOISE);
            before = Math.min(before, now);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void clairfs_reads_the_traffic_bound(long seed) throws IOException {
        Scenario scenario = random(seed);
        PolicyResult ours = Scenarios.run(scenario, Policies.CLAIRFS);
        double largest = scenario.dataset().mean() + 6 * scenario.dataset().stddev();
        double lost = scenario.nodes() * 3 * largest * 1e6; // the last bytes of each class
        assertThat((double) ours.fetched().source().bytes())
                .isGreaterThanOrEqualTo(Scenarios.trafficBound(scenario) * (1 - 1e-9))
                .isLessThanOrEqualTo(Scenarios.trafficBound(scenario) + (scenario.epochs() - 1) * lost + 1);
    }

    @Test
    void same_seed_gives_the_same_another_does_not() throws IOException {
        Scenario scenario = Scenarios.small();
        assertThat(Scenarios.runAll(scenario)).isEqualTo(Scenarios.runAll(Scenarios.small()));
        Scenario other = ScenarioFile.read("other", Scenarios.FILE.replace("seed: 7", "seed: 8"));
        assertThat(Scenarios.run(other, "nopfs").seconds())
                .isNotEqualTo(Scenarios.run(scenario, "nopfs").seconds());
    }
}
