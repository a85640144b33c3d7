package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What goes where. What has to go for it: {@link LeftoversTest}. */
final class AdmissionTest extends AdmissionFixture {
    AdmissionTest() throws Exception {}

    @Test
    void mediumThatIsFull_nothingIsFetchedForIt_unlessSomethingThereCanGo() {
        plan(Map.of(1, DISK));
        fetched(1);
        assertThat(admission.writeNext(DISK)).isTrue();
        disk.setMayGrow(false);
        plan(Map.of(2, DISK, 3, DISK));
        TierRoom.Reservation instead = admission.reserve(dataset.file(2), DISK);
        assertThat(instead).as("the first is a leftover").isNotNull();
        instead.close();
        plan(Map.of(1, DISK, 2, DISK));
        disk.setWritable(false);
        fetched(2);
        disk.setWritable(true);
        for (int i = 0; i < 4; i++) { // fills the tier, and looks for leftovers in vain
            fetched(2);
            admission.writeNext(DISK);
        }
        assertThat(admission.reserve(dataset.file(2), DISK)).isNull();
    }

    @Test
    void sampleThatIsTooLargeForMemory_isNotFetchedForATier_thoughItsPlanSaysSo() {
        RecordingTier roomy = new RecordingTier(100_000);
        try (Admission bounded = new Admission(dataset.tree, memory, List.of(roomy), 2 * SIZE, 9_999)) {
            bounded.follow(_ -> DISK);
            int giant = dataset.file(GIANT);
            assertThat(bounded.mayBeWhole(giant)).isFalse();
            assertThat(bounded.isMissing(giant, DISK)).isFalse();
            assertThat(bounded.reserve(giant, DISK)).isNull();
            bounded.follow(_ -> MEMORY);
            assertThat(bounded.isMissing(giant, MEMORY))
                    .as("it stays where it arrives")
                    .isTrue();
            bounded.follow(_ -> DISK);
            assertThat(Filled.now(dataset.tree, bounded, Filled.Arriving.NONE, List.of())
                            .wanted()
                            .samples())
                    .isEqualTo(SAMPLES - 1);
            TierRoom.Reservation other = bounded.reserve(dataset.file(1), DISK);
            assertThat(other).isNotNull();
            other.close();
        } finally {
            roomy.close();
        }
    }

    @Test
    void get_ofADamagedSample_isTold() {
        List<String> told = new ArrayList<>();
        admission.residents().tell(into(told));
        plan(Map.of(1, DISK));
        fetched(1);
        writeAll();
        int file = dataset.file(1);
        SampleBuffer sound = admission.residents().get(DISK, file);
        assertThat(sound).isNotNull();
        sound.release();
        disk.damage(file);
        assertThat(admission.residents().get(DISK, file)).isNull();
        assertThat(told).containsExactly("kept 1 " + file, "gone 1 " + file);
    }

    @Test
    void tellAll_tellsOfWhatThePlanKeepsAndNotOfWhatReadersLeft() {
        plan(Map.of(1, MEMORY));
        fetched(1);
        fetched(2, /* byReader */ true);
        assertThat(admission.residents().isInMemory(dataset.file(2))).isTrue();
        List<String> told = new ArrayList<>();
        admission.residents().tell(into(told));
        admission.residents().tellAll();
        assertThat(told).containsExactly("kept 0 " + dataset.file(1));
    }

    private static ResidencyListener into(List<String> told) {
        return new Told(told, _ -> true);
    }

    @Test
    void roomThatIsTakenForWhatIsBeingFetched_isNobodyElses() {
        admission.follow(LocalPlan.WHILE_ROOM);
        List<TierRoom.Reservation> rooms = new ArrayList<>();
        for (int sample = 0; sample < 3; sample++) {
            TierRoom.Reservation room = admission.reserve(dataset.file(sample), MEMORY);
            assertThat(room).isNotNull();
            rooms.add(room);
        }
        assertThat(admission.reserve(dataset.file(3), MEMORY)).as("no room").isNull();
        assertThat(admission.reserve(dataset.file(2), MEMORY)).as("has some").isNull();
        fetched(4);
        assertThat(in(memory)).isEmpty();
        assertThat(onTheirWay()).as("to the disk").containsExactly(4);
        fetched(0, 1, 2);
        assertThat(in(memory)).containsExactly(0, 1, 2);
        rooms.forEach(TierRoom.Reservation::close);
        assertThat(admission.reserve(dataset.file(3), MEMORY)).as("it is full").isNull();
    }

