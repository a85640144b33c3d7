package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.tier.TierFailures;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a failure of a disk leads to, and when its reason is there. */
final class MediumHealthTest {
    private long nowNs;
    private final List<Seen> seen = new ArrayList<>();
    private final MediumHealth health = new MediumHealth(() -> nowNs, this::told);

    /** What could be seen when a line was there. */
    private record Seen(String line, TierFailures failures, boolean mayWrite) {}

    private void told(String line) {
        seen.add(new Seen(line, health.failures(), health.mayWrite()));
    }

    @Test
    void failure_hasItsLine_beforeItCountsOrStopsWrites() {
        health.writeFailed("cannot write");
        health.readFailed("cannot read");
        health.wrongChecksum("is damaged");
        assertThat(seen)
                .containsExactly(
                        new Seen("cannot write", TierFailures.NONE, true),
                        new Seen("cannot read", new TierFailures(0, 0, 1), false),
                        new Seen("is damaged", new TierFailures(0, 1, 1), false));
        assertThat(health.failures()).isEqualTo(new TierFailures(1, 1, 1));
    }

    @Test
    void failuresOfAKind_haveALineAMinute_andAllCount() {
        health.readFailed("first");
        nowNs += TimeUnit.SECONDS.toNanos(59);
        health.readFailed("second");
        nowNs += TimeUnit.SECONDS.toNanos(1);
        health.readFailed("third");
        assertThat(seen).extracting(Seen::line).containsExactly("first", "third");
        assertThat(health.failures().reads()).isEqualTo(3);
    }

    @Test
    void nothingIsWritten_forTenSecondsAfterAWriteThatFailed() {
        assertThat(health.mayWrite()).isTrue();
        health.writeFailed("cannot write");
        nowNs += TimeUnit.SECONDS.toNanos(10) - 1;
        assertThat(health.mayWrite()).isFalse();
        nowNs++;
        assertThat(health.mayWrite()).isTrue();
    }
}
