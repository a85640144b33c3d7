package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.tools.simulate.scenario.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** {@code clairfs simulate --calibration} with the file that {@code clairfs calibrate} writes. */
final class SimulateCalibratedTest {
    private static final int FILES = 80;

    @TempDir
    private Path directory;

    private String clairfs(String... arguments) throws IOException, InterruptedException {
        return Ended.run(Clairfs.command(arguments), Map.of()).succeeded();
    }

    private Path scenario() throws IOException {
        return Files.writeString(directory.resolve("small.yaml"), Scenarios.FILE);
    }

    @Test
    void rates_that_calibrate_measured_are_those_of_the_simulation() throws Exception {
        Path source = Files.createDirectory(directory.resolve("source"));
        for (int file = 0; file < FILES; file++) {
            Files.write(source.resolve("file" + file), new byte[20_000]);
        }
        Path measured = directory.resolve("model.yaml");
        clairfs("calibrate", source.toString(), "--memory", "--seconds", "0.02", "--write", measured.toString());
        JsonNode model = new YAMLMapper().readTree(Files.readString(measured)).path("model");

        JsonNode simulated = new JsonMapper()
                .readTree(clairfs(
                        "simulate",
                        scenario().toString(),
                        "--calibration",
                        measured.toString(),
                        "--policy",
                        "clairfs",
                        "--json"));

        JsonNode used = simulated.path("scenario");
        assertThat(used.path("classes").path(0).path("read"))
                .isEqualTo(model.path("memory").path("read"));
        assertThat(used.path("classes").path(1).path("read").path("2").asDouble())
                .isEqualTo(500); // not measured
        assertThat(used.has("source")).isFalse();
        assertThat(used.path("source_total").path("1").asDouble()) // the scenario has two staging threads
                .isCloseTo(model.path("source").path("read").path("2").asDouble(), within(1e-6));
        assertThat(used.path("source_total").path("2").asDouble()).isEqualTo(2 * 80);
        assertThat(simulated.path("policies").path(0).path("seconds").asDouble())
                .isPositive();
    }

    @Test
    void file_that_is_no_calibration_is_an_error_of_one_line() throws Exception {
        Path wrong = Files.writeString(directory.resolve("wrong.yaml"), "modell: {}");
        Ended ended = Ended.run(
                Clairfs.command("simulate", scenario().toString(), "--calibration", wrong.toString()), Map.of());
        assertThat(ended.exit()).isNotZero();
        assertThat(ended.err()).contains("wrong.yaml").contains("modell").hasLineCount(1);
    }
}
