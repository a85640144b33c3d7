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

    private static EpochOrder drawn(int samples, int length, int seed) throws Exception {
        String line = "sampler=torch-generator replacement=true num_samples=" + length + " seed=" + seed;
        return JobSpec.parse(line).sampler(samples).epoch(0);
    }

    /** An epoch reads each sample many times. */
    @ParameterizedTest
    @CsvSource({
        "1000, 10000, 64, 8000",
        "1000, 10000, 64, 0",
        "1000, 10000, 64, 9900",
        "300, 10000, 37, 8000",
        "10000, 1000000, 64, 800000",
        "10000, 1000000, 1000, 800000"
    })
    void whereSamplesRepeatOften_theTrainerIsFoundInItsPlaceAlone(int samples, int length, int reads, int from)
            throws Exception {
        EpochOrder order = drawn(samples, length, 1);
        AccessStream stream = new AccessStream(new EpochOrders(_ -> order, samples, System::nanoTime), 0, 1);
        for (int apart : new int[] {1, reads}) { // one loader, and two on batches that are so far apart
            int[] steps = IntStream.range(0, reads)
                    .map(i -> from + (apart == 1 ? i : i % 2 * apart + i / 2))
                    .toArray();
            int[] last = IntStream.of(steps).map(step -> order.sample(0, step)).toArray();
            PositionSearch.Found found = Objects.requireNonNull(PositionSearch.inEpoch(stream, order, 0, last));
            assertThat(AccessStream.step(found.position())).isBetween(from - reads, from + 2);
            for (int step : steps) {
                assertThat(found.read()).contains(AccessStream.position(0, step));
            }
            for (int seed = 2; seed < 5; seed++) {
                assertThat(PositionSearch.inEpoch(stream, drawn(samples, length, seed), 0, last))
                        .isNull();
            }
        }
    }

    /** Workers in step, each in a batch of its own: the last reads are clumps, a batch apart from one another. */
    @ParameterizedTest
    @CsvSource({"8, 256", "16, 512", "8, 1024", "32, 256"})
    void manyWorkersOnLargeBatches_areFound_howeverFarApartTheyRead(int workers, int batch) throws Exception {
        int samples = 200_000;
        int from = 50_000;
        EpochOrder order = JobSpec.parse("seed=1").sampler(samples).epoch(0);
        AccessStream stream = new AccessStream(new EpochOrders(_ -> order, samples, System::nanoTime), 0, 1);
        int[] last = IntStream.range(0, READS)
                .map(i -> order.sample(0, from + i % workers * batch + i / workers))
                .toArray();
        PositionSearch.Found found = Objects.requireNonNull(PositionSearch.inEpoch(stream, order, 0, last));
        assertThat(AccessStream.step(found.position())).isBetween(from, from + workers * batch);
        EpochOrder other = JobSpec.parse("seed=2").sampler(samples).epoch(0);
        assertThat(PositionSearch.inEpoch(stream, other, 0, last)).isNull();
    }
}
