package io.clairfs.tools.node.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.tools.config.ModelFile;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What nodes tell of themselves, and the model that follows from it. */
final class NodeFactsTest {
    private static NodeFacts measured(double sourceMega, double networkMega, double peerLatency) {
        ModelFile.Device source = new ModelFile.Device(null, 0.004, Map.of(1, sourceMega, 8, 2 * sourceMega), null);
        ModelFile.Device ssd = new ModelFile.Device(2, null, Map.of(2, 900.0), Map.of(2, 300.0));
        return new NodeFacts(
                List.of(1_000L, 5_000L), new ModelFile(source, null, ssd, networkMega, peerLatency, 400.0, null, null));
    }

    private static final NodeFacts UNMEASURED = new NodeFacts(List.of(7L), ModelFile.UNMEASURED);

    @Test
    void bytes_travel() {
        NodeFacts facts = measured(50, 1_000, 1e-4);
        NodeFacts there = NodeFacts.read(facts.bytes());
        assertThat(there).isEqualTo(facts);
        List<StorageClass> classes = there.storage().classes();
        assertThat(classes).extracting(StorageClass::capacityBytes).containsExactly(1_000L, 5_000L);
        assertThat(classes.getLast().threads()).isEqualTo(2);
        assertThat(classes.getLast().read().at(2)).isEqualTo(900e6);
        assertThat(NodeFacts.read(UNMEASURED.bytes())).isEqualTo(UNMEASURED);
    }

    @Test
    void bytes_ofMeasurementsThatAreTooLong_areTheRoomAlone() {
        Map<Integer, Double> many = new TreeMap<>();
        for (int threads = 1; threads < 1_000; threads++) {
            many.put(threads, 100.0 + threads);
        }
        ModelFile tooLong =
                new ModelFile(new ModelFile.Device(null, null, many, null), null, null, null, null, null, null, null);
        assertThat(NodeFacts.read(new NodeFacts(List.of(7L), tooLong).bytes())).isEqualTo(UNMEASURED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "no JSON",
                "{}",
                "{\"capacities\":[-1],\"model\":{}}",
                "{\"capacities\":[1000]}",
                "{\"capacities\":[],\"model\":null}",
                "{\"capacities\":[1],\"model\":{\"network\":-1}}"
            })
    void read_ofWhatCannotBeRead_isANodeWithoutRoom(String said) {
        assertThat(NodeFacts.read(said.getBytes(UTF_8)).storage().classes()).isEmpty();
    }

    @Test
    void readHex_ofWhatIsNone_isANodeWithoutRoom() {
        assertThat(NodeFacts.readHex("zz").storage().classes()).isEmpty();
    }

    @Test
    void combined_ofNodesThatWereNotMeasured_isTheGuess() {
        assertThat(NodeFacts.combined(List.of(UNMEASURED, UNMEASURED))).isEqualTo(PerformanceModel.unmeasured());
    }

    @Test
    void combined_isTheMedianOfEachParameter_inAnyOrder() {
        List<NodeFacts> nodes = Stream.of(
                        measured(50, 1_000, 3e-4), measured(10, 3_000, 1e-4), measured(90, 2_000, 2e-4))
                .toList();
        PerformanceModel model = NodeFacts.combined(nodes);
        assertThat(model.networkBytesPerSecond()).isEqualTo(2_000e6);
        assertThat(model.peerLatencySeconds()).isEqualTo(2e-4);
        assertThat(model.source().at(8)).isEqualTo(100e6);
        assertThat(model.sourceLatencySeconds()).isEqualTo(0.004);
        assertThat(NodeFacts.combined(nodes.reversed())).isEqualTo(model);
        assertThat(NodeFacts.combined(nodes.subList(0, 2)).networkBytesPerSecond())
                .isEqualTo(1_000e6);
    }
}
