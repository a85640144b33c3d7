package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.plan.Planner;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.TierContract;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the planner promises to an SSD fits into it: others count on homes, and one without room is read from the source for ever. */
final class SsdTierPlannedTest {
    private static final int FILES = 2_000;
    private static final long CAPACITY = 1_000_000;

    @TempDir
    Path root;

    // Promise T9
    @Test
    void smallSamplesOfOneSize_allThatIsPlannedFits() throws Exception {
        requirePlannedFits(_ -> 784);
    }

    // Promise T9
    @Test
    void samplesOfManySizes_allThatIsPlannedFits() throws Exception {
        requirePlannedFits(i -> 300 + i * 37L % 1_000);
    }

    private void requirePlannedFits(IntToLongFunction sizes) throws Exception {
        DatasetTree tree = FakeTree.of(FILES, sizes);
        try (SsdTier tier = new SsdTier(root, "/data", CAPACITY, 0, System::nanoTime, line -> {
            throw new AssertionError(line);
        })) {
            tier.recover(tree);
            Need need = new Need(_ -> EpochOrder.of(IntStream.range(0, FILES).toArray()), 0, 3, new int[] {0});
            PlanRequest request = new PlanRequest(
                    FILES,
                    sizes::applyAsLong,
                    List.of(need),
                    List.of(NodeStorage.of(StorageClass.memory(0), StorageClass.ssd(tier.sampleRoomBytes()))),
                    PerformanceModel.unmeasured());
            Placement placement = new Planner(PlanLimits.DEFAULT).plan(request, PlacementPolicy.CLAIRFS);
            int planned = 0;
            for (int i = 0; i < FILES; i++) {
                if (placement.home(i) == 0) {
                    planned++;
                    assertThat(TierContract.keep(tier, tree, FakeTree.number(tree, i)))
                            .as("home %d, %d bytes used", planned, tier.usedBytes())
                            .isTrue();
                }
            }
            assertThat(planned).isBetween(1, FILES - 1);
            assertThat(tier.usedBytes()).isGreaterThan(CAPACITY / 100 * 98);
        }
    }
}
