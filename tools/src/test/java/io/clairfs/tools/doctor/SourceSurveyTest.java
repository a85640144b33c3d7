package io.clairfs.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A survey on a machine that stands still meanwhile. */
final class SourceSurveyTest {
    @TempDir
    Path source;

    @Test
    void readersThatStartWhenTheTimeIsOver_readAFileAllTheSame() throws Exception {
        Path file = Files.write(source.resolve("file"), new byte[100_000]);
        SourceSurvey.Reading reading = new SourceSurvey.Reading(List.of(file), System.nanoTime() - 1);
        assertThat(reading.bytesPerSecond()).isPositive();
        assertThat(reading.done()).isEqualTo(1);
    }
}
