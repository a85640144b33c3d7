package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.Group;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.placement.NodePlanner;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.worker.Activity;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What it costs to fill a tier of one of many nodes, by counts: it grows with what the node keeps, not with the world. */
final class FillCostTest {
    private static final int KEPT = 60;
    private static final long SIZE = 100;

    @ParameterizedTest
    @ValueSource(ints = {4, 64})
    void looksAtThePlan_areAFewForEachSampleThatIsKept(int world) throws Exception {
        int samples = KEPT * world;
        FakeDataset dataset = new FakeDataset(samples, _ -> SIZE);
        NodeStorage storage = NodeStorage.of(StorageClass.memory(2 * KEPT * SIZE));
        Group group = new Group(
                IntStream.range(0, world).mapToObj(i -> new UUID(1, i)).toList(),
                Collections.nCopies(world, storage),
                0,
                FileNumbers.of(dataset.tree),
                _ -> IntStream.range(0, world).toArray());
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1000, 10);
        JobRun run = new JobRun(
                JobSpec.parse("seed=1 epochs=9 ranks=0 world=" + world),
                dataset.index,
                dataset.tree,
                staging,
                System::nanoTime);
        AtomicLong looks = new AtomicLong();
        try (MemoryTier memory = new MemoryTier(2 * KEPT * SIZE);
                SamplesInUse inUse = new SamplesInUse();
                Admission admission = new Admission(dataset.tree, memory, List.of(), SIZE)) {
            NodePlanner planner = new NodePlanner(
                    dataset.tree,
                    admission,
                    () -> group,
                    PerformanceModel.unmeasured(),
                    PlacementPolicy.CLAIRFS,
                    PlanLimits.DEFAULT);
            LocalPlan plan = planner.plan(List.of(run));
            int[] order = plan.fillOrder(0);
            assertThat(order.length).isBetween(KEPT / 2, 2 * KEPT);
            assertThat(Arrays.stream(order).distinct().count()).isEqualTo(order.length);
            assertThat(Arrays.stream(order).map(plan::tierOf)).containsOnly(0);
            admission.follow(counted(plan, looks));
            ObservedRates rates =
                    new ObservedRates(FetchCosts.of(PerformanceModel.unmeasured(), storage, 1), 60, System::nanoTime);
            TierPrefetcher filler = new TierPrefetcher(
                    0,
                    admission,
                    new FetchRouter(
                            new FetchPlaces(dataset.tree, dataset, admission, inUse, PeerFetch.NONE),
                            FetchLimits.DEFAULT,
                            rates,
                            new Counters(),
                            System::nanoTime),
                    new LoaderShares(LoaderAssignment.fixed(), 1000, 1, () -> false, System::nanoTime),
                    new Activity());
            while (filler.fillOne()) {
                assertThat(looks.get()).isLessThan(10L * order.length);
            }
            assertThat(dataset.reads()).hasSize(order.length);
            assertThat(looks.get()).as("one before a fetch, a few after").isLessThanOrEqualTo(4L * order.length);
        }
    }

    private static LocalPlan counted(LocalPlan plan, AtomicLong looks) {
        return new LocalPlan() {
            @Override
            public int tierOf(int file) {
                looks.incrementAndGet();
                return plan.tierOf(file);
            }

            @Override
            public int[] fillOrder(int tier) {
                return plan.fillOrder(tier);
            }
        };
    }
}
