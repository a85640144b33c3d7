package io.clairfs.gpufeeder.feed;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Labels by directories. */
final class SampleLabelsTest {
    @Test
    void directoriesWhoseNamesAreNotUtf8_haveLabelsOfTheirOwn() {
        byte[] lines = "caf\u00e8/a\ncaf\u00e9/b\nz/c\ncaf\u00e8/d\ne\n".getBytes(ISO_8859_1);
        SampleLabels labels = SampleLabels.ofDirectories(SamplePaths.of(MemorySegment.ofArray(lines)), "");
        assertThat(labels.of(0)).isZero();
        assertThat(labels.of(1)).isEqualTo(1);
        assertThat(labels.of(2)).isEqualTo(2);
        assertThat(labels.of(3)).isZero();
        assertThat(labels.of(4)).isEqualTo(SampleLabels.NONE);
    }
}
