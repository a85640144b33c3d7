package io.clairfs.cache.plan.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.plan.PlanCases;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** How what is observed takes over from the model, and gives back to it. */
final class ObservedRatesTest {
    private static final Place PEER = new Place.Peer(0);
    private static final double MEMORY_SECONDS = 60;
    private static final NodeStorage STORAGE = NodeStorage.of(StorageClass.memory(1), PlanCases.ssd(1));
    private static final FetchCosts MODEL = FetchCosts.of(PerformanceModel.unmeasured(), STORAGE, 1);

    private final AtomicLong nanos = new AtomicLong();
    private final ObservedRates rates = new ObservedRates(MODEL, MEMORY_SECONDS, nanos::get);

    @Test
    void fetchSeconds_nothingObserved_isTheModels() {
        for (Place place : new Place[] {Place.SOURCE, PEER, new Place.Local(0), new Place.Local(1)}) {
            assertThat(rates.fetchSeconds(place, 12_345)).isEqualTo(MODEL.fetchSeconds(place, 12_345));
        }
    }

    @Test
    void record_fetchesOfManySizes_findsLatencyAndRate() {
        Random random = new Random(1);
        for (int i = 0; i < 500; i++) {
            long bytes = random.nextInt(4_000_000);
            rates.record(Place.SOURCE, bytes, (long) (1e9 * (0.02 + bytes / 50e6)));
        }
        assertThat(rates.fetchSeconds(Place.SOURCE, 0)).isCloseTo(0.02, Percentage.withPercentage(10));
        assertThat(rates.fetchSeconds(Place.SOURCE, 10_000_000)).isCloseTo(0.22, Percentage.withPercentage(10));
        assertThat(rates.fetchSeconds(PEER, 1000)).isEqualTo(MODEL.fetchSeconds(PEER, 1000));
    }

    @Test
    void record_fetchesOfOneSize_isRightAtThatSize() {
        for (int i = 0; i < 100; i++) {
            rates.record(new Place.Local(1), 110_000, 2_000_000);
        }
        assertThat(rates.fetchSeconds(new Place.Local(1), 110_000)).isCloseTo(0.002, Percentage.withPercentage(5));
    }

    @Test
    void record_olderFetches_areForgotten() {
        for (int i = 0; i < 100; i++) {
            rates.record(PEER, 100_000, 50_000_000);
        }
        for (int i = 0; i < 200; i++) {
            rates.record(PEER, 100_000, 1_000_000);
        }
        assertThat(rates.fetchSeconds(PEER, 100_000)).isCloseTo(0.001, Percentage.withPercentage(20));
    }

    @Test
    void fetchSeconds_placeNotUsedForLong_isTheModelsAgain() {
        for (int i = 0; i < 100; i++) {
            rates.record(PEER, 100_000, 1_000_000_000);
        }
        double slow = rates.fetchSeconds(PEER, 100_000);
        assertThat(slow).isGreaterThan(rates.fetchSeconds(Place.SOURCE, 100_000));
        nanos.addAndGet((long) (MEMORY_SECONDS * 1e9));
        assertThat(rates.fetchSeconds(PEER, 100_000)).isLessThan(slow);
        nanos.addAndGet((long) (30 * MEMORY_SECONDS * 1e9));
        double again = rates.fetchSeconds(PEER, 100_000);
        assertThat(again).isCloseTo(MODEL.fetchSeconds(PEER, 100_000), within(1e-6));
        assertThat(again).isLessThan(rates.fetchSeconds(Place.SOURCE, 100_000));
    }

    @Test
    void fetchSeconds_isNeverNegative() {
        Random random = new Random(2);
        for (int i = 0; i < 200; i++) {
            rates.record(Place.SOURCE, random.nextInt(10_000_000), random.nextInt(1_000_000_000));
            assertThat(rates.fetchSeconds(Place.SOURCE, random.nextInt(20_000_000)))
                    .isNotNegative();
        }
        assertThatIllegalArgumentException().isThrownBy(() -> rates.record(Place.SOURCE, 1, -1));
    }
}
