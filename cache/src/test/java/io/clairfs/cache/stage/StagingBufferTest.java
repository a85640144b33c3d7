package io.clairfs.cache.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.SampleBuffer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The budget of the staging area, by single cases and by random operations. */
final class StagingBufferTest {
    private static final long CAPACITY = 1000;

    private final RecordingArea area = new RecordingArea();
    private final List<StagingBuffer.Place> drops = new ArrayList<>();

    private static void stage(StagingBuffer buffer, StagingBuffer.Place place, long bytes) throws IOException {
        try (StagingBuffer.Loading loading = buffer.load(place, List.of())) {
            if (loading.isMine()) {
                bring(loading, bytes);
            }
        }
    }

    private static void bring(StagingBuffer.Loading loading, long bytes) throws IOException {
        SampleBuffer sample = SampleBuffer.allocate(bytes);
        loading.stage(sample);
        sample.release();
    }

    @Test
    void unwantedSample_staysUntilItsRoomIsNeeded() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place first = buffer.reserve(1, 600, drops);
        assertThat(first).isNotNull();
        stage(buffer, first, 600);
        buffer.release(first);
        assertThat(area.has(1)).isTrue();

        StagingBuffer.Place second = buffer.reserve(2, 600, drops);
        assertThat(second).isNotNull();
        assertThat(drops).containsExactly(first);
        buffer.drop(drops);
        assertThat(area.has(1)).isFalse();
        assertThat(buffer.usedBytes()).isEqualTo(600);
    }

    /** An area that holds one file and has lost parts of it. */
    private static final class Torn implements StagingArea, StagingArea.Staged {
        final byte[] content = new byte[600];
        List<Part> missing = List.of();
        boolean drops;

        @Override
        public Staged stage(int file, MemorySegment bytes) {
            return this;
        }

        @Override
        public void drop() {
            drops = true;
        }

        @Override
        public boolean isWhole() {
            return missing.isEmpty();
        }

        @Override
        public List<Part> missing() {
            return missing;
        }

        @Override
        public boolean stageAgain(long offset, MemorySegment bytes) {
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, 0, content, (int) offset, (int) bytes.byteSize());
            return true;
        }
    }

    @ParameterizedTest(name = "{0} of 600 bytes missing")
    @CsvSource({"300, true", "301, false"})
    void lostSample_isMendedByItsMissingParts_unlessTheyAreMostOfIt(int second, boolean mended) throws Exception {
        Torn torn = new Torn();
        StagingBuffer buffer = new StagingBuffer(torn, CAPACITY, 10);
        StagingBuffer.Place place = buffer.reserve(1, 600, drops);
        assertThat(place).isNotNull();
        stage(buffer, place, 600);
        torn.missing = List.of(new StagingArea.Part(0, 100), new StagingArea.Part(200, second - 100));
        assertThat(buffer.isLost(place)).isTrue();
        assertThat(buffer.isStaged(1)).isFalse();
        assertThat(buffer.isPartlyStaged(1)).isTrue();
        List<Long> read = new ArrayList<>();
        try (StagingBuffer.Loading loading = buffer.load(place, List.of())) {
            assertThat(loading.mend((offset, into) -> {
                        read.add(offset);
                        into.fill((byte) 7);
                    }))
                    .isEqualTo(mended);
        }
        assertThat(read).isEqualTo(mended ? List.of(0L, 200L) : List.of());
        assertThat(torn.content[99]).isEqualTo((byte) (mended ? 7 : 0));
        assertThat(torn.content[100]).isZero();
        assertThat(buffer.isStaged(1)).isEqualTo(mended);
        assertThat(torn.drops).as("nobody brought it").isEqualTo(!mended);
        buffer.close();
        assertThat(torn.drops).isTrue();
    }

    @Test
    void sampleThatTheTrainerReadMeanwhile_staysInItsRoom_ifMostOfItIsThere() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        area.readByReaders(1);
        StagingBuffer.Place read = buffer.reserve(1, 600, drops);
        StagingBuffer.Place partly = buffer.reserve(2, 300, drops);
        assertThat(read).isNotNull();
        assertThat(partly).isNotNull();
        SampleBuffer sample = SampleBuffer.allocate(300);
        try (StagingBuffer.Loading loading = buffer.load(partly, List.of())) {
            buffer.release(partly);
            assertThatThrownBy(() -> loading.stageRead(sample)).isInstanceOf(IOException.class);
        }
        try (StagingBuffer.Loading loading = buffer.load(read, List.of())) {
            buffer.release(read);
            assertThat(loading.isWanted()).isFalse();
            loading.stageRead(sample);
        }
        sample.release();
        assertThat(buffer.usedBytes()).as("only what is there").isEqualTo(600);
        assertThat(buffer.isStaged(1)).isTrue();
        assertThat(buffer.isStaged(2)).isFalse();
        assertThat(buffer.reserve(1, 600, drops)).as("in the next epoch").isSameAs(read);
        buffer.release(read);
        assertThat(buffer.reserve(3, 600, drops)).isNotNull();
        assertThat(drops).containsExactly(read);
        buffer.drop(drops);
        assertThat(area.has(1)).isFalse();
    }

    @Test
    void wantedAgain_needsNoSecondPush() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place first = buffer.reserve(1, 600, drops);
        assertThat(first).isNotNull();
        stage(buffer, first, 600);
        buffer.release(first);
        StagingBuffer.Place again = buffer.reserve(1, 600, drops);
        assertThat(again).isNotNull().isSameAs(first);
        stage(buffer, again, 600);
        assertThat(area.pushes()).isEqualTo(1);
        assertThat(buffer.reserve(2, 600, drops)).as("it is wanted").isNull();
        assertThat(drops).isEmpty();
    }

    @Test
    void leavingSample_cannotBeTakenAgainBeforeItHasLeft() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place first = buffer.reserve(1, 600, drops);
        assertThat(first).isNotNull();
        stage(buffer, first, 600);
        buffer.release(first);
        StagingBuffer.Place second = buffer.reserve(2, 300, drops);
        assertThat(second).isNotNull();
        assertThat(drops).isEmpty();
        StagingBuffer.Place third = buffer.reserve(3, 600, drops);
        assertThat(third).isNotNull();
        assertThat(drops).containsExactly(first);
        buffer.release(second);
        assertThat(buffer.reserve(1, 100, new ArrayList<>())).isNull();
        buffer.drop(drops);
        assertThat(buffer.reserve(1, 100, new ArrayList<>())).isNotNull();
    }

    @Test
    void released_whileBeingPushed_isDroppedOrKeptButAccounted() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place place = buffer.reserve(1, 600, drops);
        assertThat(place).isNotNull();
        try (StagingBuffer.Loading loading = buffer.load(place, List.of())) {
            assertThat(loading.isMine()).isTrue();
            buffer.release(place);
            bring(loading, 600);
        }
        assertThat(area.has(1)).isTrue();
        assertThat(buffer.usedBytes()).isEqualTo(600);
    }

    private StagingBuffer.Place staged(StagingBuffer buffer) throws IOException {
        StagingBuffer.Place place = buffer.reserve(1, 600, drops);
        assertThat(place).isNotNull();
        stage(buffer, place, 600);
        assertThat(buffer.isLost(place)).isFalse();
        return place;
    }

    @Test
    void sampleThatIsGone_isBroughtOnceMore_inItsRoom() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place place = staged(buffer);
        area.lose(1);
        assertThat(buffer.isLost(place)).isTrue();
        assertThat(buffer.isStaged(1)).isFalse();
        assertThat(buffer.isLost(place)).as("known already").isFalse();
        assertThat(buffer.usedBytes()).isEqualTo(600);
        stage(buffer, place, 600);
        assertThat(buffer.isStaged(1)).isTrue();
        assertThat(area.pushes()).isEqualTo(2);
        assertThat(buffer.usedBytes()).isEqualTo(600);
    }

    @Test
    void sampleThatIsGone_beforeItsLoaderIsDone_isLeftToTheNextLoader() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place place = buffer.reserve(1, 600, drops);
        assertThat(place).isNotNull();
        StagingBuffer.Loading first = buffer.load(place, List.of());
        bring(first, 600);
        area.lose(1);
        assertThat(buffer.isLost(place)).isTrue();
        first.close();
        assertThat(buffer.isToBeBroughtAgain(place)).isTrue();
        assertThat(area.has(1)).as("what is left of it").isTrue();

        StagingBuffer.Loading second = buffer.load(place, List.of());
        bring(second, 600);
        area.lose(1);
        assertThat(buffer.isLost(place)).isTrue();
        try (StagingBuffer.Loading third = buffer.load(place, List.of())) {
            assertThat(third.isMine()).isTrue();
            second.close();
            assertThat(area.has(1)).as("what is left of it").isTrue();
            bring(third, 600);
        }
        assertThat(buffer.isStaged(1)).isTrue();
        assertThat(buffer.usedBytes()).isEqualTo(600);
    }

    @Test
    void mendedSampleThatIsGoneAgain_beforeItsLoaderIsDone_isLeftToTheNextLoader() throws Exception {
        Torn torn = new Torn();
        StagingBuffer buffer = new StagingBuffer(torn, CAPACITY, 10);
        StagingBuffer.Place place = buffer.reserve(1, 600, drops);
        assertThat(place).isNotNull();
        stage(buffer, place, 600);
        torn.missing = List.of(new StagingArea.Part(0, 100));
        assertThat(buffer.isLost(place)).isTrue();
        try (StagingBuffer.Loading loading = buffer.load(place, List.of())) {
            assertThat(loading.mend((offset, into) -> into.fill((byte) 7))).isTrue();
            assertThat(buffer.isLost(place)).isTrue();
        }
        assertThat(buffer.isToBeBroughtAgain(place)).isTrue();
        assertThat(torn.drops).isFalse();
    }

    @Test
    void sampleThatIsGone_andNotWantedAnyMore_leavesForAnother() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place place = staged(buffer);
        area.lose(1);
        assertThat(buffer.isLost(place)).isTrue();
        buffer.release(place);
        assertThat(buffer.reserve(2, 1000, drops)).isNotNull();
        assertThat(drops).containsExactly(place);
        buffer.drop(drops);
        assertThat(area.count()).isZero();
        assertThat(buffer.usedBytes()).isEqualTo(1000);
    }

    @Test
    void sampleThatIsGone_andCannotBeBrought_leavesNothingBehind() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place place = staged(buffer);
        area.lose(1);
        assertThat(buffer.isLost(place)).isTrue();
        try (StagingBuffer.Loading loading = buffer.load(place, List.of())) {
            assertThat(loading.isMine()).isTrue();
        }
        assertThat(area.count()).isZero();
        assertThat(buffer.usedBytes()).isZero();
        StagingBuffer.Place again = staged(buffer);
        area.lose(1);
        assertThat(buffer.isLost(again)).isTrue();
        buffer.close();
        assertThat(area.count()).isZero();
    }

    @Test
    void failedPush_givesItsRoomBack() {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place place = buffer.reserve(1, 1000, drops);
        assertThat(place).isNotNull();
        try (StagingBuffer.Loading loading = buffer.load(place, List.of())) {
            assertThat(loading.isMine()).isTrue();
        }
        assertThat(buffer.usedBytes()).isZero();
        assertThat(buffer.reserve(2, 1000, drops)).isNotNull();
    }

    @Test
    void loadingThatEndsWithABug_leavesNoRoomTaken_andWhatWasToLeaveHasLeft() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place first = buffer.reserve(1, 600, drops);
        assertThat(first).isNotNull();
        stage(buffer, first, 600);
        buffer.release(first);
        StagingBuffer.Place second = buffer.reserve(2, 1000, drops);
        assertThat(second).isNotNull();
        assertThatThrownBy(() -> {
                    try (StagingBuffer.Loading loading = buffer.load(second, drops)) {
                        assertThat(loading.isMine()).isTrue();
                        throw new AssertionError("injected");
                    }
                })
                .hasMessage("injected");
        assertThat(area.has(1)).isFalse();
        assertThat(buffer.usedBytes()).isZero();
        assertThat(buffer.samples()).isZero();
        buffer.release(second);
        assertThat(buffer.reserve(3, 1000, new ArrayList<>())).isNotNull();
    }

    @Test
    void onlyOneLoads_andNobodyOnceItsPositionIsGone() {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place place = buffer.reserve(1, 100, drops);
        assertThat(place).isNotNull();
        try (StagingBuffer.Loading first = buffer.load(place, List.of());
                StagingBuffer.Loading second = buffer.load(place, List.of())) {
            assertThat(first.isMine()).isTrue();
            assertThat(second.isMine()).isFalse();
        }
        StagingBuffer.Place gone = buffer.reserve(2, 100, drops);
        assertThat(gone).isNotNull();
        buffer.release(gone);
        try (StagingBuffer.Loading loading = buffer.load(gone, List.of())) {
            assertThat(loading.isMine()).isFalse();
        }
        assertThat(buffer.usedBytes()).isZero();
    }

    @Test
    void largerThanTheBuffer_isRefused() {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        assertThat(buffer.reserve(1, CAPACITY + 1, drops)).isNull();
    }

    @Test
    void closed_dropsEverythingAndTakesNothing() throws IOException {
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 10);
        StagingBuffer.Place place = buffer.reserve(1, 100, drops);
        assertThat(place).isNotNull();
        stage(buffer, place, 100);
        buffer.close();
        assertThat(area.count()).isZero();
        assertThat(buffer.reserve(2, 1, drops)).isNull();
        buffer.release(place);
    }

    // Promise T4
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void randomOperations_keepTheBudgetAndWhatIsWanted(long seed) throws IOException {
        Random random = new Random(seed);
        StagingBuffer buffer = new StagingBuffer(area, CAPACITY, 7);
        Map<Integer, List<StagingBuffer.Place>> wanted = new HashMap<>();
        for (int operation = 0; operation < 5000; operation++) {
            int file = random.nextInt(20);
            long bytes = 50 + 20L * file;
            if (random.nextInt(3) > 0) {
                List<StagingBuffer.Place> leaving = new ArrayList<>();
                StagingBuffer.Place place = buffer.reserve(file, bytes, leaving);
                buffer.drop(leaving);
                if (place != null) {
                    wanted.computeIfAbsent(file, _ -> new ArrayList<>()).add(place);
                    stage(buffer, place, bytes);
                }
            } else if (wanted.containsKey(file)) {
                List<StagingBuffer.Place> places = wanted.get(file);
                buffer.release(places.removeLast());
                if (places.isEmpty()) {
                    wanted.remove(file);
                }
            }
            assertThat(area.mostBytes()).isLessThanOrEqualTo(CAPACITY);
            assertThat(area.count()).isLessThanOrEqualTo(7).isEqualTo(buffer.samples());
            for (int w : wanted.keySet()) {
                assertThat(area.has(w))
                        .as("wanted %d at operation %d", w, operation)
                        .isTrue();
            }
        }
    }
}
