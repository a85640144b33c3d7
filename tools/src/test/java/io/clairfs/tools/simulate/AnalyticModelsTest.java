package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;
import static org.assertj.core.data.Percentage.withPercentage;

import io.clairfs.tools.simulate.scenario.AccessFrequency;
import io.clairfs.tools.simulate.scenario.ReuseDistance;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import io.clairfs.tools.simulate.scenario.Scenarios;
import io.clairfs.tools.simulate.scenario.Workload;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Analytical results of the papers, beside their simulations. */
class AnalyticModelsTest {
    private static Workload imageNet(int nodes, int epochs) throws Exception {
        Scenario whole = ScenarioFile.load("nopfs-imagenet-1k");
        Scenario.Dataset dataset = new Scenario.Dataset(1_281_167, 0.1, 0);
        return new Workload(new Scenario(
                "figure 3",
                nodes,
                whole.compute(),
                whole.preprocess(),
                whole.network(),
                whole.staging(),
                whole.classes(),
                whole.source(),
                whole.sourceTotal(),
                dataset,
                epochs,
                32,
                false,
                1,
                whole.sync(),
                whole.sampler()));
    }

    /** NoPFS section 3.1 and figure 3. */
    @Test
    void samples_that_one_of_16_nodes_reads_more_than_10_times_in_90_epochs() throws Exception {
        double expected = IntStream.rangeClosed(11, 90)
                .mapToDouble(times -> AccessFrequency.expected(1_281_167, 90, 16, times))
                .sum();
        assertThat(expected).isCloseTo(31_634.7, offset(0.1));
        long[] counted = AccessFrequency.counted(imageNet(16, 90), 90);
        long above = Arrays.stream(counted).skip(11).sum();
        System.out.println("read more than 10 times: " + above + ", expected " + expected + ", published 31,863");
        assertThat((double) above).isCloseTo(expected, withPercentage(1.5));
    }

    /** Shares of reads that the samples a node reads most would serve: reference values in closed form. */
    @ParameterizedTest
    @CsvSource({"4, 10, 0.25, 43.0", "16, 90, 0.0625, 11.7", "2, 5, 0.334, 48.9"})
    void share_of_reads_of_the_most_frequent_samples(int nodes, int epochs, double kept, double percent) {
        double left = kept;
        double reads = 0;
        for (int times = epochs; times > 0 && left > 0; times--) {
            double share = Math.min(left, AccessFrequency.expected(1, epochs, nodes, times));
            reads += share * times;
            left -= share;
        }
        assertThat(100 * reads * nodes / epochs).isCloseTo(percent, offset(0.1));
    }

    /** Yang and Cong, figure 6. */
    @ParameterizedTest
    @CsvSource({
        "32, 16, 6.9",
        "32, 64, 6.9",
        "32, 256, 6.9",
        "64, 16, 4.8",
        "64, 64, 4.8",
        "64, 256, 4.8",
        "128, 16, 3.4",
        "128, 64, 3.4",
        "128, 256, 3.4"
    })
    void median_imbalance_of_global_batches(int batch, int nodes, double published) {
        double median = 100 * BatchImbalance.median(BatchImbalance.simulated(1_281_167, nodes, batch, 1000, 1));
        System.out.printf("batch %d, %d nodes: %.2f %%, published %.1f %%%n", batch, nodes, median, published);
        assertThat(median).isCloseTo(published, offset(0.3));
        assertThat(median).isCloseTo(100 * BatchImbalance.expected(nodes, batch), offset(0.3));
    }

