package io.clairfs.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

final class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({
        "4096, 4096",
        "0B, 0",
        "512MiB, 536870912",
        "64G, 68719476736",
        "64GiB, 68719476736",
        "64GB, 64000000000",
        "1.5K, 1536",
        "1.5 kB, 1500",
        "2T, 2199023255552"
    })
    void size_isOfItsUnit(String text, long bytes) {
        assertThat(ByteSize.parse(text)).isEqualTo(new ByteSize(bytes));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "lots", "-1", "10X", "1,5GB", "GB", "10GiBs", "2000000PB"})
    void whatIsNoSize_isRefused(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text)).isInstanceOf(TypeConversionException.class);
    }
}
