package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may read from the source when, in virtual time. */
final class SourceTurnsTest {
    private static final double MB = 1e6;
    private static final double UNBOUNDED = 1e12;
    private static final long PIECE = InFlightLimit.PIECE_BYTES;

    @ParameterizedTest(name = "{0} samples of {1} MB, {2} MB/s, {3} loaders")
    @CsvSource({"24, 60, 60, 16", "30, 16, 60, 16", "24, 60, 20, 64", "20, 150, 2000, 16", "40, 16, 200, 64"})
    void sourceBoundByItsBandwidth_largeSamplesComeOneAfterTheOther_andNoTimeIsLost(
            int samples, int megabytes, int rate, int loaders) {
        SimulatedStore store = new SimulatedStore(rate * MB, UNBOUNDED, 0);
        double seconds = store.fetchAll(loaders, samples, (long) (megabytes * MB));
        double each = megabytes / (double) rate;
        assertThat(seconds).isLessThan(1.01 * samples * each);
        assertThat(store.arrivedAt.getFirst())
                .as("alone but for a trial of more at once")
                .isLessThan(each + 12.0 / rate + 0.03);
        assertThat(store.arrivedAt.get(3)).as("a batch of four").isLessThan(1.1 * 4 * each);
        assertThat(store.arrived).as("in order").isSorted();
    }

    @ParameterizedTest(name = "{0} samples of {1} kB, {2} loaders")
    @CsvSource({"20000, 10, 64", "20000, 110, 16", "4000, 1000, 16", "4000, 1000, 64"})
    void sourceBoundByItsLatency_asManySamplesAtOnceAsThereAreLoaders(int samples, int kilobytes, int loaders) {
        double latency = 0.02;
        SimulatedStore store = new SimulatedStore(UNBOUNDED, UNBOUNDED, latency);
        store.fetchAll(loaders, samples, kilobytes * 1000L);
        double seconds = store.fetchAll(loaders, samples, kilobytes * 1000L);
        assertThat(seconds).isLessThan(1.15 * samples * latency / loaders);
    }

    @ParameterizedTest(name = "{0} MB/s for a stream, {1} MB/s in all")
    @CsvSource({"50, 800", "100, 400", "25, 400"})
    void sourceOfSlowStreams_largeSamplesAreReadManyAtATime(int stream, int all) {
        SimulatedStore store = new SimulatedStore(all * MB, stream * MB, 0.005);
        store.fetchAll(16, 150, 16_000_000);
        double seconds = store.fetchAll(16, 750, 16_000_000);
        assertThat(seconds).isLessThan(1.1 * 750 * 16 / (all * PIECE / (PIECE + 0.005 * stream * MB)));
    }

