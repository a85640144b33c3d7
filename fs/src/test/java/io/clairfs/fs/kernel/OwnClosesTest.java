package io.clairfs.fs.kernel;

import static org.assertj.core.api.Assertions.assertThat;

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
    void reportThatNeverCame_isNotWaitedForForEver() {
        closes.closing(7);
        clock.addAndGet(TimeUnit.SECONDS.toNanos(3));
        assertThat(closes.take(7)).isFalse();
        closes.closing(8);
        closes.forget();
        assertThat(closes.take(8)).isFalse();
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