    @Test
    void whatASlowerTierTakes_wouldBeKept_whileItsQueueHasRoom() {
        plan(Map.of(1, DISK, 2, DISK, 3, DISK, 5, MEMORY, 6, MEMORY, 7, MEMORY));
        fetched(5, 6, 7);
        assertThat(admission.wouldKeep(dataset.file(3))).isTrue();
        try (TierRoom.Reservation one = admission.reserve(dataset.file(1), DISK);
                TierRoom.Reservation two = admission.reserve(dataset.file(2), DISK)) {
            assertThat(one).isNotNull();
            assertThat(two).isNotNull();
            assertThat(admission.wouldKeep(dataset.file(3)))
                    .as("the queue is spoken for")
                    .isFalse();
        }
        admission.follow(LocalPlan.WHILE_ROOM);
        assertThat(admission.wouldKeep(dataset.file(4))).as("on the disk").isTrue();
        disk.setWritable(false);
        assertThat(admission.wouldKeep(dataset.file(4))).as("nowhere").isFalse();
    }

    @Test
    void roomThatWasNotUsed_isFreeAgain() {
        admission.follow(LocalPlan.WHILE_ROOM);
        for (int i = 0; i < 10; i++) {
            TierRoom.Reservation room = admission.reserve(dataset.file(i), MEMORY);
            assertThat(room).isNotNull();
            room.close();
        }
        fetched(1);
        assertThat(in(memory)).containsExactly(1);
    }

    @Test
    void roomOnTheWayToADisk_isTakenBeforeTheSampleIsFetched() {
        plan(Map.of(1, DISK, 2, DISK, 3, DISK));
        try (TierRoom.Reservation one = admission.reserve(dataset.file(1), DISK);
                TierRoom.Reservation two = admission.reserve(dataset.file(2), DISK)) {
            assertThat(one).isNotNull();
            assertThat(two).isNotNull();
            assertThat(admission.takesMore(DISK)).isFalse();
            fetched(3);
            assertThat(onTheirWay()).as("the queue is spoken for").isEmpty();
            fetched(1, 2);
            assertThat(onTheirWay()).containsExactly(1, 2);
        }
        writeAll();
        fetched(3);
        assertThat(onTheirWay()).containsExactly(3);
    }

    @Test
    void plannedNowhere_isKeptForReadersOnly_asRecent() {
        fetched(1);
        assertThat(in(memory)).isEmpty();
        fetched(2, true);
        assertThat(in(memory)).containsExactly(2);
        assertThat(memory.pinnedBytes()).isZero();
        assertThat(onTheirWay()).isEmpty();
        assertThat(admission.plannedFor(dataset.file(2))).isNull();
    }

    @Test
    void plannedNowhere_readByAReaderButOnDisk_isNotKeptTwice() {
        plan(Map.of(1, DISK));
        fetched(1);
        plan(Map.of());
        fetched(1, true);
        assertThat(in(memory)).as("on its way to the disk").isEmpty();
        writeAll();
        fetched(1, true);
        assertThat(in(memory)).isEmpty();
        assertThat(admission.residents().holdersOf(dataset.file(1))).containsExactly("disk");
    }

    @Test
    void plannedAnywhere_fillsTheFastestTierFirst_countingWhatIsOnItsWay() {
        admission.follow(LocalPlan.WHILE_ROOM);
        fetched(0, 1, 2, 3, 4);
        assertThat(in(memory)).containsExactly(0, 1, 2);
        assertThat(onTheirWay()).containsExactly(3, 4);
        fetched(5);
        assertThat(onTheirWay()).as("the queue is full").containsExactly(3, 4);
        writeAll();
        fetched(5, 6, 3);
        assertThat(onTheirWay()).containsExactly(5, 6);
        fetched(7);
        assertThat(admission.isMissing(dataset.file(7), DISK))
                .as("the queue takes the rest of the room")
                .isFalse();
        writeAll();
        fetched(7);
        assertThat(in(disk)).containsExactly(3, 4, 5, 6);
        assertThat(in(memory)).containsExactly(0, 1, 2);
        assertThat(onTheirWay()).isEmpty();
        assertThat(disk.operations()).noneMatch(each -> each.startsWith("evict"));
    }

