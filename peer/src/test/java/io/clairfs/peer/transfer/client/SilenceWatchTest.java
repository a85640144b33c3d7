package io.clairfs.peer.transfer.client;

import static io.clairfs.peer.transfer.client.SilenceWatch.Next.GIVE_UP;
import static io.clairfs.peer.transfer.client.SilenceWatch.Next.NOTHING;
import static io.clairfs.peer.transfer.client.SilenceWatch.Next.PING;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a silent connection is pinged, and when it is given up; also where the clock is about to overflow. */
final class SilenceWatchTest {
    private static final long QUIET = SilenceWatch.QUIET_NS;
    private static final int PONG_MS = 600;
    private static final long PONG = TimeUnit.MILLISECONDS.toNanos(PONG_MS);

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1_000, Long.MIN_VALUE})
    void whoIsSilent_isPinged_andGivenUp(long start) {
        SilenceWatch watch = new SilenceWatch(PONG_MS);
        watch.owesAgain(start);
        assertThat(watch.next(start, start + QUIET)).isEqualTo(NOTHING);
        assertThat(watch.next(start, start + QUIET + 1)).isEqualTo(PING);
        assertThat(watch.next(start, start + QUIET + 2)).as("once").isEqualTo(NOTHING);
        assertThat(watch.next(start, start + QUIET + 1 + PONG)).isEqualTo(NOTHING);
        assertThat(watch.next(start, start + QUIET + 2 + PONG)).isEqualTo(GIVE_UP);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1_000})
    void whoAnswersPings_isPingedAgainAndAgain(long start) {
        SilenceWatch watch = new SilenceWatch(PONG_MS);
        watch.owesAgain(start);
        long heard = start;
        for (int i = 0; i < 10; i++) {
            long pinged = heard + QUIET + 1;
            assertThat(watch.next(heard, pinged)).isEqualTo(PING);
            heard = pinged + PONG;
            assertThat(watch.next(heard, heard + 1)).isEqualTo(NOTHING);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Long.MAX_VALUE - 1_000})
    void whoOwedNothingForLong_hasItsTimeFromTheNextRequestOn(long start) {
        SilenceWatch watch = new SilenceWatch(PONG_MS);
        watch.owesAgain(start);
        assertThat(watch.next(start, start + QUIET + 1)).isEqualTo(PING);
        long later = start + 1_000 * QUIET;
        watch.owesAgain(later);
        assertThat(watch.next(start, later + QUIET)).isEqualTo(NOTHING);
        assertThat(watch.next(start, later + QUIET + 1)).isEqualTo(PING);
    }
}
