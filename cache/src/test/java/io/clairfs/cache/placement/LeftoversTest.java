package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What has to go for what a plan wants, and what stays: samples in a tier that the plan does not want there. */
final class LeftoversTest extends AdmissionFixture {
    LeftoversTest() throws Exception {}

    @Test
    void leftovers_lastCopiesInTheGroupGoLast() {
        plan(Map.of(0, MEMORY, 1, MEMORY, 2, MEMORY));
        fetched(0, 1, 2);
        Set<Integer> elsewhere = new HashSet<>(Set.of(2));
        heldElsewhere(elsewhere);
        plan(Map.of(5, MEMORY, 6, MEMORY, 7, MEMORY));
        fetched(5);
        assertThat(in(memory)).as("the one that another node holds went").containsExactly(0, 1, 5);
        elsewhere.add(1);
        fetched(6);
        assertThat(in(memory)).as("another node has fetched it meanwhile").containsExactly(0, 5, 6);
        fetched(7);
        assertThat(in(memory)).as("the plan comes first").containsExactly(5, 6, 7);
    }

    @Test
    void leftovers_lastCopiesDoNotGoForWhatAReaderLeft() {
        plan(Map.of(0, MEMORY, 1, MEMORY, 2, MEMORY));
        fetched(0, 1, 2);
        heldElsewhere(Set.of(1));
        plan(Map.of());
        fetched(8, true);
        assertThat(in(memory)).containsExactly(0, 2, 8);
        fetched(9, true);
        assertThat(in(memory)).as("in place of what another reader left").contains(0, 2);
    }

    @Test
    void planPending_whatNobodyElseHas_staysForItsHome_andIsTold() {
        List<String> told = new ArrayList<>();
        Set<Integer> elsewhere = new HashSet<>(Set.of(2));
        admission.residents().tell(new Told(told, file -> elsewhere.contains(dataset.index.sampleOf(file))));
        admission.follow(LocalPlan.PENDING);
        fetched(1, 2);
        assertThat(in(memory)).containsExactly(1);
        assertThat(told).containsExactly("kept 0 " + dataset.file(1));
        plan(Map.of(5, MEMORY, 6, MEMORY));
        fetched(5, 6);
        assertThat(in(memory)).containsExactly(1, 5, 6);
        elsewhere.add(1);
        plan(Map.of(5, MEMORY, 6, MEMORY, 7, MEMORY));
        fetched(7);
        assertThat(in(memory)).as("its home has it").containsExactly(5, 6, 7);
    }

    @Test
    void newPlan_leftoversGoOneByOneWhenTheirRoomIsNeeded_andNothingThatIsWanted() {
        plan(Map.of(0, MEMORY, 1, MEMORY, 2, MEMORY));
        fetched(0, 1, 2);
        plan(Map.of(1, MEMORY, 5, MEMORY, 6, MEMORY));
        assertThat(in(memory)).as("nothing is thrown away for a plan").containsExactly(0, 1, 2);
        fetched(5);
        assertThat(in(memory)).contains(1, 5).hasSize(3);
        fetched(6);
        assertThat(in(memory)).containsExactly(1, 5, 6);
        fetched(7, true);
        assertThat(in(memory)).as("no room for what nobody planned").containsExactly(1, 5, 6);
    }

    @Test
    void newPlan_leftoversOnDiskMakeRoomToo() {
        plan(Map.of(0, DISK, 1, DISK, 2, DISK, 3, DISK));
        fetched(0, 1);
        writeAll();
        fetched(2, 3);
        writeAll();
        disk.operations();
        plan(Map.of(0, DISK, 1, DISK, 2, DISK, 7, DISK));
        fetched(7);
        writeAll();
        assertThat(disk.operations())
                .containsExactly("refuse " + dataset.file(7), "evict " + dataset.file(3), "keep " + dataset.file(7));
    }

