package io.clairfs.fs.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PageGenerationsTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"0x0007, true", "0x0001, true", "0x0000, false", "0x0006, false", "'', false", "y, false"})
    void number_saysWhetherTheyAreUsed(String number, boolean used) throws IOException {
        Path file = Files.writeString(directory.resolve("enabled"), number + "\n");
        assertThat(PageGenerations.areUsed(file)).isEqualTo(used);
    }

    @Test
    void kernelWithoutThem_usesNone() {
        assertThat(PageGenerations.areUsed(directory.resolve("enabled"))).isFalse();
    }
}
