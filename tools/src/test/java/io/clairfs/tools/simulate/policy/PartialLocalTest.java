package io.clairfs.tools.simulate.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.data.Offset.offset;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.Scenarios;
import io.clairfs.tools.simulate.scenario.Workload;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Partial local shuffling, simulated on two nodes with room for 1.2 of their shares. */
final class PartialLocalTest {
    private static final int EPOCHS = 40;

    private static Setup setup() throws Exception {
        Scenario scenario = Scenarios.small();
        return Setup.of(scenario, new Workload(scenario));
    }

    /** Section III of the paper: of the samples that a node reads, Q (1 - 1/M) come from other nodes. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 0.15})
    void order_exchangesTheFraction(double fraction) throws Exception {
        Setup setup = setup();
        PartialLocal policy = PartialLocal.create(setup, fraction);
        long remote = 0;
        long reads = 0;
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            EpochOrder order = policy.order(epoch);
            for (int node = 0; node < setup.nodes(); node++) {
                for (int step = 0; step < order.length(node); step++) {
                    boolean isPeer = policy.place(node, order.sample(node, step)) >= setup.classes();
                    assertThat(isPeer && epoch == 0)
                            .as("all samples were loaded")
                            .isFalse();
                    remote += isPeer ? 1 : 0;
                    reads += epoch == 0 ? 0 : 1;
                }
            }
        }
        assertThat((double) remote / reads).isEqualTo(fraction / 2, offset(0.01));
    }

    @Test
    void create_withoutRoomForWhatIsReceived_isRefused() throws Exception {
        Setup setup = setup();
        assertThatThrownBy(() -> PartialLocal.create(setup, 0.5))
                .isInstanceOf(UnsupportedScenarioException.class)
                .hasMessageContaining("(1 + Q) of its share");
    }
}
