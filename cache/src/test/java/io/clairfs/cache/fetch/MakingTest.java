package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.plan.model.Place;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who makes a sample, on a clock of the test's own. */
final class MakingTest {
    private static final long BYTES = 1_000;
    private static final long MS = 1_000_000;

    private long nowNs;
    private final Counters counters = new Counters();
    private final OneMaker maker = new OneMaker();
    private final Making making = new Making(
            new PeerFetch() {
                @Override
                public boolean mayHave(int file) {
                    return false;
                }

                @Override
                public List<Holder> holders(int file) {
                    return List.of();
                }

                @Override
                public List<Maker> makers(int file) {
                    return List.of(maker);
                }

                @Override
                public long mostNs(long bytes) {
                    return 2_000 * MS;
                }
            },
            counters,
            1,
            () -> nowNs);

    /** A peer with one thread that takes so long, in the test's time. */
    private final class OneMaker implements PeerFetch.Maker {
        long takesMs;
        int asked;
        int busy;
        long withinNs;
        Supplier<@Nullable SampleBuffer> gives = () -> SampleBuffer.allocate(BYTES);

        @Override
        public Place.Peer place() {
            return new Place.Peer(0);
        }

        @Override
        public int threads() {
            return 1;
        }

        @Override
        public int busy() {
            return busy;
        }

        @Override
        public PeerFetch.@Nullable Delivery make(long within) {
            asked++;
            withinNs = within;
            nowNs += takesMs * MS;
            SampleBuffer sample = gives.get();
            return sample == null ? null : new PeerFetch.Delivery(sample, 0);
        }
    }

    private void madeHere(long ms) {
        try (MakingTimes.Work work = making.here(BYTES)) {
            nowNs += ms * MS;
            double _ = work.took();
        }
    }

    /** As a node that has made samples here, each in so many milliseconds. */
    private void knowing(long ms) {
        for (int i = 0; i < 20; i++) {
            madeHere(ms);
        }
        assertThat(elsewhere(FetchRequest.waitedFor(FetchUrgency.PEER)))
                .as("the first of many is made here")
                .isFalse();
    }

    private boolean elsewhere(FetchRequest request) {
        SampleBuffer sample = making.elsewhere(3, BYTES, BYTES, request);
        if (sample != null) {
            sample.release();
        }
        return sample != null;
    }

    private static FetchRequest reader() {
        return FetchRequest.waitedFor(FetchUrgency.READER);
    }

    private static FetchRequest staging(double spareSeconds) {
        return FetchRequest.staging(0, new Stager() {
            @Override
            public void bytesArrived() {}

            @Override
            public double spareSeconds() {
                return spareSeconds;
            }
        });
    }

    @Test
    void peerThatIsQuicker_isAsked_byReadersToo() {
        knowing(20);
        maker.takesMs = 10;
        assertThat(elsewhere(staging(0))).isTrue();
        assertThat(elsewhere(reader())).isTrue();
        assertThat(counters.madeElsewhere.sum()).isEqualTo(2);
        assertThat(counters.fromPeer.count()).isEqualTo(2);
    }

    @Test
    void peerThatIsMuchLater_isAskedWhileNobodyWaits() {
        knowing(10);
        maker.takesMs = 100;
        assertThat(elsewhere(staging(1))).as("nothing known of it yet").isTrue();
        int asked = maker.asked;
        for (int i = 0; i < 5; i++) {
            assertThat(elsewhere(reader())).isFalse();
        }
        assertThat(maker.asked).isEqualTo(asked);
        assertThat(elsewhere(staging(0.2))).as("the trainer does not wait").isTrue();
        assertThat(elsewhere(FetchRequest.filling(() -> true))).isTrue();
    }

    @Test
    void peerThatWasSlow_isTriedNowAndThen_andUsedAgainWhenItIsQuick() {
        knowing(10);
        maker.takesMs = 200;
        assertThat(elsewhere(staging(1))).isTrue();
        int elsewhere = 0;
        for (int i = 0; i < 50; i++) {
            elsewhere += elsewhere(staging(0)) ? 1 : 0;
            nowNs += 10 * MS;
        }
        assertThat(elsewhere).as("trials only").isBetween(1, 6);
        maker.takesMs = 5;
        nowNs += 10_000 * MS;
        for (int i = 0; i < 3; i++) {
            assertThat(elsewhere(staging(0))).isTrue();
        }
        assertThat(elsewhere(reader())).isTrue();
    }

    @Test
    void peerThatHasEnoughToDo_isLeftAloneForAMoment() {
        knowing(20);
        maker.gives = () -> null;
        assertThat(elsewhere(staging(0))).isFalse();
        assertThat(elsewhere(staging(0))).isFalse();
        assertThat(maker.asked).isEqualTo(1);
        assertThat(counters.makersFailed.sum()).isEqualTo(1);
        maker.gives = () -> SampleBuffer.allocate(BYTES);
        nowNs += 60 * MS;
        assertThat(elsewhere(staging(0))).isTrue();
    }

    @Test
    void peerThatDoesNotAnswer_costsABoundedWait_andIsNotAskedByReaders() {
        knowing(20);
        maker.gives = () -> null;
        maker.takesMs = 2_000;
        assertThat(elsewhere(staging(0))).isFalse();
        assertThat(maker.withinNs).isEqualTo(300 * MS + 4 * 20 * MS);
        maker.takesMs = 1;
        maker.gives = () -> SampleBuffer.allocate(BYTES);
        int asked = maker.asked;
        assertThat(elsewhere(reader())).isFalse();
        assertThat(maker.asked).isEqualTo(asked);
    }

    @Test
    void announcedLoad_countsWhileNothingElseIsKnown() {
        knowing(10);
        maker.busy = 5;
        assertThat(making.choose(List.of(maker), BYTES, reader())).isNull();
        maker.busy = 0;
        assertThat(making.choose(List.of(maker), BYTES, reader())).isNotNull();
    }

    @Test
    void samplesUnderWay_makeAMakerLater() {
        knowing(25);
        maker.takesMs = 10;
        assertThat(elsewhere(staging(0))).isTrue();
        maker.gives = () -> {
            // While this one is under way another one would take twice as long, and a third one three times.
            Making.Choice second = making.choose(List.of(maker), BYTES, reader());
            assertThat(second).isNotNull();
            return SampleBuffer.allocate(BYTES);
        };
        assertThat(elsewhere(reader())).isTrue();
        maker.gives = () -> {
            maker.gives = () -> {
                assertThat(making.choose(List.of(maker), BYTES, reader()))
                        .as("two are under way")
                        .isNull();
                return SampleBuffer.allocate(BYTES);
            };
            assertThat(elsewhere(reader())).isTrue();
            return SampleBuffer.allocate(BYTES);
        };
        assertThat(elsewhere(reader())).isTrue();
    }

    @Test
    void oneOfManySamples_isMadeHereAllTheSame() {
        knowing(1_000);
        maker.takesMs = 1;
        int here = 0;
        for (int i = 0; i < 640; i++) {
            here += elsewhere(staging(10)) ? 0 : 1;
        }
        assertThat(here).isEqualTo(10);
    }
}
