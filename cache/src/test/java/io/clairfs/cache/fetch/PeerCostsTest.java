package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** What is expected of a peer, by what was seen of it. */
final class PeerCostsTest {
    private static final Place.Peer PEER = new Place.Peer(0);
    private static final Place.Peer OTHER = new Place.Peer(1);
    private static final long BYTES = 100_000;
    private static final double MODEL_SECONDS = 1e-4;

    private long nowNs = 1;
    private final ObservedRates rates = new ObservedRates((_, _) -> MODEL_SECONDS, 60, () -> nowNs);
    private final PeerCosts costs = new PeerCosts(rates, () -> nowNs);

    private void pass(long micros) {
        nowNs += TimeUnit.MICROSECONDS.toNanos(micros);
    }

    /** A path of 10 MB/s with 5 ms of latency: several requests at once are answered one after the other. */
    private void learnSlowPath() {
        for (int round = 0; round < 40; round++) {
            PeerCosts.Asked first = costs.ask(PEER, BYTES);
            PeerCosts.Asked second = costs.ask(PEER, BYTES);
            pass(15_000);
            first.delivered(0);
            first.end();
            pass(10_000);
            second.delivered(0);
            second.end();
        }
    }

    @Test
    void requestBehindOthers_isExpectedLater() {
        learnSlowPath();
        assertThat(costs.seconds(PEER, BYTES)).isCloseTo(0.015, Percentage.withPercentage(10));
        PeerCosts.Asked before = costs.ask(PEER, 3 * BYTES);
        assertThat(costs.seconds(PEER, BYTES)).isCloseTo(0.045, Percentage.withPercentage(10));
        assertThat(costs.seconds(OTHER, BYTES)).as("another path").isEqualTo(MODEL_SECONDS);
        before.end();
        before.end();
        assertThat(costs.seconds(PEER, BYTES)).isCloseTo(0.015, Percentage.withPercentage(10));
    }

    @Test
    void timeThatThePeerTookToFetchTheSample_isNotThePaths() {
        PeerCosts.Asked asked = costs.ask(PEER, BYTES);
        pass(500_100);
        assertThat(asked.delivered(TimeUnit.MILLISECONDS.toNanos(500))).isCloseTo(1e-4, within(1e-9));
        asked.end();
        assertThat(costs.seconds(PEER, BYTES)).isCloseTo(MODEL_SECONDS, Percentage.withPercentage(1));
    }

    @Test
    void usualWorst_comesNearTheExpectedTimeWhenThatIsSteady_andGrowsWhenItIsNot() {
        double unproven = costs.usualWorstSeconds(PEER, BYTES);
        assertThat(unproven).isGreaterThan(0.09);
        for (int i = 0; i < 50; i++) {
            deliver(1_000);
        }
        double steady = costs.usualWorstSeconds(PEER, BYTES);
        assertThat(steady).isCloseTo(0.001, within(2e-4));
        deliver(50_000);
        assertThat(costs.usualWorstSeconds(PEER, BYTES)).isGreaterThan(0.04);
    }

    private void deliver(long micros) {
        PeerCosts.Asked asked = costs.ask(PEER, BYTES);
        pass(micros);
        asked.delivered(0);
        asked.end();
    }

    @Test
    void failureSoonerThanExpected_saysNothing_aLaterOneCounts() {
        learnSlowPath();
        double before = costs.seconds(PEER, BYTES);
        PeerCosts.Asked refused = costs.ask(PEER, BYTES);
        pass(100);
        refused.failed(0);
        refused.end();
        assertThat(costs.seconds(PEER, BYTES)).isCloseTo(before, within(1e-6));
        PeerCosts.Asked silent = costs.ask(PEER, BYTES);
        pass(2_000_000);
        silent.failed(0);
        silent.end();
        assertThat(costs.seconds(PEER, BYTES)).isGreaterThan(2 * before);
    }

    @Test
    void forgottenPeer_isTheModelsAgain() {
        learnSlowPath();
        costs.forget(PEER);
        assertThat(costs.seconds(PEER, BYTES)).isEqualTo(MODEL_SECONDS);
    }
}
