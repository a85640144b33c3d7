package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How often the orders of a job are computed: each once, whoever looks at it. Samples are empty. */
final class OrdersInUseTest {
    private static final int RANKS = 4;
    private static final int EPOCHS = 4;

    private final List<Integer> computed = Collections.synchronizedList(new ArrayList<>());
    private final StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1000, 1 << 20);

    private JobRun job(FakeDataset dataset, String line) throws InvalidSpecException {
        JobSpec spec = JobSpec.parse(line);
        Sampler sampler = spec.sampler(dataset.index);
        Sampler counting = epoch -> {
            computed.add(epoch);
            return sampler.epoch(epoch);
        };
        EpochOrders orders = new EpochOrders(counting, dataset.index.size(), System::nanoTime);
        return new JobRun(spec, dataset.index, dataset.tree, staging, orders, System::nanoTime);
    }

    /** Reads epochs as four ranks in step do, while samples are staged as far ahead as there are any, status is looked at, and orders are computed ahead. */
    @ParameterizedTest
    @ValueSource(ints = {400, 5_000, 40_000})
    void fourRanksOverTheBoundariesOfEpochs_eachOrderIsComputedOnce(int samples) throws Exception {
        FakeDataset dataset = new FakeDataset(samples, _ -> 0);
        JobRun run = job(dataset, "seed=1 batch=8 ranks=0-3 world=4 epochs=" + EPOCHS);
        int length = samples / RANKS;
        EpochOrder[] orders = new EpochOrder[EPOCHS];
        Sampler same = run.spec().sampler(dataset.index);
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            orders[epoch] = same.epoch(epoch);
        }
        keepFilling(run);
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            for (int step = 0; step < length; step++) {
                for (int rank = 0; rank < RANKS; rank++) {
                    run.nextToStage(rank, Long.MAX_VALUE);
                    run.read(dataset.file(orders[epoch].sample(rank, step)));
                }
                if (step % 64 == 0) {
                    run.prepareNextEpoch();
                    run.progress();
                }
            }
            keepFilling(run);
        }
        assertThat(run.progress().done()).isTrue();
        assertThat(computed).containsExactlyInAnyOrder(0, 1, 2, 3);
    }

    /** What two tiers ask for at a new plan, and where there is none. */
    private static void keepFilling(JobRun run) throws InvalidSpecException {
        WhileRoom meanwhile = WhileRoom.of(List.of(run));
        assertThat(meanwhile.fillOrder(0)).isSameAs(meanwhile.fillOrder(1));
    }

    @Test
    void nextEpoch_isComputedAhead_inTheLaterHalfOfTheOneBefore() throws Exception {
        int samples = 40_000;
        FakeDataset dataset = new FakeDataset(samples, _ -> 0);
        JobRun run = job(dataset, "seed=1 epochs=2 sampler=sequential");
        run.prepareNextEpoch();
        assertThat(computed).containsExactly(0);
        for (int step = 0; step < samples / 2; step++) {
            run.nextToStage(0, Long.MAX_VALUE);
            run.read(dataset.file(step));
        }
        run.prepareNextEpoch();
        run.prepareNextEpoch();
        assertThat(computed).containsExactly(0, 1);
    }

    /** The trainer reads an epoch that is not the one expected. */
    @Test
    void search_looksAtEachEpochOnce_forAllRanks() throws Exception {
        FakeDataset dataset = new FakeDataset(20_000, _ -> 0);
        JobRun run = job(dataset, "seed=1 batch=8 ranks=0-3 world=4 epochs=60");
        EpochOrder there = run.spec().sampler(dataset.index).epoch(30);
        for (int step = 0; !run.wantsSearch(); step++) {
            for (int rank = 0; rank < RANKS; rank++) {
                run.read(dataset.file(there.sample(rank, step)));
            }
        }
        computed.clear();
        assertThat(run.search()).isTrue();
        assertThat(run.epoch()).isEqualTo(30);
        assertThat(computed).doesNotHaveDuplicates().hasSizeLessThan(64);
    }
}
