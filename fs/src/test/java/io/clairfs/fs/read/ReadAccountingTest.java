package io.clairfs.fs.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.status.Counters;
import org.junit.jupiter.api.Test;

final class ReadAccountingTest {
    private final Counters counters = new Counters();
    private final ReadAccounting accounting = new ReadAccounting(counters);

    /** As {@code status} says it. */
    private long fromPageCache() {
        return counters.opened.sum() - counters.closedAfterUpcall.sum();
    }

    @Test
    void readsFromThePageCache_neverGetFewer_whileOthersAskAndWait() {
        accounting.closed(new int[] {1, 2, 3}, 3);
        assertThat(fromPageCache()).isEqualTo(3);
        assertThat(accounting.request(4, 0, true)).isTrue();
        assertThat(accounting.request(5, 0, true)).isTrue();
        assertThat(accounting.request(4, 1 << 20, true)).as("of the same open").isFalse();
        assertThat(fromPageCache()).isEqualTo(3);
        accounting.closed(new int[] {4, 6}, 2);
        assertThat(fromPageCache()).isEqualTo(4);
        assertThat(accounting.takeAsked(5)).isTrue();
        accounting.closed(new int[] {5}, 1);
        assertThat(fromPageCache()).isEqualTo(4);
    }

    @Test
    void requestsWhoseClosesAreNotReported_countAtOnce() {
        assertThat(accounting.request(1, 0, false)).isTrue();
        assertThat(counters.opened.sum()).isEqualTo(1);
        assertThat(fromPageCache()).isZero();
    }
}
