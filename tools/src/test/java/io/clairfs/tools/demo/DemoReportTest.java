package io.clairfs.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DemoReportTest {
    private static DemoReport report(boolean inSync, boolean sameBytes, long sourceReads) {
        return report(inSync, sameBytes, sourceReads, null);
    }

    private static DemoReport report(boolean inSync, boolean sameBytes, long sourceReads, @Nullable String found) {
        return new DemoReport(
                "PyTorch",
                2,
                32,
                0.064,
                2000,
                220_000_000,
                80_000_000,
                0.01,
                4.032,
                4.032,
                List.of(
                        new EpochFigures(1, 11.0, 7.0, 7.0 / 11, 2000, 220_000_000),
                        new EpochFigures(2, 10.0, 6.0, 0.6, 2000, 220_000_000)),
                List.of(
                        new EpochFigures(1, 4.2, 0.1, 0.1 / 4.2, 2000, 220_000_000),
                        new EpochFigures(2, 4.0, 0.02, 0.005, sourceReads, sourceReads * 110_000)),
                null,
                21.0 / 8.2,
                null,
                4000,
                10,
                0.0025,
                found == null,
                found,
                inSync,
                7,
                sameBytes);
    }

    @Test
    void jsonHasEveryFigureInSnakeCase() {
        JsonNode json = new JsonMapper().readTree(report(true, true, 0).json());
        assertThat(json.propertyNames())
                .containsExactly(
                        "trainer",
                        "workers",
                        "batch",
                        "compute_seconds_per_batch",
                        "samples",
                        "bytes",
                        "bandwidth_bytes_per_second",
                        "open_latency_seconds",
                        "ideal_seconds",
                        "first_epoch_bound_seconds",
                        "direct",
                        "mounted",
                        "fed",
                        "speedup",
                        "fed_speedup",
                        "reads_opened",
                        "reads_with_upcall",
                        "reads_with_upcall_fraction",
                        "told",
                        "found",
                        "in_sync",
                        "deviations",
                        "same_bytes");
        JsonNode epoch = json.get("mounted").get(0);
        assertThat(epoch.propertyNames())
                .containsExactly("epoch", "seconds", "wait_seconds", "wait_fraction", "source_reads", "source_bytes");
        assertThat(epoch.get("seconds").asDouble()).isEqualTo(4.2);
        assertThat(epoch.get("source_reads").asLong()).isEqualTo(2000);
        assertThat(json.get("direct")).hasSize(2);
    }

    @Test
    void textShowsBothSidesOfEveryEpoch() {
        assertThat(report(true, true, 0).text()).isEqualTo("""
                2000 JPEG files, 220.0 MB. The source: 80 MB/s for all readers together, 10 ms per open.
                The trainer: PyTorch with 2 workers, batches of 32, 64 ms of computation each.

                      | directly on the source                  | through clairfs
                epoch |  seconds  waited          source reads |  seconds  waited          source reads
                1     |    11.00    7.00   63.6%          2000 |     4.20    0.10    2.4%          2000
                2     |    10.00    6.00   60.0%          2000 |     4.00    0.02    0.5%             0
                ideal |     4.03    (computation alone)

                21.0 s directly, 8.2 s through clairfs: 2.6 times as fast. After the first epoch the trainer waited \
                0.5% of its time, and the source was read no more.
                10 of 4000 reads through the mount (0.25%) were answered by the daemon; the others came from the page cache.
                """);
    }

    @Test
    void textSaysWhatWasFoundWithoutBeingTold() {
        assertThat(report(true, true, 0, "found: torch-distributed seed=42, epoch 2")
                        .text())
                .contains("The seed was not told, and clairfs found: torch-distributed seed=42, epoch 2.");
    }

    @Test
    void textDoesNotHideWhatWentWrong() {
        assertThat(report(false, true, 3).text())
                .contains("the source was read 3 times")
                .contains("did not follow the predicted order (7 deviations)")
                .doesNotContain("NOT the same");
        assertThat(report(true, false, 0).text()).contains("NOT the same").doesNotContain("did not follow");
    }
}
