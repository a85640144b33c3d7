package io.clairfs.cache.tier.ssd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Which data files stay open. */
final class OpenFilesTest {
    private static final Path FILE = Path.of("/dev/null");

    private static int open() throws PosixException {
        return Posix.openAt(Posix.AT_FDCWD, FILE.toString().getBytes(UTF_8), Posix.O_RDONLY);
    }

    /** Whether the descriptor is still of that file: another thread of this process may open one of the same number. */
    private static boolean isOpen(OpenFiles.Handle handle) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + handle.fd()))
                    .equals(FILE);
        } catch (IOException closed) {
            return false;
        }
    }

    @Test
    void fileThatIsDeletedWhileItIsOpened_isClosedWithItsLastReader() throws Exception {
        OpenFiles[] files = new OpenFiles[1];
        files[0] = new OpenFiles(
                number -> {
                    int fd = open();
                    if (number == 7) {
                        files[0].drop(7);
                    }
                    return fd;
                },
                8);
        OpenFiles.Handle deleted = files[0].acquire(7);
        assertThat(isOpen(deleted)).isTrue();
        files[0].release(deleted);
        assertThat(isOpen(deleted)).isFalse();
        OpenFiles.Handle other = files[0].acquire(8);
        files[0].release(other);
        assertThat(isOpen(other)).as("is kept open").isTrue();
        files[0].close();
        assertThat(isOpen(other)).isFalse();
    }
}
