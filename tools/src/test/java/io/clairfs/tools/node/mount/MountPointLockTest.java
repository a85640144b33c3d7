package io.clairfs.tools.node.mount;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.fs.mount.MountException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MountPointLockTest {
    @TempDir
    Path directory;

    @Test
    void directoryWhereSomebodyMounts_isBusy_untilThatIsDone() throws Exception {
        try (MountPointLock _ = MountPointLock.take(directory)) {
            assertThatThrownBy(() -> MountPointLock.take(directory))
                    .isInstanceOf(MountException.class)
                    .hasMessageContaining("is busy: another process is mounting there");
        }
        MountPointLock.take(directory).close();
    }

    @Test
    void directoryThatCannotBeLocked_isLeftToTheMount() {
        assertThatCode(() -> MountPointLock.take(directory.resolve("none")).close())
                .doesNotThrowAnyException();
    }
}