    /** Yang and Cong, equations 1 to 8. */
    @Test
    void equations_of_the_cache_model() {
        CacheModel model = new CacheModel(1_280_000, 16, 1_000, 20_000, 100_000, 4_000, 0.75);
        assertThat(model.trainingSeconds()).isEqualTo(80);
        assertThat(model.storageSeconds()).isEqualTo(64);
        assertThat(model.preprocessingSeconds()).isEqualTo(20);
        assertThat(model.loadingSeconds()).isEqualTo(84);
        assertThat(model.nodesBoundByTraining()).isEqualTo(20);
        assertThat(model.trueCostSeconds()).isEqualTo(80);
        assertThat(model.distributedCacheSeconds()).isCloseTo(16 + 9.6 * 15 / 16, offset(1e-9));
        assertThat(model.localityAwareSeconds(0.048)).isCloseTo(16 + 9.6 * 0.048, offset(1e-9));
        CacheModel more = new CacheModel(1_280_000, 64, 1_000, 20_000, 100_000, 4_000, 1);
        assertThat(more.trueCostSeconds()).isEqualTo(64);
        assertThat(more.localityAwareSeconds(0.048)).isLessThan(more.distributedCacheSeconds());
    }

    /**
     * Yang and Cong, equations 6 and 8: how much faster 256 nodes are with samples from caches than from a storage system that is their
     * bottleneck. They published 34 times, for a system of which they give symbols only.
     *
     * @param network of a node, MB/s: with 6 the moved samples take longer than the training
     * @param percent that the simulation may differ; the equations do not know that nodes wait for the one that gets most samples
     */
    @ParameterizedTest
    @CsvSource({"24000, 3", "6, 6"})
    void nodes_256_from_caches_and_from_storage(double network, double percent) throws Exception {
        int nodes = 256;
        int samples = 1_281_167;
        double mega = 0.117;
        Scenario scenario = ScenarioFile.read("256.yaml", """
                name: 256 nodes
                nodes: 256
                compute: 164
                preprocess: 1000000
                network: %s
                staging: {capacity: 5000, threads: 1, read: 111000, write: 111000}
                classes:
                  - {name: memory, capacity: 100000, threads: 4, read: 85000, write: 85000}
                source: {1: 330, 2: 730, 4: 1540, 8: 2870}
                dataset: {samples: 1281167, mean: 0.117, stddev: 0}
                epochs: 2
                batch: 32
                drop_last: true
                seed: 1
                sync: bulk
                """.formatted(network));
        double moved = BatchImbalance.expected(nodes, 32);
        CacheModel model =
                new CacheModel(samples, nodes, 164 / mega, 2_870 / mega, nodes * network / mega, 1e6 / mega, 1);
        double expected =
                model.trueCostSeconds() / Math.max(model.trainingSeconds(), model.localityAwareSeconds(moved));
        double source = Scenarios.run(scenario, "staging-buffer").epochs().getLast();
        double caches = Scenarios.run(scenario, "locality-aware").epochs().getLast();
        System.out.printf(
                "256 nodes, %s MB/s: %.2f s from the source, %.2f s from caches: %.2f times, by the equations %.2f%n",
                network, source, caches, source / caches, expected);
        assertThat(source / caches).isCloseTo(expected, withPercentage(percent));
    }

    /**
     * Lobster figure 4: with full shuffles most reuses are far away, 80 % beyond 1,000 iterations in its runs. Here: an epoch or more away.
     */
    @Test
    void most_reuses_are_far_away() throws Exception {
        Scenario eight = Scenarios.named("lobster-8-nodes", 2_000_000).withEpochs(40);
        Workload load = new Workload(eight);
        ReuseDistance distance = ReuseDistance.counted(load, eight.batch(), 40, 40 * load.iterations());
        int epoch = load.iterations();
        System.out.printf("reuses an epoch or more away: %.1f %%%n", 100 * distance.shareFrom(epoch));
        // a node reads a sample in an epoch with probability 1/N: geometric in epochs, spread by the positions in the
        // two epochs
        double expected = 1 - 0.5 / 8;
        assertThat(distance.shareFrom(epoch)).isCloseTo(expected, offset(0.02));
        assertThat(distance.shareFrom(1)).isCloseTo(1, offset(1e-3));
    }
}
