package io.clairfs.tools.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.placement.Group;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.ssd.SsdTier;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Jobs;
import io.clairfs.tools.config.ModelFile;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The facts that a plan is made from: what fits into a node's tiers, and which nodes have a place in it. */
final class GroupPlanTest {
    private static final String ABOUT =
            HexFormat.of().formatHex(new NodeFacts(List.of(1_000L), ModelFile.UNMEASURED).bytes());

    @TempDir
    Path root;

    private static GroupPlan.Participant member(String name) {
        return new GroupPlan.Participant(
                name, new UUID(7, name.hashCode()), new NodeFacts(List.of(), ModelFile.UNMEASURED), false);
    }

    private static List<String> names(List<GroupPlan.Participant> nodes) {
        return nodes.stream()
                .map(node -> node.name() + (node.isGone() ? " gone" : ""))
                .toList();
    }

    private static List<String> participants(Map<String, String> ranks, Set<String> known, String... members) {
        Job job = new Job("train", "seed=1 world=4", ranks);
        Jobs.Known jobs = new Jobs.Known(
                Map.of("train", job), Set.of(), known.stream().collect(Collectors.toMap(name -> name, _ -> ABOUT)));
        return names(GroupPlan.participants(
                Stream.of(members).map(GroupPlanTest::member).toList(), jobs));
    }

    @Test
    void participants_nodeThatHasLeftKeepsItsPlaceWhileItAloneHasARank() {
        Map<String, String> ranks = Map.of("a", "0", "b", "1-2", "c", "3");
        Set<String> all = Set.of("a", "b", "c");
        assertThat(participants(ranks, all, "a", "b", "c")).containsExactly("a", "b", "c");
        assertThat(participants(ranks, all, "a", "c")).containsExactly("a", "b gone", "c");
        assertThat(participants(ranks, Set.of("a", "c"), "a", "c"))
                .as("nobody knows its storage")
                .containsExactly("a", "c");
        assertThat(participants(Map.of("a", "0-2", "b", "1-2", "c", "3"), all, "a", "c"))
                .as("another node has claimed its ranks")
                .containsExactly("a", "c");
        assertThat(participants(Map.of("a", "0", "b", "none"), all, "a"))
                .as("it had none")
                .containsExactly("a");
    }

    @Test
    void participant_thatHasLeft_hasTheStorageThatItToldOf() {
        assertThat(GroupPlan.Participant.left("b", ABOUT).facts().storage().classes())
                .singleElement()
                .satisfies(each -> assertThat(each.capacityBytes()).isEqualTo(1_000));
        assertThat(GroupPlan.Participant.left("b", ABOUT).id())
                .isEqualTo(GroupPlan.Participant.left("b", ABOUT).id());
    }

    @Test
    void claimed_rankOfTwoNodes_isTheMembers() {
        Job job = new Job("train", "seed=1 world=3", Map.of("a", "0-1", "b", "1", "c", "2", "d", "2"));
        List<GroupPlan.Participant> nodes =
                List.of(member("a"), GroupPlan.Participant.left("b", ABOUT), GroupPlan.Participant.left("c", ABOUT));
        assertThat(GroupPlan.claimed(job, 4, nodes)).containsExactly(0, 0, 2, Group.RankNodes.UNKNOWN);
    }

    @Test
    void storage_ofAnSsd_countsWhatEachSampleTakesBesideItsBytes() throws Exception {
        try (MemoryTier memory = new MemoryTier(1_000);
                SsdTier ssd = new SsdTier(root, "/data", 1_000_000, 0, System::nanoTime, _ -> {})) {
            List<StorageClass> classes = NodeFacts.of(List.of(memory, ssd), ModelFile.UNMEASURED)
                    .storage()
                    .classes();
            assertThat(classes.getFirst().capacityBytes()).isEqualTo(1_000);
            assertThat(classes.getFirst().bytesOf(784)).isEqualTo(784);
            assertThat(classes.getLast().capacityBytes()).isEqualTo(ssd.sampleRoomBytes());
            assertThat(classes.getLast().bytesOf(784)).isEqualTo(ssd.bytesOf(784));
        }
    }
}
