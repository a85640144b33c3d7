package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.TickingClock;
import io.clairfs.cache.tier.MemoryTier;
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
        return new JobRun(spec, dataset.index, dataset.tree, staging, orders, new TickingClock());
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
                    run.stream(rank).nextToStage(Long.MAX_VALUE);
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
            run.stream(0).nextToStage(Long.MAX_VALUE);
            run.read(dataset.file(step));
        }
        run.prepareNextEpoch();
        run.prepareNextEpoch();
        assertThat(computed).containsExactly(0, 1);
    }

    /** A rank reads so few samples of an epoch that its window reaches over four of them. */
    @Test
    void largeWorld_eachOrderIsComputedOnce() throws Exception {
        int samples = 1_000_000;
        FakeDataset dataset = new FakeDataset(samples, _ -> 0);
        JobRun run = job(dataset, "seed=1 batch=1 ranks=0-3 world=1024 epochs=9");
        keepFilling(run);
        EpochOrder first = run.orders().epoch(0);
        for (int step = 0; step < first.length(0); step++) {
            for (int rank = 0; rank < RANKS; rank++) {
                run.stream(rank).nextToStage(Long.MAX_VALUE);
                run.read(dataset.file(first.sample(rank, step)));
            }
        }
        run.prepareNextEpoch();
        keepFilling(run);
        assertThat(computed).doesNotHaveDuplicates().contains(0, 1, 2, 3);
    }

    /** All who look at orders, over one job: the planner, two fill orders, staging, reads, and the search for a trainer that is elsewhere. */
    @ParameterizedTest
    @ValueSource(ints = {20_000, 40_000})
    void planFillStageAndSearch_computeEachOrderOnce(int samples) throws Exception {
        int epochs = 9;
        FakeDataset dataset = new FakeDataset(samples, _ -> 1);
        JobRun run = job(dataset, "seed=1 batch=8 ranks=0-3 world=4 epochs=" + epochs);
        try (MemoryTier memory = new MemoryTier(samples / 2);
                Admission admission = new Admission(dataset.tree, memory, List.of(), samples)) {
            NodePlanner planner = NodePlanner.alone(
                    dataset.tree,
                    admission,
                    () -> NodeStorage.of(StorageClass.memory(samples / 2)),
                    PerformanceModel.unmeasured(),
                    PlacementPolicy.CLAIRFS,
                    PlanLimits.DEFAULT);
            LocalPlan plan = planner.plan(List.of(run));
            assertThat(plan.fillOrder(0)).isNotEmpty();
            for (int rank = 0; rank < RANKS; rank++) {
                run.stream(rank).nextToStage(Long.MAX_VALUE);
            }
            EpochOrder there = run.spec().sampler(dataset.index).epoch(epochs - 2);
            for (int step = 0; !run.wantsSearch(); step++) {
                for (int rank = 0; rank < RANKS; rank++) {
                    run.read(dataset.file(there.sample(rank, step)));
                }
            }
            assertThat(run.search()).isTrue();
            assertThat(run.epoch()).isEqualTo(epochs - 2);
            run.prepareNextEpoch();
            assertThat(planner.plan(List.of(run)).fillOrder(0)).isNotEmpty();
        }
        assertThat(computed).doesNotHaveDuplicates().contains(0, epochs - 2);
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
