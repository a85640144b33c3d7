package io.clairfs.tools.node.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.clairfs.cache.posix.DiskCalls;
import io.clairfs.cache.posix.Posix;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class MountPointLockTest {
    @TempDir
    Path directory;

    @Test
    void directoryWhereSomebodyMounts_isWaitedFor_untilThatIsDone() throws Exception {
        FutureTask<MountPointLock> second;
        try (MountPointLock _ = MountPointLock.take(directory)) {
            second = new FutureTask<>(() -> MountPointLock.take(directory));
            Thread waiting = Thread.ofPlatform().daemon().start(second);
            while (waiting.getState() != Thread.State.TIMED_WAITING) { // the class's timeout ends it
                Thread.onSpinWait();
            }
            assertThat(isFree()).isFalse();
            assertThat(second.isDone()).isFalse();
        }
        second.get(30, TimeUnit.SECONDS).close();
        assertThat(isFree()).isTrue();
    }

    private boolean isFree() throws Exception {
        int other = Posix.openAt(Posix.AT_FDCWD, directory.toString().getBytes(UTF_8), Posix.O_RDONLY);
        try {
            return DiskCalls.tryLock(other);
        } finally {
            Posix.close(other);
        }
    }

    // As by the command flock around that which mounts.
    @Test
    void directoryThatStaysLocked_isMountedAllTheSame() {
        try (MountPointLock _ = MountPointLock.take(directory)) {
            assertThatCode(() -> MountPointLock.take(directory, 50).close()).doesNotThrowAnyException();
        }
    }

    @Test
    void directoryThatCannotBeLocked_isLeftToTheMount() {
        assertThatCode(() -> MountPointLock.take(directory.resolve("none")).close())
                .doesNotThrowAnyException();
    }
}
