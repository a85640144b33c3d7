package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.FurtherCases;
import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.report.WhatIf;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import io.clairfs.tools.simulate.scenario.Scenarios;
import java.io.IOException;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** More storage of any class never makes a run slower. */
class MoreStorageTest {
    private static final double[] STEPS = {0, 0.25, 0.5, 1, 2, 4};
    private static final long READS = 200_000;

    /** The tolerance of the larger scenarios. */
    private static final double EXACT = 1.0005;

    /**
     * The tolerance of the small scenarios. In the first epoch either staging or the fillers fetch a sample first. This is decided batch by
     * batch, and depends on chance with a few batches of a few samples.
     */
    private static final double LUCK = 1.03;

    /** The epochs after which more storage pays off with NoPFS, whose classes fetch again what staging has just fetched. */
    private static final int LONG = 30;

    static List<String> names() throws IOException {
        return FurtherCases.orFirst(ScenarioFile.names());
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, FurtherCases.of(40));
    }

    @ParameterizedTest
    @MethodSource("names")
    void of_any_class_in_the_named_scenarios(String name) throws IOException {
        notSlower(Scenarios.named(name, READS), Policies.CLAIRFS, EXACT);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void of_any_class_in_random_scenarios(long seed) throws IOException {
        notSlower(InvariantsTest.random(seed), Policies.CLAIRFS, LUCK);
    }

    /** More memory can make NoPFS slower, as published: its memory threads fetch again what its SSD threads have fetched. */
    @Tag("exhaustive")
    @ParameterizedTest
    @MethodSource("seeds")
    void of_the_ssd_with_nopfs(long seed) throws IOException {
        Scenario scenario = InvariantsTest.random(seed).withEpochs(LONG);
        double before = Double.POSITIVE_INFINITY;
        for (double times : STEPS) {
            double now = seconds(scenario, "nopfs", 1, times);
            assertThat(now)
                    .as("%s with %s times the SSD", scenario.name(), times)
                    .isLessThan(before * 1.05);
            before = Math.min(before, now);
        }
    }

    /** Tests the table of the report, which runs a part of the samples with a part of the room. */
    @Test
    void in_the_what_if_table() throws Exception {
        WhatIf whatIf = WhatIf.of(ScenarioFile.load("lobster-8-nodes"), Scenarios.SILENT);
        double[] seconds = whatIf.seconds()[0];
        for (int column = 1; column < seconds.length; column++) {
            assertThat(seconds[column])
                    .as("%s MB of memory", whatIf.memory()[column])
                    .isLessThanOrEqualTo(seconds[column - 1] * EXACT);
        }
    }

    private static void notSlower(Scenario scenario, String policy, double factor) throws IOException {
        double[] ssds = scenario.classes().size() < 2 ? new double[] {1} : STEPS;
        double[][] least = new double[ssds.length][STEPS.length];
        for (int row = 0; row < ssds.length; row++) {
            for (int column = 0; column < STEPS.length; column++) {
                double now = seconds(scenario, policy, STEPS[column], ssds[row]);
                double before = Math.min(
                        row == 0 ? Double.POSITIVE_INFINITY : least[row - 1][column],
                        column == 0 ? Double.POSITIVE_INFINITY : least[row][column - 1]);
                assertThat(now)
                        .as("%s with %s times the memory, %s times the SSD", scenario.name(), STEPS[column], ssds[row])
                        .isLessThanOrEqualTo(before * factor);
                least[row][column] = Math.min(now, before);
            }
        }
    }

    private static double seconds(Scenario scenario, String policy, double memory, double ssd) throws IOException {
        double[] capacities = scenario.classes().stream()
                .mapToDouble(Scenario.Device::capacity)
                .toArray();
        capacities[0] *= memory;
        if (capacities.length > 1) {
            capacities[1] *= ssd;
        }
        return Scenarios.run(scenario.withCapacities(capacities), policy).seconds();
    }
}
