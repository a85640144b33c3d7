package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.plan.NodeStorage;
import io.clairfs.cache.plan.PerformanceModel;
import io.clairfs.cache.plan.PlacementPolicy;
import io.clairfs.cache.plan.PlanLimits;
import io.clairfs.cache.plan.StorageClass;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The plan of a node on its own. Samples have 1,000 bytes; the tiers have room for 10 and 20 of 90. */
final class NodePlannerTest {
    private static final int SAMPLES = 90;
    private static final long SIZE = 1_000;

    private final FakeDataset dataset;
    private final MemoryTier memory = new MemoryTier(10 * SIZE);
    private final RecordingTier disk = new RecordingTier(20 * SIZE);
    private final TierKeeper keeper;
    private final NodePlanner planner;
    private final JobRun job;

    NodePlannerTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> SIZE);
        keeper = new TierKeeper(dataset.tree, memory, List.of(disk), SAMPLES * SIZE);
        NodeStorage storage = NodeStorage.of(StorageClass.memory(10 * SIZE), StorageClass.ssd(20 * SIZE));
        planner = NodePlanner.alone(
                dataset.tree,
                keeper,
                storage,
                PerformanceModel.unmeasured(),
                PlacementPolicy.CLAIRFS,
                PlanLimits.DEFAULT);
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1000, 10);
        JobSpec spec = JobSpec.parse("seed=1 epochs=5");
        job = new JobRun(spec, dataset.index, dataset.tree, staging, 2, false, System::nanoTime);
    }

    private List<Integer> plannedFor(LocalPlan plan, int tier) {
        List<Integer> planned = new ArrayList<>();
        for (int sample = 0; sample < SAMPLES; sample++) {
            if (plan.tierOf(dataset.file(sample)) == tier) {
                planned.add(sample);
            }
        }
        return planned;
    }

    @Test
    void plan_fillsTheTiersAndNoMore() throws Exception {
        LocalPlan plan = planner.plan(List.of(job));
        assertThat(plannedFor(plan, 0)).hasSizeBetween(9, 10);
        assertThat(plannedFor(plan, 1)).hasSizeBetween(17, 20);
        assertThat(plan.tierOf(dataset.tree.entryCount())).isEqualTo(LocalPlan.NOWHERE);
    }

    @Test
    void plan_prefersWhatIsHere_alsoWhatIsOnItsWayToTheDisk() throws Exception {
        keeper.follow(LocalPlan.WHILE_ROOM);
        List<Integer> here = new ArrayList<>();
        for (int sample = 3; sample < SAMPLES; sample += 4) {
            SampleBuffer buffer = dataset.sample(sample);
            keeper.fetched(dataset.file(sample), buffer, false);
            buffer.release();
            here.add(sample);
        }
        assertThat(memory.samples()).isEqualTo(10);
        for (int i = 0; i < 3; i++) {
            assertThat(keeper.writeNext(1)).isTrue();
        }
        assertThat(here).hasSize(22).allMatch(sample -> keeper.isHere(dataset.file(sample)));
        LocalPlan plan = planner.plan(List.of(job));
        List<Integer> planned = new ArrayList<>(plannedFor(plan, 0));
        planned.addAll(plannedFor(plan, 1));
        assertThat(planned).containsAll(here);
        keeper.close();
        memory.close();
        disk.close();
    }
}
