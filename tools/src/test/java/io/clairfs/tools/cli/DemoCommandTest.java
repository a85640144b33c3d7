package io.clairfs.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DemoCommandTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--files=3",
                "--files=many",
                "--epochs=0",
                "--bandwidth=100",
                "--bandwidth=fast",
                "--open-latency-ms=-1",
                "--open-latency-ms=1001",
                "--compute-ms=10001",
                "--workers=0",
                "--colour=red"
            })
    void whatCannotBeDoneIsWrongUsage(String option) {
        assertThat(Main.run("demo", option)).isEqualTo(Main.WRONG_USAGE);
    }
}
