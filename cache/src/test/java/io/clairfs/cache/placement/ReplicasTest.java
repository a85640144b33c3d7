package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.plan.NextUse;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.testing.RecordingTier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Replicas on the disk, which has room for four. All samples have their home on another node. */
final class ReplicasTest extends AdmissionFixture {
    /** The samples that are read here, by epoch. */
    private static final int[][] READS = {{0, 1, 2, 3, 4, 5, 8}, {4, 5}, {0, 1, 2, 3, 8}, {0}, {1, 2, 3, 4, 5}};

    private final AtomicInteger epoch = new AtomicInteger();
    private final ReplicaSpace copies;

    ReplicasTest() throws Exception {
        copies = space(0);
    }

    private ReplicaSpace space(int memoryBytes) throws Exception {
        FileNumbers numbers = FileNumbers.of(dataset.tree);
        Need need = new Need(
                now -> EpochOrder.of(READS[now]),
                sample -> numbers.numberOf(dataset.file(sample)),
                0,
                READS.length,
                new int[] {0});
        return new ReplicaSpace(
                numbers,
                number -> dataset.tree.keptSize(numbers.fileOf(number)),
                NodeStorage.of(StorageClass.memory(memoryBytes), RecordingTier.asClass(4 * SIZE)),
                NextUse.of(need, numbers.count(), 0, 0),
                epoch::get,
                0,
                READS.length,
                _ -> true);
    }

    @BeforeEach
    void followReplicas() {
        follow(copies);
    }

    private void follow(ReplicaSpace space) {
        admission.follow(new LocalPlan() {
            @Override
            public int tierOf(int file) {
                return NOWHERE;
            }

            @Override
            public @Nullable ReplicaSpace copies() {
                return space;
            }
        });
    }

    @Test
    void replicaThatMemoryDoesNotTake_becauseItIsFullOfLastCopies_goesToTheDisk() throws Exception {
        heldElsewhere(Set.of());
        plan(Map.of(10, MEMORY, 11, MEMORY, 12, MEMORY));
        fetched(10, 11, 12);
        ReplicaSpace space = space(2 * SIZE);
        follow(space);
        fetched(0, 1);
        assertThat(in(memory)).containsExactly(10, 11, 12);
        assertThat(onTheirWay()).containsExactly(0, 1);
        writeAll();
        assertThat(in(disk)).containsExactly(0, 1);
        assertThat(space.tierOf(dataset.file(0))).isEqualTo(DISK);
    }

    private int countedIn(int sample) {
        return copies.tierOf(dataset.file(sample));
    }

    private void fillTheDisk() {
        fetched(0, 1);
        writeAll();
        fetched(2, 3);
        writeAll();
        assertThat(in(disk)).containsExactly(0, 1, 2, 3);
        disk.operations();
    }

    @Test
    void replicaThatIsUsedSooner_takesTheRoomOfOthers_whenItIsWritten_notWhenItIsFetched() {
        fillTheDisk();
        fetched(4, 5);
        assertThat(disk.operations()).as("nobody waits for a disk").isEmpty();
        assertThat(onTheirWay()).containsExactly(4, 5);
        assertThat(countedIn(0)).isEqualTo(LocalPlan.NOWHERE);
        writeAll();
        assertThat(in(disk)).as("those that were used latest went").containsExactly(2, 3, 4, 5);
        assertThat(List.of(countedIn(2), countedIn(3), countedIn(4), countedIn(5)))
                .containsOnly(DISK);
    }

    @Test
    void replicaThatTheQueueRefuses_isNotCountedAsKept_andTakesNoRoom() {
        fetched(0, 1, 2);
        assertThat(onTheirWay()).as("the queue is full").containsExactly(0, 1);
        assertThat(countedIn(2)).isEqualTo(LocalPlan.NOWHERE);
        writeAll();
        fetched(3, 8);
        writeAll();
        assertThat(in(disk)).containsExactly(0, 1, 3, 8);
    }

    @Test
    void replicaThatTheDiskRefuses_isNotCountedAsKept() {
        disk.setWritable(false);
        fetched(0);
        assertThat(countedIn(0)).isEqualTo(DISK);
        writeAll();
        assertThat(in(disk)).isEmpty();
        assertThat(countedIn(0)).isEqualTo(LocalPlan.NOWHERE);
    }

    @Test
    void replicaThatIsWantedAgainWhileItGoes_isNotCountedAsKept() {
        fillTheDisk();
        fetched(4);
        AtomicBoolean goes = new AtomicBoolean(true);
        admission.residents().tell(new Told(new ArrayList<>(), file -> {
            if (file == dataset.file(0) && goes.getAndSet(false)) { // the writer is about to evict it
                epoch.set(2);
                fetched(1, 0);
                assertThat(countedIn(0)).isEqualTo(DISK);
            }
            return true;
        }));
        writeAll();
        assertThat(goes).isFalse();
        assertThat(in(disk)).containsExactly(1, 2, 3, 4);
        assertThat(countedIn(0)).isEqualTo(LocalPlan.NOWHERE);
        assertThat(countedIn(1)).isEqualTo(LocalPlan.NOWHERE);
    }
}
