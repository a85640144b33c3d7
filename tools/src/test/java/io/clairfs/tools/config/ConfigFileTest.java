package io.clairfs.tools.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.plan.model.PerformanceModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigFileTest {
    @TempDir
    Path directory;

    private ConfigFile read(String text) throws IOException {
        return ConfigFile.read(Files.writeString(directory.resolve("config.yaml"), text));
    }

    @Test
    void read_rates_become_the_model() throws IOException {
        ConfigFile file = read("model: {source: {latency: 0.004, read: {1: 20, 3: 40}}, network: 1000}\n"
                + "mount: {memory: 2GiB, ssd: [/local:5GB], loaders: 7}");
        PerformanceModel model = file.modelOrUnmeasured().model();
        assertThat(model.fetchFromSource(20_000_000, 2)).isEqualTo(0.004 + 20.0 / (30.0 / 2));
        assertThat(model.networkBytesPerSecond()).isEqualTo(1e9);
        assertThat(model.computeBytesPerSecond())
                .isEqualTo(PerformanceModel.unmeasured().computeBytesPerSecond());
        assertThat(file.mountOrEmpty().memory()).isEqualTo("2GiB");
        assertThat(file.mountOrEmpty().ssd()).containsExactly("/local:5GB");
        assertThat(file.mountOrEmpty().loaders()).isEqualTo(7);
    }

    @Test
    void text_whatIsWritten_isReadAgain() throws IOException {
        ModelFile.Device disk = new ModelFile.Device(4, 0.001, Map.of(1, 100.0, 2, 180.0), Map.of(1, 50.0));
        ConfigFile written = new ConfigFile(
                null,
                new ModelFile(
                        disk,
                        null,
                        disk,
                        null,
                        null,
                        null,
                        null,
                        Map.of("image", Map.of(30_000L, Map.of(1, 100.0, 2, 190.0)))));
        ConfigFile back = read(written.text());
        assertThat(back).isEqualTo(written);
        assertThat(back.modelOrUnmeasured().preprocessing().curve(30_000).rate(2))
                .isCloseTo(190, within(1e-9));
    }

    @Test
    void read_whatIsSaidTwice_isRefused() {
        assertThatThrownBy(() -> read("mount:\n  ssd: [/a:100GB]\n  memory: 1GiB\n  ssd: [/b:200GB]\n"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("line 4")
                .hasMessageContaining("ssd");
    }

    @Test
    void read_emptyFile_saysNothing() throws IOException {
        assertThat(read("").mountOrEmpty()).isEqualTo(MountFile.EMPTY);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "mount: {memry: 2GiB} | memry",
                "modell: {} | modell",
                "model: {source: {read: {1: -5}}} | model",
                "model: {decode: {image: {30000: {1: -5}}}} | not positive",
                "model: {decode: {image: {30000: {}}}} | no measured number of threads",
                "model: {decode: {image: {30000: null}}} | 30000 bytes have no rate",
                "model: {decode: {image: null}} | image has no size",
                "model: {decode: {image: {}}} | no measured size",
                "model: {network: fast} | network",
                "mount: [1, 2] | mount",
                "mount: {memory | not YAML",
            })
    void read_whatIsWrong_isSaidInOneLine(String text, String said) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(said)
                .hasMessageContaining("config.yaml")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
    }
}
