package io.clairfs.fs.kernel;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Which reports of closes are the daemon's own. */
final class OwnClosesTest {
    private final AtomicLong clock = new AtomicLong();
    private final OwnCloses closes = new OwnCloses(clock::get);

    @Test
    void ownClose_isTakenOnce_andNoOtherFile() {
        closes.closing(7);
        assertThat(closes.take(8)).isFalse();
        assertThat(closes.take(7)).isTrue();
        assertThat(closes.take(7)).isFalse();
    }

    @Test
    void fileThatIsClosedTwice_hasTwoReports() {
        closes.closing(7);
        closes.closing(7);
        assertThat(closes.take(7)).isTrue();
        assertThat(closes.take(7)).isTrue();
        assertThat(closes.take(7)).isFalse();
    }

    @Test
    void close_waitsForTheEndOfTheNextLook_asLongAsThereAreLooks() throws Exception {
        int first = open();
        closes.close(7, first);
        assertThat(isOpen(first)).as("nobody looks").isFalse();
        assertThat(closes.take(7)).isTrue();

        long during = closes.lookBegins();
        int second = open();
        closes.close(8, second);
        closes.emptied(during);
        assertThat(isOpen(second))
                .as("a reader's report may have come behind that look")
                .isTrue();
        assertThat(closes.take(8)).as("a reader's").isFalse();
        closes.emptied(closes.lookBegins());
        assertThat(isOpen(second)).isFalse();
        assertThat(closes.take(8)).isTrue();

        int third = open();
        closes.close(9, third);
        closes.lookingEnds();
        assertThat(isOpen(third)).isFalse();
        int fourth = open();
        closes.close(9, fourth);
        assertThat(isOpen(fourth)).isFalse();
    }

    private static int open() throws Exception {
        return Posix.openAt(Posix.AT_FDCWD, "/proc/self/stat".getBytes(US_ASCII), Posix.O_RDONLY);
    }

    /** Whether the descriptor is still of that file: another thread of this process may open one of the same number. */
    private static boolean isOpen(int descriptor) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(descriptor)))
                    .endsWith("stat");
        } catch (IOException closed) {
            return false;
        }
    }

    @Test
    void reportThatComesLate_isTaken() {
        closes.closing(7);
        clock.addAndGet(TimeUnit.SECONDS.toNanos(30));
        assertThat(closes.take(7)).as("the process stood still").isTrue();
    }

    @Test
    void reportThatWasMergedWithAReaders_isForgotten_onceTheQueueWasEmptiedAfterTheClose() {
        closes.closing(7);
        long during = closes.lookBegins();
        closes.closed(7);
        closes.emptied(during);
        assertThat(closes.take(7))
                .as("its report may have come behind that look")
                .isTrue();

        closes.closing(8);
        closes.closed(8);
        closes.closing(9);
        long after = closes.lookBegins();
        closes.emptied(after);
        assertThat(closes.take(8)).as("a reader's").isFalse();
        assertThat(closes.take(9)).as("not closed yet").isTrue();
    }

    @Test
    void manyThatAreNeverReported_areForgotten() {
        for (int file = 0; file < 200_000; file++) {
            clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
            closes.closing(file);
        }
        assertThat(closes.take(199_999)).isTrue();
        assertThat(closes.take(5)).isFalse();
    }
}
