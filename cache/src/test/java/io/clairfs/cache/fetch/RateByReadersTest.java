package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.plan.model.Contention;
import io.clairfs.cache.plan.model.Throughput;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What the gate learns about the source's rate by how many pieces it has requested at once. */
final class RateByReadersTest {
    private static final long MS = 1_000_000;
    private static final long BELIEVED = 30_000 * MS;

    private final RateByReaders rate = new RateByReaders(1.0 / 8, BELIEVED);
    private long nowNs;

    @Test
    void nothingArrived_noCurve() {
        assertThat(rate.curve(0)).isNull();
    }

    @Test
    void pieces_giveTheRateOfAllReadersTogether() {
        rate.arrived(1, 1_000_000, 100 * MS, 0); // 10 MB/s alone
        rate.arrived(4, 1_000_000, 200 * MS, 0); // 5 MB/s each
        Throughput curve = Objects.requireNonNull(rate.curve(0));
        assertThat(curve.at(1)).isCloseTo(10e6, within(1.0));
        assertThat(curve.at(4)).isCloseTo(20e6, within(1.0));
        assertThat(curve.at(100)).isCloseTo(20e6, within(1.0));
    }

    @Test
    void numberOfReaders_notSeenForLong_isForgotten() {
        rate.arrived(1, 1_000_000, 100 * MS, 0);
        rate.arrived(2, 1_000_000, 100 * MS, BELIEVED);
        assertThat(Objects.requireNonNull(rate.curve(BELIEVED + 1)).points())
                .extracting(Throughput.Point::threads)
                .containsExactly(2);
        assertThat(rate.curve(2 * BELIEVED + 1)).isNull();
    }

    /** A source of 20 MB/s, however many read: the turns' curve is flat, and fillers at the source are counted. */
    @Test
    void turns_ofASaturatedSource_sayThatMoreReadersGainNothing() {
        SourceTurns turns = new SourceTurns(() -> nowNs);
        List<SourceTurns.Turn> there = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            there.add(turns.enter(500_000, i == 0 ? FetchUrgency.FILLING : FetchUrgency.STAGING, i, () -> {}));
            turns.ask(there.getLast(), 500_000);
        }
        assertThat(there).allMatch(SourceTurns.Turn::has);
        assertThat(turns.contention()).isNull();
        nowNs = 100 * MS; // four pieces in the time of 2 MB
        turns.leave(there.get(3), true);
        Contention four = Objects.requireNonNull(turns.contention());
        assertThat(four.rate().at(4)).isCloseTo(20e6, within(1.0));
        assertThat(four.others()).isEqualTo(1);
        turns.leave(there.get(0), true);
        assertThat(Objects.requireNonNull(turns.contention()).others()).isZero();
        assertThat(Objects.requireNonNull(turns.contention()).rate().at(16)).isCloseTo(20e6, within(1.0));
    }
}
