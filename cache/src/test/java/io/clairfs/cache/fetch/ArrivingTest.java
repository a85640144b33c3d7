package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.placement.Filled;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is told of samples that are on their way. */
@Timeout(120)
final class ArrivingTest extends FetchRouterFixture {
    private static final int MEMORY = 0;
    private static final long GENEROUS_S = 60;

    ArrivingTest() throws Exception {}

    private FutureTask<SampleBuffer> fetch(int sample) {
        FutureTask<SampleBuffer> fetch = new FutureTask<>(() -> router.fetch(dataset.file(sample), false));
        Thread.ofPlatform().daemon().start(fetch);
        return fetch;
    }

    @Test
    void wantedSample_countsWithThePiecesThatTheSourceHasGiven_untilItIsThere() throws Exception {
        planAll(DISK);
        assertThat(router.arriving()).isEqualTo(Filled.Arriving.NONE);
        CountDownLatch gate = dataset.hangFrom(2 * InFlightLimit.PIECE_BYTES);
        FutureTask<SampleBuffer> fetch = fetch(LARGE);
        dataset.awaitReads(3);
        assertThat(router.arriving()).isEqualTo(new Filled.Arriving(1, 2 * InFlightLimit.PIECE_BYTES, 0));

        admission.follow(_ -> LocalPlan.NOWHERE);
        assertThat(router.arriving()).as("nobody wants it").isEqualTo(Filled.Arriving.NONE);
        planAll(DISK);
        assertThat(router.arriving().samples()).isEqualTo(1);
        gate.countDown();
        fetch.get(GENEROUS_S, TimeUnit.SECONDS).release();
        assertThat(router.arriving()).isEqualTo(Filled.Arriving.NONE);
    }

    @Test
    void sampleThatAPeerGives_countsAsWhole() throws Exception {
        planAll(MEMORY);
        peers.answersBySample.put(1, true);
        CountDownLatch answer = new CountDownLatch(1);
        peersAnswer = answer;
        FutureTask<SampleBuffer> fetch = fetch(1);
        Await.until("the peer is asked", () -> peers.asked.contains(1));
        assertThat(router.arriving()).isEqualTo(new Filled.Arriving(1, 0, 1));
        answer.countDown();
        fetch.get(GENEROUS_S, TimeUnit.SECONDS).release();
        assertThat(router.arriving()).isEqualTo(Filled.Arriving.NONE);
    }
}
