package io.clairfs.tools.simulate.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.simulate.policy.Policies;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScenarioFileTest {
    @Test
    void every_named_scenario_can_be_read_and_has_its_name() throws IOException {
        for (String name : ScenarioFile.names()) {
            assertThat(ScenarioFile.load(name).name()).isEqualTo(name);
        }
    }

    @Test
    void rates_are_numbers_or_maps() throws IOException {
        Scenario scenario = Scenarios.small();
        assertThat(scenario.classes().get(0).read()).isEqualTo(Rate.of(1000));
        assertThat(scenario.classes().get(1).read().byThreads())
                .containsEntry(1, 300.0)
                .containsEntry(2, 500.0);
        assertThat(scenario.classes().get(1).write()).isNull();
        assertThat(scenario.sync()).isEqualTo(Scenario.Sync.BULK);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nodes: 2 | nodes: 0 | nodes is 0",
                "nodes: 2 | nodes: two | nodes",
                "nodes: 2 | nodez: 2 | unknown key 'nodez'",
                "nodes: 2 | '' | key 'nodes' is missing",
                "compute: 100 | compute: -1 | compute is -1",
                "network: 1000 | network: 1e303 | network is 1.0E303",
                "epochs: 4 | epochs: 0 | epochs is 0",
                "batch: 5 | batch: 500 | not one batch",
                "sync: bulk | sync: sometimes | sync",
                "sync: bulk | '' | key 'sync' is missing",
                "sync: bulk | 'sync:' | sync is missing",
                "'seed: 7' | 'sampler: grain\nseed: 7' | sampler is 'grain'; it is torch-distributed",
                "{1: 50, 2: 80} | {one: 50} | one",
                "{1: 50, 2: 80} | {1: -50} | -50",
                "{1: 50, 2: 80} | fast | a rate is a number",
                "{1: 50, 2: 80} | {} | a rate without any number",
                "samples: 400 | samples: 0 | dataset.samples is 0",
                "mean: 0.25 | mean: 3000 | 2,000 MB",
                "name: ssd | name: memory | two classes of one name",
                "capacity: 20, | capacity: -20, | class memory: capacity",
                "seed: 7 | @seed: 7 | not YAML",
                "seed: 7 | nodes: 3 | nodes",
                "'source: {1: 50, 2: 80}' | '' | key 'source' is missing",
                "'source: {1: 50, 2: 80}' | 'source_total: -3' | -3",
                "'seed: 7' | 'source_total: 160\nseed: 7' | both source and source_total",
                "threads: 2, read: 1000, write | threadz: 2, read: 1000, write | threadz",
            })
    void what_is_wrong_is_said_in_one_line(String right, String wrong, String reason) {
        assertThatThrownBy(() -> ScenarioFile.read("bad.yaml", Scenarios.FILE.replace(right, wrong)))
                .isInstanceOf(InvalidScenarioException.class)
                .message()
                .startsWith("bad.yaml")
                .contains(reason)
                .hasLineCount(1)
                .doesNotContain("io.clairfs");
    }

    @Test
    void sampler_is_optional() throws IOException {
        Scenario scenario = ScenarioFile.read(
                "sampler.yaml", Scenarios.FILE.replace("seed: 7", "sampler: locality-aware cached=0.8\nseed: 7"));
        assertThat(scenario.sampler()).isEqualTo("locality-aware cached=0.8");
        assertThat(scenario.shrunk(2).withEpochs(1).sampler()).isEqualTo(scenario.sampler());
        assertThat(Scenarios.small().sampler()).isNull();
        assertThat(ScenarioFile.read("text.yaml", ScenarioFile.text(scenario))).isEqualTo(scenario);
    }

    /** Two threads on each node. Both nodes together get p_0 t(gamma). */
    @Test
    void rate_of_the_source_is_of_a_thread_or_of_all() throws IOException {
        Scenario ofThread = Scenarios.small();
        Scenario ofAll = ScenarioFile.read(
                "total.yaml", Scenarios.FILE.replace("source: {1: 50, 2: 80}", "source_total: {1: 100, 2: 160}"));
        assertThat(ofAll.source()).isNull();
        assertThat(ofAll.model()).isEqualTo(ofThread.model());
        assertThat(ofAll.shrunk(2).withEpochs(1).model()).isEqualTo(ofThread.model());
        assertThat(Scenarios.run(ofAll, "naive").seconds())
                .isEqualTo(Scenarios.run(ofThread, "naive").seconds());
    }

    @Test
    void what_many_nodes_get_in_total_stays_when_one_was_measured() throws IOException {
        Scenario total =
                ScenarioFile.read("total.yaml", Scenarios.FILE.replace("source: {1: 50, 2: 80}", "source_total: 3000"));
        ModelFile.Device source = new ModelFile.Device(null, null, Map.of(2, 500.0), null);
        Scenario calibrated = total.calibrated(new ModelFile(source, null, null, null, null, null, null, null));
        assertThat(calibrated.sourceTotal()).isNotNull();
        assertThat(calibrated.sourceTotal().byThreads()).containsOnly(Map.entry(1, 500.0), Map.entry(2, 3000.0));
        ModelFile.Device unreadable = new ModelFile.Device(null, null, Map.of(), null);
        assertThat(total.calibrated(new ModelFile(unreadable, null, null, null, null, null, null, null))
                        .sourceTotal())
                .isEqualTo(total.sourceTotal());
    }

    @ParameterizedTest
    @CsvSource({"''", "' '", "'# nothing'", "just words", "'[1, 2]'"})
    void file_without_keys_is_refused(String text) {
        assertThatThrownBy(() -> ScenarioFile.read("bad.yaml", text))
                .isInstanceOf(InvalidScenarioException.class)
                .message()
                .startsWith("bad.yaml")
                .hasLineCount(1)
                .doesNotContain("io.clairfs");
    }

    @Test
    void neither_name_nor_file() {
        assertThatThrownBy(() -> ScenarioFile.load("no-such-thing"))
                .hasMessageContaining("no-such-thing")
                .hasMessageContaining("nopfs-imagenet-1k");
    }

    @ParameterizedTest
    @CsvSource({"partial-local:2", "partial-local:", "belady", "''"})
    void unknown_policies_are_refused(String name) {
        assertThatThrownBy(() -> Policies.check(name)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({"lower-bound", "clairfs", "partial-local", "partial-local:0", "partial-local:0.25", "partial-local:1"})
    void known_policies_are_taken(String name) {
        Policies.check(name);
    }
}
