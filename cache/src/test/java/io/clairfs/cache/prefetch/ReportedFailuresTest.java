package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A failure that comes again and again is reported once a minute, and hides no other. */
final class ReportedFailuresTest {
    private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 5);
    private final ReportedFailures failures = new ReportedFailures(nowNs::get);

    @Test
    void repeatedFailure_isReportedOnceAMinute() {
        assertThat(failures.isNews("a: EIO")).isTrue();
        assertThat(failures.isNews("a: EIO")).isFalse();
        assertThat(failures.isNews("b: EIO")).isTrue();
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(59)); // the clock may overflow
        assertThat(failures.isNews("a: EIO")).isFalse();
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertThat(failures.isNews("a: EIO")).isTrue();
    }

    @Test
    void manyFailures_takeBoundedMemory() {
        for (int i = 0; i < 1024; i++) {
            assertThat(failures.isNews("file " + i)).isTrue();
        }
        assertThat(failures.isNews("file 0")).isFalse();
        assertThat(failures.isNews("one more")).isTrue();
        assertThat(failures.isNews("file 0")).as("the oldest was forgotten").isTrue();
    }
}
