package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.plan.model.Place;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often places that seem too slow are asked. */
final class PlacesOnTrialTest {
    private static final Place PEER = new Place.Peer(0);
    private static final Place DISK = new Place.Local(1);

    private long nowNs;
    private final PlacesOnTrial trials = new PlacesOnTrial(() -> nowNs);

    @Test
    void trials_areOneAtATimeForEachPlace_andEachFailureDoublesThePause() {
        assertThat(trials.begin(PEER)).isTrue();
        assertThat(trials.begin(PEER)).isFalse();
        assertThat(trials.begin(DISK)).isTrue();
        assertThat(trials.end(PEER, false)).isFalse();
        long pauseMs = 200;
        for (int i = 0; i < 10; i++) {
            nowNs += TimeUnit.MILLISECONDS.toNanos(pauseMs) - 1;
            assertThat(trials.begin(PEER)).isFalse();
            nowNs++;
            assertThat(trials.begin(PEER)).isTrue();
            assertThat(trials.end(PEER, false)).isFalse();
            pauseMs = Math.min(10_000, 2 * pauseMs);
        }
    }

    @Test
    void placeThatIsQuickSomeTimesInARow_passes() {
        boolean[] quick = {true, true, false, true, true, true};
        boolean passed = false;
        for (boolean each : quick) {
            assertThat(passed).isFalse();
            nowNs += TimeUnit.SECONDS.toNanos(10);
            assertThat(trials.begin(PEER)).isTrue();
            passed = trials.end(PEER, each);
        }
        assertThat(passed).isTrue();
    }
}