    @Test
    void plannedForAnotherTier_isALeftoverWhereItIs() {
        plan(Map.of(0, MEMORY, 1, MEMORY, 2, MEMORY));
        fetched(0, 1, 2);
        plan(Map.of(0, DISK, 1, MEMORY, 2, MEMORY, 3, MEMORY));
        fetched(0);
        assertThat(admission.isMissing(dataset.file(0), DISK))
                .as("it is on its way")
                .isFalse();
        writeAll();
        assertThat(admission.residents().holdersOf(dataset.file(0))).containsExactly("memory", "disk");
        fetched(3);
        assertThat(in(memory)).containsExactly(1, 2, 3);
        assertThat(in(disk)).containsExactly(0);
    }

    @Test
    void sampleThatWasFetchedForAFormerPlan_isALeftoverThoughTheSearchHasPassedIt() {
        AtomicBoolean first = new AtomicBoolean(true);
        admission.follow(file -> {
            if (first.getAndSet(false)) { // the plan changes right here
                plan(Map.of(1, MEMORY, 2, MEMORY, 3, MEMORY, 4, MEMORY));
                fetched(1, 2, 3, 4); // and the search for room finds nothing
                admission.residents().evict(MEMORY, dataset.file(1));
            }
            return MEMORY;
        });
        fetched(0);
        assertThat(memory.contains(dataset.file(0))).isTrue();
        fetched(1);
        assertThat(memory.contains(dataset.file(1))).isTrue();
        assertThat(memory.contains(dataset.file(0))).isFalse();
    }

    @Test
    void leftoverThatIsWantedInAnotherTier_goesThereWhenItsRoomIsNeeded() {
        plan(Map.of(0, MEMORY, 1, MEMORY, 2, MEMORY, 4, DISK));
        fetched(0, 1, 2, 4);
        writeAll();
        plan(Map.of(0, DISK, 1, MEMORY, 3, MEMORY, 5, MEMORY, 4, DISK));
        fetched(3, 5);
        assertThat(in(memory)).containsExactly(1, 3, 5);
        writeAll();
        assertThat(in(disk)).as("what had to leave memory").containsExactly(0, 4);
        plan(Map.of(0, DISK, 6, DISK, 7, DISK, 8, DISK, 1, MEMORY, 3, MEMORY, 4, MEMORY));
        fetched(6, 7);
        writeAll();
        fetched(8);
        writeAll();
        assertThat(in(disk)).containsExactly(0, 6, 7, 8);
        assertThat(in(memory)).as("what had to leave the disk").containsExactly(1, 3, 4);
    }

    @Test
    void leftoverThatIsWantedInAnotherTier_staysWhileThatTakesNoMore() {
        plan(Map.of(0, MEMORY, 1, MEMORY, 2, MEMORY, 6, DISK, 7, DISK));
        fetched(0, 1, 2, 6, 7);
        plan(Map.of(0, DISK, 1, DISK, 2, MEMORY, 3, MEMORY, 4, MEMORY, 6, DISK, 7, DISK));
        fetched(3);
        assertThat(in(memory)).containsExactly(0, 1, 2);
        assertThat(admission.takesMore(MEMORY))
                .as("more would be fetched in vain")
                .isFalse();
        writeAll();
        assertThat(admission.takesMore(MEMORY)).isTrue();
        fetched(3, 4);
        writeAll();
        assertThat(in(memory)).containsExactly(2, 3, 4);
        assertThat(in(disk)).containsExactly(0, 1, 6, 7);
    }

    @Test
    void readersSample_takesTheRoomOfALeftover() {
        plan(Map.of(0, MEMORY, 1, MEMORY, 2, MEMORY));
        fetched(0, 1, 2);
        plan(Map.of(2, MEMORY));
        fetched(9, true);
        assertThat(in(memory)).contains(2).hasSizeBetween(2, 3);
        assertThat(memory.pinnedBytes()).isEqualTo(2 * SIZE);
    }

    @Test
    void sampleThatCanNeverFit_costsNoLeftover() {
        plan(Map.of(0, MEMORY, 1, MEMORY, 2, MEMORY, 3, DISK));
        fetched(0, 1, 2, 3);
        writeAll();
        plan(Map.of(GIANT, DISK));
        fetched(GIANT);
        writeAll();
        assertThat(in(disk)).containsExactly(3);
        plan(Map.of());
        fetched(GIANT, true);
        assertThat(in(memory)).containsExactly(0, 1, 2);
    }
}
