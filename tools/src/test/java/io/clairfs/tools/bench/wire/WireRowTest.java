package io.clairfs.tools.bench.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The lines of the result. */
final class WireRowTest {
    @Test
    void line_hasTheFigure_andTheRatioToEachBeside() {
        Map<String, Double> beside = new LinkedHashMap<>();
        beside.put("local", 50.0);
        beside.put("bindfs", 200.0);
        assertThat(new WireRow("first read", 110_000, 4, "us/file", 100, beside).line("110KB"))
                .containsSubsequence(
                        "first read", "110KB", "4", "100.00 us/file", "local 50.00 (2.00)", "bindfs 200.00 (0.50)")
                .endsWith("\n");
    }

    @Test
    void median_isTheMiddle_orTheLargerOfTwo() {
        assertThat(Medians.of(List.of(3, 1, 2))).isEqualTo(2);
        assertThat(Medians.of(List.of(4L, 1L, 3L, 2L))).isEqualTo(3);
    }
}
