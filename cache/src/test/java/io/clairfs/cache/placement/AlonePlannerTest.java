package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.testing.TickingClock;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The plan of a node on its own. The tiers have room for 10 and 20 of 90 samples. */
final class AlonePlannerTest extends NodePlannerFixture {
    private final MemoryTier memory = new MemoryTier(10 * SIZE);
    private final RecordingTier disk = new RecordingTier(20 * SIZE);
    private final Admission admission;
    private final NodePlanner planner;
    private final JobRun job;

    AlonePlannerTest() throws Exception {
        admission = new Admission(dataset.tree, memory, List.of(disk), SAMPLES * SIZE);
        NodeStorage storage = NodeStorage.of(StorageClass.memory(10 * SIZE), RecordingTier.asClass(20 * SIZE));
        planner = NodePlanner.alone(
                dataset.tree,
                admission,
                () -> storage,
                PerformanceModel.unmeasured(),
                PlacementPolicy.CLAIRFS,
                PlanLimits.DEFAULT);
        JobSpec spec = JobSpec.parse("seed=1 epochs=5");
        job = new JobRun(spec, dataset.index, dataset.tree, staging(), new TickingClock());
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
        admission.follow(LocalPlan.WHILE_ROOM);
        List<Integer> here = new ArrayList<>();
        for (int sample = 3; sample < SAMPLES; sample += 4) {
            SampleBuffer buffer = dataset.sample(sample);
            admission.fetched(dataset.file(sample), buffer, false);
            buffer.release();
            here.add(sample);
        }
        assertThat(memory.samples()).isEqualTo(10);
        for (int i = 0; i < 3; i++) {
            assertThat(admission.writeNext(1)).isTrue();
        }
        assertThat(here).hasSize(22).allMatch(sample -> admission.residents().isHere(dataset.file(sample)));
        LocalPlan plan = planner.plan(List.of(job));
        List<Integer> planned = new ArrayList<>(plannedFor(plan, 0));
        planned.addAll(plannedFor(plan, 1));
        assertThat(planned).containsAll(here);
        admission.close();
        memory.close();
        disk.close();
    }

    private NodePlanner withRoomForAll() {
        MemoryTier large = new MemoryTier(2 * SAMPLES * SIZE);
        NodeStorage storage = NodeStorage.of(StorageClass.memory(2 * SAMPLES * SIZE));
        return NodePlanner.alone(
                dataset.tree,
                new Admission(dataset.tree, large, List.of(), SIZE),
                () -> storage,
                PerformanceModel.unmeasured(),
                PlacementPolicy.CLAIRFS,
                PlanLimits.DEFAULT);
    }

    @Test
    void plan_whereSamplesAreDrawnWithReplacement_isForThoseOfAllEpochs() throws Exception {
        LocalPlan plan =
                withRoomForAll().plan(List.of(run("sampler=torch-generator replacement=true seed=1 epochs=90")));
        assertThat(plannedFor(plan, 0)).hasSize(SAMPLES);
    }

    @Test
    void plan_thatLooksAtPartOfTheEpochs_isOverInTheLastOfThem() throws Exception {
        JobRun few = run("seed=1 world=30 ranks=0");
        NodePlanner large = withRoomForAll();
        LocalPlan plan = large.plan(List.of(few));
        assertThat(plannedFor(plan, 0)).hasSizeLessThan(SAMPLES);
        int epochs = PlanLimits.DEFAULT.epochsWhenEndless();
        for (int epoch = 0; epoch < epochs - 1; epoch++) {
            assertThat(plan.isStale()).as("in epoch %d", epoch).isFalse();
            EpochOrder order = few.orders().epoch(epoch);
            for (int step = 0; step < order.length(0); step++) {
                few.read(dataset.file(order.sample(0, step)));
            }
        }
        assertThat(few.epoch()).isEqualTo(epochs - 1);
        assertThat(plan.isStale()).isTrue();
        LocalPlan next = large.plan(List.of(few));
        EpochOrder later = few.orders().epoch(epochs + 5);
        assertThat(next.tierOf(dataset.file(later.sample(0, 0)))).isZero();
        assertThat(next.isStale()).isFalse();
    }

    @Test
    void refilled_fillsFirstWhatATrainerReadsNextThatWasFoundElsewhere() throws Exception {
        LocalPlan plan = planner.plan(List.of(job));
        EpochOrder there = job.spec().sampler(dataset.index).epoch(3);
        int read = 0;
        while (!job.wantsSearch()) {
            job.read(dataset.file(there.sample(0, read++)));
        }
        assertThat(job.search()).isTrue();

        List<Integer> planned = new ArrayList<>();
        for (int step = read; step < there.length(0); step++) {
            if (plan.tierOf(dataset.file(there.sample(0, step))) == 1) {
                planned.add(dataset.file(there.sample(0, step)));
            }
        }
        assertThat(planned).isNotEmpty();
        assertThat(Arrays.stream(planner.refilled(plan).fillOrder(1))
                        .boxed()
                        .limit(planned.size())
                        .toList())
                .isEqualTo(planned);
        assertThat(Arrays.stream(plan.fillOrder(1))
                        .boxed()
                        .limit(planned.size())
                        .toList())
                .as("before")
                .isNotEqualTo(planned);
    }
}