    @Test
    void plannedForMemory_isPinnedThere() {
        plan(Map.of(1, MEMORY));
        assertThat(admission.isMissing(dataset.file(1), MEMORY)).isTrue();
        assertThat(admission.isMissing(dataset.file(1), DISK)).isFalse();
        fetched(1);
        assertThat(memory.pinnedBytes()).isEqualTo(SIZE);
        assertThat(admission.isMissing(dataset.file(1), MEMORY)).isFalse();
        assertThat(admission.plannedFor(dataset.file(1))).isEqualTo("memory");
        assertThat(onTheirWay()).isEmpty();
    }

    @Test
    void plannedForTheDisk_waitsInTheQueue_whereItCanBeReadAndIsNotMissing() {
        plan(Map.of(1, DISK));
        assertThat(admission.isMissing(dataset.file(1), DISK)).isTrue();
        fetched(1, true);
        assertThat(in(memory)).as("a reader's, but planned elsewhere").isEmpty();
        assertThat(in(disk)).as("nobody waits for a disk").isEmpty();
        assertThat(admission.isMissing(dataset.file(1), DISK)).isFalse();
        SampleBuffer waiting = admission.residents().fromMemory(dataset.file(1));
        assertThat(waiting).isNotNull();
        assertThat(dataset.isRight(1, waiting)).isTrue();
        waiting.release();
        assertThat(admission.writeNext(DISK)).isTrue();
        assertThat(in(disk)).containsExactly(1);
        assertThat(admission.residents().fromMemory(dataset.file(1))).isNull();
        assertThat(admission.writeNext(DISK)).isFalse();
        fetched(1);
        assertThat(onTheirWay()).as("it is there").isEmpty();
    }

    @Test
    void queueIsFull_sampleComesByAgain() {
        plan(Map.of(1, DISK, 2, DISK, 3, DISK));
        assertThat(admission.takesMore(DISK)).isTrue();
        fetched(1, 2, 3);
        assertThat(onTheirWay()).containsExactly(1, 2);
        assertThat(admission.takesMore(DISK)).isFalse();
        assertThat(admission.takesMore(MEMORY)).isTrue();
        assertThat(admission.isMissing(dataset.file(3), DISK)).isTrue();
        admission.writeNext(DISK);
        assertThat(admission.takesMore(DISK)).as("half of it").isTrue();
        fetched(3);
        writeAll();
        assertThat(in(disk)).containsExactly(1, 2, 3);
        assertThat(disk.operations())
                .containsExactly("keep " + dataset.file(1), "keep " + dataset.file(2), "keep " + dataset.file(3));
    }

    @Test
    void tierThatIsNotWritable_costsNothingThatIsThere() {
        plan(Map.of(1, DISK, 2, DISK, 3, DISK, 4, DISK));
        fetched(1, 2);
        writeAll();
        fetched(3, 4);
        writeAll();
        plan(Map.of(5, DISK));
        fetched(5);
        disk.operations();
        disk.setWritable(false);
        assertThat(admission.takesMore(DISK)).isFalse();
        assertThat(admission.writeNext(DISK)).isTrue();
        assertThat(disk.operations()).containsExactly("refuse " + dataset.file(5));
        assertThat(in(disk)).containsExactly(1, 2, 3, 4);
        admission.follow(LocalPlan.WHILE_ROOM);
        fetched(10, 11, 12, 13);
        assertThat(admission.isMissing(dataset.file(13), DISK)).isFalse();
        assertThat(onTheirWay()).isEmpty();
        assertThat(in(memory)).containsExactly(10, 11, 12);
        disk.setWritable(true);
        assertThat(admission.takesMore(DISK)).isTrue();
    }

    @Test
    void withoutJobs_whatIsHereStaysAndNothingIsFetched() {
        plan(Map.of(0, MEMORY));
        fetched(0);
        assertThat(admission.hasPlan()).isTrue();
        admission.followNone();
        assertThat(admission.hasPlan()).isFalse();
        assertThat(admission.takesMore(MEMORY)).isFalse();
        assertThat(admission.takesMore(DISK)).isFalse();
        fetched(1);
        assertThat(in(memory)).containsExactly(0);
        fetched(2, true);
        assertThat(in(memory)).containsExactly(0, 2);
    }

    @Test
    void closed_whatIsOnItsWayIsDropped() {
        plan(Map.of(1, DISK, 2, DISK));
        fetched(1, 2);
        admission.close();
        assertThat(admission.writeNext(DISK)).isFalse();
        assertThat(onTheirWay()).isEmpty();
        assertThat(in(disk)).isEmpty();
        fetched(1);
        assertThat(onTheirWay()).isEmpty();
    }
}
