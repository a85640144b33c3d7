package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.scenario.Rate;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import io.clairfs.tools.simulate.scenario.Scenarios;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Invariants of all scenarios, tested on random small ones. */
class InvariantsTest {
    static LongStream seeds() {
        long first = Long.getLong("clairfs.simulate.seed", 1);
        return LongStream.range(first, first + 25);
    }

    /** A random scenario: its caches are faster than the source, which may or may not be slow enough for caches to pay off. */
    static Scenario random(long seed) {
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
                random.nextInt(4) == 0 ? Scenario.Sync.NONE : Scenario.Sync.BULK,
                null);
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
    void clairfs_reads_the_traffic_bound(long seed) throws IOException {
        Scenario scenario = random(seed);
        PolicyResult ours = Scenarios.run(scenario, Policies.CLAIRFS);
        double largest = scenario.dataset().mean() + 6 * scenario.dataset().stddev();
        double lost = scenario.nodes() * 3 * largest * 1e6; // the unused last bytes of each class
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
