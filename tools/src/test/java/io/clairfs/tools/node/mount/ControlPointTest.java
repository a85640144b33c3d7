package io.clairfs.tools.node.mount;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ControlPointTest {
    @TempDir
    Path directory;

    // As where a batch system names a directory of another node.
    @Test
    void temporaryDirectoryThatIsNotThere_isNamedWithTheRemedy() {
        Path none = directory.resolve("none");
        assertThatThrownBy(() -> ControlPoint.in(none))
                .hasMessageContaining(none.toString())
                .hasMessageContaining("set TMPDIR to a directory on this node");
    }
}
