package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.simulate.scenario.RandomScenarios;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** A small part of {@link PolicySweep}: each kind of tiers once. */
final class PolicySweepTest {
    private static final int SCENARIOS = 7;
    private static final int READS = 400_000;

    @Test
    void clairfs_is_best_or_equal_in_a_few_random_scenarios() throws IOException {
        assertThat(PolicySweep.lost(1, SCENARIOS, READS)).isEmpty();
    }

    @Test
    void a_printed_scenario_can_be_read_again() throws IOException {
        for (int number = 0; number < SCENARIOS; number++) {
            Scenario scenario = RandomScenarios.of(2, number, READS);
            assertThat(ScenarioFile.read("printed", ScenarioFile.text(scenario)))
                    .isEqualTo(scenario);
        }
    }
}
