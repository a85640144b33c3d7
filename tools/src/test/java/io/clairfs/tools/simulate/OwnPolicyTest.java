package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.FurtherCases;
import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import io.clairfs.tools.simulate.scenario.Scenarios;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Our policy beside the others in the named scenarios. The large scenarios run with a part of their samples and of their storage. */
class OwnPolicyTest {
    private static final long READS = 1_000_000;

    /** Scenarios with an SSD about as slow as the source. A few of its samples come from the source, so that no node waits for the SSD. */
    private static final Set<String> SLOW_SSD = Set.of("thesis-2", "thesis-4");

    static List<String> names() throws IOException {
        return FurtherCases.orFirst(ScenarioFile.names());
    }

    @ParameterizedTest
    @MethodSource("names")
    void clairfs_is_never_slower_than_what_keeps_data_and_order_and_reads_the_bound(String name) throws IOException {
        Scenario scenario = Scenarios.named(name, READS);
        SimulationReport report = Scenarios.runAll(scenario);
        PolicyResult ours = Scenarios.of(report, Policies.CLAIRFS);
        for (PolicyResult each : Scenarios.comparable(report)) {
            System.out.printf("%s %s: %.4f x bound%n", name, each.name(), each.seconds() / report.lowerBoundSeconds());
            assertThat(ours.seconds()).as(each.name()).isLessThanOrEqualTo(each.seconds() * (1 + 1e-9));
        }
        double bound = Scenarios.trafficBound(scenario);
        System.out.printf(
                "%s: %.5f x the traffic bound%n", name, ours.fetched().source().bytes() / bound);
        assertThat((double) ours.fetched().source().bytes())
                .isBetween(0.99 * bound, (SLOW_SSD.contains(name) ? 1.015 : 1.005) * bound);
    }
}
