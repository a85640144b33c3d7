package io.clairfs.fs.slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.PosixException;
import org.junit.jupiter.api.Test;

class SharedBandwidthTest {
    private static final long MS = 1_000_000;
    private static final long SECOND = 1000 * MS;

    /** Begins far from zero and passes the point at which the clock's number wraps around. */
    private long now = Long.MAX_VALUE - 3 * SECOND;

    private SharedBandwidth line(long bytesPerSecond) {
        return new SharedBandwidth(bytesPerSecond, () -> now);
    }

    @Test
    void aRequestOnAnIdleLineTakesItsOwnTime() throws PosixException {
        assertThat(line(1_000_000).reserve(1000) - now).isEqualTo(MS);
    }

    @Test
    void concurrentRequestsQueueInTheOrderOfArrival() throws PosixException {
        SharedBandwidth line = line(1_000_000);
        for (int i = 1; i <= 100; i++) {
            assertThat(line.reserve(1000) - now).isEqualTo(i * MS);
        }
    }

    @Test
    void readersThatWaitTooLongEachTimeStillGetTheWholeBandwidth() throws PosixException {
        SharedBandwidth line = line(100_000_000);
        long start = now;
        long bytes = 0;
        while (now - start < 10 * SECOND) {
            now = Math.max(now, line.reserve(110_000)) + MS / 10;
            bytes += 110_000;
        }
        assertThat(bytes).isBetween(999_000_000L, 1_002_000_000L);
    }

    @Test
    void anIdleLineSavesUpNoMoreThanItsCredit() throws PosixException {
        SharedBandwidth line = line(1_000_000);
        now += SECOND;
        long last = 0;
        for (int i = 0; i < 100; i++) {
            last = line.reserve(1000);
        }
        assertThat(last - now).isEqualTo(100 * MS - SharedBandwidth.CREDIT_NS);
    }

    @Test
    void aQueueThatIsTooLongRefusesAndStaysAsItWas() throws PosixException {
        SharedBandwidth line = line(1000);
        assertThat(line.reserve(29_000) - now).isEqualTo(29 * SECOND);
        assertThatThrownBy(() -> line.reserve(1001))
                .isInstanceOfSatisfying(
                        PosixException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ETIMEDOUT));
        assertThat(line.reserve(1000) - now).isEqualTo(30 * SECOND);
    }
}
