package io.clairfs.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

class ProgressTest {
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(printed, true, UTF_8);

    @Test
    void elsewhereThanOnATerminalItIsOneLine() {
        try (Progress progress = Progress.begin("making files", 10, out, false)) {
            progress.at(5);
            progress.note("now");
            progress.at(10);
        }
        assertThat(printed.toString(UTF_8)).isEqualTo("making files ...\n");
    }

    @Test
    void onATerminalItIsOneLineThatChangesAndFitsIt() {
        try (Progress progress = Progress.begin("making files", 10, out, true)) {
            progress.at(10);
        }
        String all = printed.toString(UTF_8);
        assertThat(all)
                .startsWith("\rmaking files")
                .endsWith("\n")
                .containsOnlyOnce("\n")
                .contains("100%");
        assertThat(all.split("\r"))
                .allSatisfy(state -> assertThat(state.strip()).hasSizeLessThan(80));
    }
}
