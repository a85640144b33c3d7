package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.testing.FakeDataset;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The last reads of a trainer, looked for in the orders of epochs. */
final class PositionSearchTest {
    private static final int SAMPLES = 5_000;
    private static final int READS = 64;

    /** With replacement, a third of an epoch's samples is read in it more than once. */
    @ParameterizedTest
    @CsvSource({
        "seed=1, 10",
        "seed=1, 4900",
        "sampler=torch-generator seed=1 replacement=true, 10",
        "sampler=torch-generator seed=1 replacement=true, 4900"
    })
    void lastReads_areFoundInTheirEpochAlone_alsoWhereSamplesAreRepeated(String job, int from) throws Exception {
        FakeDataset dataset = new FakeDataset(SAMPLES, _ -> 1);
        EpochOrders orders = new EpochOrders(JobSpec.parse(job).sampler(dataset.index), SAMPLES, System::nanoTime);
        AccessStream stream = new AccessStream(orders, 0, 3);
        EpochOrder order = orders.epoch(1);
        int[] last = IntStream.range(from, from + READS)
                .map(step -> order.sample(0, from + READS - 1 - (step - from)))
                .toArray();
        PositionSearch.Found found = Objects.requireNonNull(PositionSearch.inEpoch(stream, order, 1, last));
        for (int step = from; step < from + READS; step++) {
            assertThat(found.read()).contains(AccessStream.position(1, step));
        }
        assertThat(PositionSearch.inEpoch(stream, orders.epoch(0), 0, last)).isNull();
        assertThat(PositionSearch.inEpoch(stream, orders.epoch(2), 2, last)).isNull();
    }
}
