package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Percentage.withPercentage;

import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import io.clairfs.tools.simulate.scenario.Scenarios;
import io.clairfs.tools.simulate.scenario.Workload;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The published output of the original simulator. docs/SIMULATOR.md names its origin. */
class PublishedNumbersTest {
    private static final Map<String, Scenario> SCENARIOS = new ConcurrentHashMap<>();

    private static Scenario scenario(String name) throws IOException {
        Scenario known = SCENARIOS.get(name);
        if (known == null) {
            known = ScenarioFile.load(name);
            SCENARIOS.put(name, known);
        }
        return known;
    }

    private static double bound(Scenario scenario) throws Exception {
        return Simulation.lowerBound(scenario, new Workload(scenario), _ -> {});
    }

    @ParameterizedTest
    @CsvSource({"thesis-1, 7.30", "thesis-2, 3825.66", "thesis-4, 15204.78"})
    void lower_bound_of_the_thesis(String name, double published) throws Exception {
        assertThat(bound(scenario(name))).isCloseTo(published, withPercentage(0.5));
    }

    @ParameterizedTest
    @CsvSource({
        "nopfs-mnist, 0.148",
        "nopfs-imagenet-1k, 655.3",
        "nopfs-openimages, 2274.1",
        "nopfs-imagenet-22k, 9585.2",
        "nopfs-cosmoflow, 17408",
        "nopfs-cosmoflow-512, 19531"
    })
    void lower_bound_of_an_epoch_of_nopfs_section_6_1(String name, double seconds) throws Exception {
        assertThat(bound(scenario(name).withEpochs(1))).isCloseTo(seconds, withPercentage(0.5));
    }

    @ParameterizedTest
    @CsvSource({
        "thesis-1, naive, 27.78, 5",
        "thesis-2, naive, 15130.54, 5",
        "thesis-4, naive, 60526.36, 5",
        "thesis-1, nopfs, 7.78, 3",
        "thesis-2, nopfs, 3836.12, 3",
        "thesis-4, nopfs, 16795.17, 3",
        "thesis-1, staging-buffer, 10.24, 20",
        "thesis-2, staging-buffer, 4982.27, 20",
        "thesis-4, staging-buffer, 19888.26, 20",
        "thesis-1, deepio-ordered, 8.41, 1",
        "thesis-2, deepio-ordered, 4433.27, 1",
        "thesis-4, deepio-ordered, 54122.52, 1",
        "thesis-1, deepio-opportunistic, 8.40, 1",
        "thesis-2, deepio-opportunistic, 4432.90, 1",
        "thesis-4, deepio-opportunistic, 16034.89, 1",
        "thesis-4, parallel-staging, 16861.82, 1",
        "thesis-1, lbann-dynamic, 7.71, 2",
        "thesis-2, lbann-dynamic, 4051.12, 2",
        "thesis-1, lbann-preload, 8.41, 1",
        "thesis-2, lbann-preload, 4433.27, 1",
        "thesis-1, locality-aware, 8.41, 1",
        "thesis-2, locality-aware, 4433.27, 1",
        "thesis-4, locality-aware, 19082.99, 7"
    })
    void policy_of_the_thesis(String name, String policy, double published, double percent) throws IOException {
        PolicyResult result = Scenarios.run(scenario(name), policy);
        System.out.printf("%s %s: %.2f, published %.2f%n", name, policy, result.seconds(), published);
        assertThat(result.seconds()).isCloseTo(published, withPercentage(percent));
    }

    @ParameterizedTest
    @CsvSource({
        "thesis-2, deepio-ordered, 607.61",
        "thesis-2, lbann-preload, 607.61",
        "thesis-2, locality-aware, 607.61",
        "thesis-4, deepio-opportunistic, 830.11",
        "thesis-4, parallel-staging, 1657.04"
    })
    void what_comes_before_the_first_epoch(String name, String policy, double published) throws IOException {
        assertThat(Scenarios.run(scenario(name), policy).prepareSeconds()).isCloseTo(published, withPercentage(1));
    }

    @ParameterizedTest
    @CsvSource({"thesis-4, lbann-dynamic", "thesis-4, lbann-preload", "nopfs-cosmoflow-512, lbann-dynamic"})
    void lbann_says_that_data_is_larger_than_memory(String name, String policy) throws IOException {
        assertThat(Scenarios.run(scenario(name), policy).unsupported()).contains("larger than the memory of all nodes");
    }

    /** NoPFS section 6.2: staging buffers of 1, 2, 4 or 5 GB without caches give the same time. */
    @Test
    void size_of_the_staging_buffer_alone_does_not_matter() throws IOException {
        Scenario whole = Scenarios.named("nopfs-imagenet-22k", 1_000_000).withCapacities(0, 0);
        double[] seconds = new double[4];
        int i = 0;
        for (double capacity : new double[] {1000, 2000, 4000, 5000}) {
            Scenario each = new Scenario(
                    whole.name(),
                    whole.nodes(),
                    5 * whole.compute(),
                    5 * whole.preprocess(),
                    whole.network(),
                    new Scenario.Staging(
                            capacity, 8, whole.staging().read(), whole.staging().write()),
                    whole.classes(),
                    whole.source(),
                    whole.sourceTotal(),
                    whole.dataset(),
                    whole.epochs(),
                    whole.batch(),
                    whole.dropLast(),
                    whole.seed(),
                    whole.sync(),
                    whole.sampler());
            seconds[i++] = Scenarios.run(each, "nopfs").seconds();
        }
        assertThat(java.util.Arrays.stream(seconds).boxed())
                .allSatisfy(each -> assertThat(each).isCloseTo(seconds[0], withPercentage(0.1)));
    }
}
