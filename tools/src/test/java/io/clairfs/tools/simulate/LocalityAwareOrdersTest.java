package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.plan.Planner;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.policy.Policy;
import io.clairfs.tools.simulate.policy.Setup;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import io.clairfs.tools.simulate.scenario.Scenarios;
import io.clairfs.tools.simulate.scenario.Workload;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Locality-aware orders in the simulator: the policy of the paper, and our own policy with such an order. */
class LocalityAwareOrdersTest {
    private static final String LOCALITY_AWARE = "locality-aware";

    @Test
    void batches_of_the_policy_keep_their_samples_and_are_even() throws Exception {
        Scenario scenario = Scenarios.small();
        Workload load = new Workload(scenario);
        EpochOrder order = load.order(0);
        EpochOrder dealt =
                Policies.create(LOCALITY_AWARE, Setup.of(scenario, load)).order(0);
        assertThat(dealt.length(0)).isEqualTo(load.reads());
        for (int first = 0; first < load.reads(); first += 5) {
            int[] before = new int[10];
            int[] after = new int[10];
            for (int i = 0; i < 10; i++) {
                before[i] = order.sample(i % 2, first + i / 2);
                after[i] = dealt.sample(i % 2, first + i / 2);
            }
            assertThat(after).containsExactlyInAnyOrder(before);
        }
    }

    /** The daemon's planner, told nothing but the orders, places a sample where the policy keeps it. */
    @Test
    void homes_follow_the_orders_of_the_policy() throws Exception {
        int epochs = 12;
        Scenario scenario = Scenarios.small().withEpochs(epochs);
        Workload load = new Workload(scenario);
        Policy policy = Policies.create(LOCALITY_AWARE, Setup.of(scenario, load));
        int[] sizes = load.sizes();
        PlanRequest request = new PlanRequest(
                sizes.length,
                sample -> sizes[sample],
                List.of(new Need(policy::order, 0, epochs, new int[] {0, 1})),
                List.of(scenario.storage(), scenario.storage()),
                scenario.model());
        Placement placement = new Planner(PlanLimits.DEFAULT).plan(request, PlacementPolicy.CLAIRFS);
        int memory = scenario.memoryClass();
        int kept = 0;
        for (int sample = 0; sample < sizes.length; sample++) {
            boolean here = policy.place(0, sample) == memory;
            if (here || policy.place(1, sample) == memory) {
                assertThat(placement.home(sample)).as("sample %d", sample).isEqualTo(here ? 0 : 1);
                kept++;
            }
        }
        assertThat(kept).isGreaterThan(100);
    }

    /** Yang and Cong, equations 7 and 8: (P - 1) / P of the bytes come from other nodes, or the moved share of a step. */
    @Test
    void our_policy_moves_few_bytes_between_nodes_with_such_an_order() throws Exception {
        Scenario kept = ScenarioFile.read("kept.yaml", """
                name: kept
                nodes: 4
                compute: 100
                preprocess: 1000
                network: 100
                staging: {capacity: 60, threads: 2, read: 10000, write: 10000}
                classes:
                  - {name: memory, capacity: 260, threads: 2, read: 10000, write: 10000}
                source_total: 40
                dataset: {samples: 10240, mean: 0.1, stddev: 0}
                epochs: 12
                batch: 32
                drop_last: true
                seed: 7
                sync: bulk
                """);
        double bytes = new Workload(kept).bytes();
        double usual = peerBytes(kept) / bytes / kept.epochs();
        double few = peerBytes(kept.withSampler(LOCALITY_AWARE)) / bytes / kept.epochs();
        System.out.printf("bytes from other nodes in an epoch: %.4f S, locality-aware %.4f S%n", usual, few);
        assertThat(usual).isGreaterThan(0.5);
        assertThat(few).isLessThan(BatchImbalance.expected(4, 32) + 0.01);
    }

    private static double peerBytes(Scenario scenario) throws IOException {
        return Scenarios.run(scenario, Policies.CLAIRFS).fetched().peer().bytes();
    }
}