    @Test
    void sourceThatSeemsAFifthFasterForAMoment_isNotAskedForMore() {
        SimulatedStore store = new SimulatedStore(54 * MB, UNBOUNDED, 0);
        List<SimulatedStore.Fetch> fetches = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            fetches.add(store.new Fetch(i, 16_000_000, FetchUrgency.STAGING));
        }
        while (store.turns.limitBytes() == PIECE) {
            store.step(1);
        }
        store.bandwidth(66 * MB);
        long most = 0;
        while (store.arrived.size() < 4) {
            most = Math.max(most, store.turns.limitBytes());
            store.step(1);
        }
        assertThat(most).isEqualTo(2 * PIECE);
        assertThat(store.now()).as("a batch of four").isLessThan(1.2 * 4 * 16 / 60);
        assertThat(fetches).allSatisfy(each -> assertThat(each.turn.has()).isEqualTo(each.sample == 4));
    }

    @ParameterizedTest(name = "slower for {0} of every {1} ms")
    @CsvSource({"50, 100", "50, 150", "100, 200", "30, 400", "90, 250"})
    void sourceThatIsSlowerNowAndThen_isNotAskedForMore_thanForATrial(int slowMs, int everyMs) {
        SimulatedStore store = new SimulatedStore(200 * MB, UNBOUNDED, 0);
        for (int i = 0; i < 64; i++) {
            SimulatedStore.Fetch _ = store.new Fetch(i, 150_000_000, FetchUrgency.STAGING);
        }
        double beyond = 0;
        while (store.arrived.size() < 32) {
            store.bandwidth(store.now() * 1000 % everyMs < slowMs ? 165 * MB : 200 * MB);
            double before = store.now();
            boolean isMore = store.turns.limitBytes() > PIECE;
            store.step(0.005);
            beyond += isMore ? store.now() - before : 0;
        }
        assertThat(beyond / store.now()).as("part of the time").isLessThan(0.15);
        assertThat(store.arrived).as("in order").isSorted();
    }

    @Test
    void sourceThatIsFoundToBeBoundByItsBandwidth_isAskedForLessAgain() {
        SimulatedStore store = new SimulatedStore(800 * MB, 50 * MB, 0);
        store.fetchAll(16, 750, 16_000_000);
        assertThat(store.turns.limitBytes()).isBetween(8 * PIECE, 64 * PIECE);
    }

    @Test
    void readersSample_overtakesEverythingElse_fromItsNextPieceOn() {
        SimulatedStore store = new SimulatedStore(100 * MB, UNBOUNDED, 0);
        List<SimulatedStore.Fetch> fetches = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            fetches.add(store.new Fetch(i, 50_000_000, FetchUrgency.STAGING));
        }
        fetches.add(store.new Fetch(100, 50_000_000, FetchUrgency.FILLING));
        for (int i = 0; i < 5; i++) {
            store.step(1);
        }
        store.turns.urge(fetches.getLast().turn, FetchUrgency.READER, 0);
        while (store.arrived.size() < 9) {
            store.step(1);
        }
        assertThat(store.arrived).containsExactly(100, 0, 1, 2, 3, 4, 5, 6, 7);
    }

    @Test
    void whatNobodyWaitsFor_comesLast() {
        SimulatedStore store = new SimulatedStore(100 * MB, UNBOUNDED, 0);
        for (int i = 0; i < 3; i++) {
            SimulatedStore.Fetch _ = store.new Fetch(i, PIECE, FetchUrgency.FILLING);
            SimulatedStore.Fetch _ = store.new Fetch(20 - i, PIECE, FetchUrgency.STAGING);
            SimulatedStore.Fetch _ = store.new Fetch(40 - i, PIECE, FetchUrgency.READER);
        }
        while (store.arrived.size() < 9) {
            store.step(1);
        }
        assertThat(store.arrived).as("the first had begun").containsExactly(0, 38, 39, 40, 18, 19, 20, 1, 2);
    }

    @Test
    void fileThatHangs_keepsNobodyWaitingForLong() {
        SimulatedStore store = new SimulatedStore(100 * MB, UNBOUNDED, 0);
        SimulatedStore.Fetch lost = store.new Fetch(0, 50_000_000, FetchUrgency.READER);
        lost.hang();
        SimulatedStore.Fetch _ = store.new Fetch(1, PIECE, FetchUrgency.FILLING);
        while (store.arrived.isEmpty()) {
            store.step(1);
        }
        assertThat(store.now()).isLessThan(1.1);
        assertThat(lost.turn.isLost((long) (store.now() * 1e9), 500_000_000)).isTrue();
        store.turns.leave(lost.turn, false);
        assertThat(store.turns.inFlightBytes()).isZero();
        assertThat(store.turns.begunBytes()).isZero();
    }

    @Test
    void fileThatHangs_keepsNobodyWaitingForLong_afterOneThatHungAndCameInTheEnd() {
        SimulatedStore store = new SimulatedStore(100 * MB, UNBOUNDED, 0);
        SimulatedStore.Fetch late = store.new Fetch(0, PIECE, FetchUrgency.READER);
        late.hang();
        while (store.now() < 60) {
            store.step(1);
        }
        late.goOn();
        store.step(1);
        assertThat(store.arrived).containsExactly(0);
        double since = store.now();
        store.new Fetch(1, 50_000_000, FetchUrgency.READER).hang();
        SimulatedStore.Fetch _ = store.new Fetch(2, PIECE, FetchUrgency.FILLING);
        while (store.arrived.size() < 2) {
            store.step(1);
        }
        assertThat(store.now() - since).isLessThan(2);
    }

    // Promise W2
    @Test
    void fileWhoseOpenHangs_isLost() {
        SimulatedStore store = new SimulatedStore(100 * MB, UNBOUNDED, 0);
        SourceTurns.Turn opens = store.turns.enter(PIECE, FetchUrgency.READER, 0, () -> {});
        long since = (long) (store.now() * 1e9);
        assertThat(opens.isLost(since + 500_000_000, 500_000_000)).isFalse();
        assertThat(opens.isLost(since + 500_000_001, 500_000_000)).isTrue();
    }

    // Promise W2
    @Test
    void readersWhoseFilesHang_keepNoOtherReaderFromBeginning() {
        SimulatedStore store = new SimulatedStore(100 * MB, UNBOUNDED, 0);
        long bytes = SourceTurns.MOST_BEGUN_BYTES;
        store.new Fetch(0, bytes, FetchUrgency.STAGING).hang();
        for (int i = 1; i < 4; i++) {
            store.new Fetch(i, bytes, FetchUrgency.READER).hang();
        }
        SimulatedStore.Fetch healthy = store.new Fetch(9, PIECE, FetchUrgency.READER);
        for (int i = 0; i < 20 && store.arrived.isEmpty(); i++) {
            store.step(1);
        }
        assertThat(store.arrived).containsExactly(9);
        assertThat(healthy.turn.has()).isFalse();
    }

    @Test
    void samplesThatWaitForTheirTurn_areNotLost() {
        SimulatedStore store = new SimulatedStore(1 * MB, UNBOUNDED, 0);
        SimulatedStore.Fetch _ = store.new Fetch(0, PIECE, FetchUrgency.STAGING);
        SimulatedStore.Fetch waits = store.new Fetch(1, PIECE, FetchUrgency.STAGING);
        store.step(0.1);
        assertThat(waits.turn.has()).isFalse();
        assertThat(waits.turn.isLost((long) (store.now() * 1e9), 1)).isFalse();
    }

    @Test
    void samplesThatHaveBegun_takeBoundedMemory_andAReadersMayBeginAllTheSame() {
        SimulatedStore store = new SimulatedStore(UNBOUNDED, UNBOUNDED, 10);
        long bytes = SourceTurns.MOST_BEGUN_BYTES / 8;
        for (int i = 0; i < 16; i++) {
            SimulatedStore.Fetch hanging = store.new Fetch(i, bytes, FetchUrgency.STAGING);
            hanging.hang();
        }
        for (int i = 0; i < 100; i++) {
            store.step(1);
        }
        assertThat(store.turns.begunBytes()).isEqualTo(6 * bytes);
        SimulatedStore.Fetch reader = store.new Fetch(99, bytes, FetchUrgency.READER);
        for (int i = 0; i < 10; i++) {
            store.step(1);
        }
        assertThat(reader.turn.has()).isTrue();
    }

    @ParameterizedTest(name = "{0} beside {1}")
    @CsvSource({"STAGING, FILLING", "READER, PEER"})
    void sampleTooLargeForTheMemoryThatIsFree_isNotOvertakenForEver(FetchUrgency urgent, FetchUrgency other) {
        SimulatedStore store = new SimulatedStore(UNBOUNDED, UNBOUNDED, 0.02);
        long bytes = SourceTurns.MOST_BEGUN_BYTES / 8;
        int entered = 0;
        for (int i = 0; i < 5_000; i++) {
            for (; entered - store.arrived.size() < 16; entered++) {
                SimulatedStore.Fetch _ = store.new Fetch(1 + entered, bytes, other);
            }
            store.step(1);
        }
        assertThat(store.turns.begunBytes()).as("all that they may take").isGreaterThanOrEqualTo(6 * bytes);

        int before = store.arrived.size();
        SimulatedStore.Fetch _ = store.new Fetch(0, 2 * bytes, urgent);
        entered++;
        while (!store.arrived.contains(0)) {
            store.step(1);
            for (; entered - store.arrived.size() < 17; entered++) {
                SimulatedStore.Fetch _ = store.new Fetch(1 + entered, bytes, other);
            }
            assertThat(store.arrived).hasSizeLessThan(before + 50);
        }
    }

    @Test
    void sampleTooLargeForTheMemoryThatFilesLeaveThatHang_keepsNoOtherOut() {
        SimulatedStore store = new SimulatedStore(100 * MB, UNBOUNDED, 0);
        long bytes = SourceTurns.MOST_BEGUN_BYTES / 8;
        for (int i = 0; i < 5; i++) {
            store.new Fetch(i, bytes, FetchUrgency.STAGING).hang();
        }
        while (store.now() < 60) {
            store.step(1);
        }
        SimulatedStore.Fetch _ = store.new Fetch(10, 2 * bytes, FetchUrgency.STAGING);
        SimulatedStore.Fetch _ = store.new Fetch(11, bytes, FetchUrgency.STAGING);
        while (store.arrived.isEmpty() && store.now() < 120) {
            store.step(1);
        }
        assertThat(store.arrived).containsExactly(11);
    }
}
