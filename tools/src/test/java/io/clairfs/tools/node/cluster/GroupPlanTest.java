package io.clairfs.tools.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.ssd.SsdTier;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The capacities that a node announces are what fits into its tiers. */
final class GroupPlanTest {
    @TempDir
    Path root;

    @Test
    void storage_ofAnSsd_countsWhatEachSampleTakesBesideItsBytes() throws Exception {
        try (MemoryTier memory = new MemoryTier(1_000);
                SsdTier ssd = new SsdTier(root, "/data", 1_000_000, 0, System::nanoTime, _ -> {})) {
            List<StorageClass> classes = GroupPlan.storage(List.of(memory, ssd)).classes();
            assertThat(classes.getFirst().capacityBytes()).isEqualTo(1_000);
            assertThat(classes.getFirst().bytesOf(784)).isEqualTo(784);
            assertThat(classes.getLast().capacityBytes()).isEqualTo(ssd.sampleRoomBytes());
            assertThat(classes.getLast().bytesOf(784)).isEqualTo(ssd.bytesOf(784));
        }
    }
}
