package io.clairfs.gpufeeder.feed;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Reports to a file that is not there for a while, as that of a mount whose process is being started again. */
@Timeout(300)
final class FeedReporterTest {
    private static final String LINE = "feeder=1\n";

    @TempDir
    private Path root;

    private long nowNs;

    private FeedReporter reporter(Path file) {
        return new FeedReporter(file, () -> LINE, () -> nowNs);
    }

    private void at(long second) {
        nowNs = TimeUnit.SECONDS.toNanos(second);
    }

    @Test
    void mount_that_does_not_answer_for_a_while_is_told_again() throws Exception {
        Path file = root.resolve("report");
        FeedReporter reporter = reporter(file);
        for (long restart : new long[] {0, 1_000}) {
            at(restart);
            assertThat(reporter.tell()).isTrue();
            at(restart + 60);
            assertThat(reporter.tell()).isTrue();
            Files.createFile(file);
            assertThat(reporter.tell()).isTrue();
            assertThat(file).hasContent(LINE);
            Files.delete(file);
        }
    }

    @Test
    void mount_that_does_not_answer_for_a_minute_is_told_nothing_more() {
        FeedReporter reporter = reporter(root.resolve("report"));
        assertThat(reporter.tell()).isTrue();
        at(61);
        assertThat(reporter.tell()).isFalse();
    }

    @Test
    void report_that_is_refused_is_the_last() {
        Path refuses = Path.of("/proc/self/oom_score_adj"); // what is no number is EINVAL
        assertThat(reporter(refuses).tell()).isFalse();
    }

    @Test
    void its_thread_goes_on_after_a_failure() throws Exception {
        CountDownLatch asked = new CountDownLatch(2);
        try (FeedReporter _ = FeedReporter.start(root.resolve("report"), () -> {
            asked.countDown();
            return LINE;
        })) {
            asked.await();
        }
    }
}
