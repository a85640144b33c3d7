package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.source.SourceChangedException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceTimeoutException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ErrnoTableTest {
    private static final byte[] PATH = "/c/1.jpg".getBytes(UTF_8);

    private final List<String> log = new ArrayList<>();
    private final ErrnoTable table = new ErrnoTable(
            (operation, path, reason) -> log.add(operation + " " + new String(path, UTF_8) + ": " + reason));

    private int errno(Throwable thrown) {
        return -table.negative("read", PATH, thrown);
    }

    @Test
    void theSourcesOwnErrno_isPassedOn() {
        assertThat(errno(new SourceFailedException("c/1.jpg", Errno.EACCES))).isEqualTo(Errno.EACCES);
        assertThat(errno(new PosixException("pread", Errno.ENOTCONN))).isEqualTo(Errno.ENOTCONN);
    }

    @Test
    void errnoThatProgramsTakeForNoFailure_isAnInputOutputError() {
        assertThat(errno(new SourceFailedException("c/1.jpg", Errno.EAGAIN))).isEqualTo(Errno.EIO);
        assertThat(errno(new PosixException("open", Errno.EINTR))).isEqualTo(Errno.EIO);
    }

    @Test
    void errnoOfTheKernelsOwn_isAnInputOutputError() {
        for (int errno : new int[] {0, -1, 512, 521, 524}) {
            assertThat(errno(new SourceFailedException("c/1.jpg", errno))).isEqualTo(Errno.EIO);
        }
        assertThat(errno(new PosixException("getdents", 511))).isEqualTo(511);
    }

    @Test
    void sourceThatChanged_isStale_andOneThatIsSilent_anInputOutputError() {
        assertThat(errno(new SourceChangedException("c/1.jpg"))).isEqualTo(Errno.ESTALE);
        assertThat(errno(new SourceTimeoutException("c/1.jpg", 5_000))).isEqualTo(Errno.EIO);
    }

    @Test
    void memoryThatRanOut_saysSo_andABug_isAnInputOutputError() {
        assertThat(errno(new OutOfMemoryError("direct"))).isEqualTo(Errno.ENOMEM);
        assertThat(errno(new IllegalStateException("a bug of the test"))).isEqualTo(Errno.EIO);
        assertThat(errno(new AssertionError())).isEqualTo(Errno.EIO);
    }

    @Test
    void everyFailure_isOneLineOfTheLog() {
        assertThat(errno(new SourceTimeoutException("c/1.jpg", 5_000))).isEqualTo(Errno.EIO);
        assertThat(errno(new IllegalStateException())).isEqualTo(Errno.EIO);
        assertThat(log)
                .containsExactly(
                        "read /c/1.jpg: c/1.jpg: the source did not answer within 5000 ms", "read /c/1.jpg: null");
    }

    @Test
    void logThatFails_isNoMoreThanAnInputOutputError() {
        ErrnoTable failing = new ErrnoTable((_, _, _) -> {
            throw new IllegalStateException("the log is full");
        });
        assertThat(failing.negative("open", PATH, new SourceChangedException("x")))
                .isEqualTo(-Errno.EIO);
    }
}
