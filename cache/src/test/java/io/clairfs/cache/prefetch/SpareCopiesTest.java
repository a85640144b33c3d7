package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What of the memory tier is also written to a disk. Samples have 100 bytes; memory has room for 10, the disk for 12. */
@Timeout(300)
final class SpareCopiesTest {
    private static final int SAMPLES = 20;
    private static final long SIZE = 100;
    private static final int MEMORY = 0;
    private static final int DISK = 1;

    private final FakeDataset dataset;
    private final MemoryTier memory = new MemoryTier(10 * SIZE);
    private final RecordingTier disk = new RecordingTier(12 * SIZE);
    private final AtomicLong clockNs = new AtomicLong();
    private final Admission admission;
    private final SpareCopies copies;

    SpareCopiesTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> SIZE);
        admission = new Admission(dataset.tree, memory, List.of(disk), 4 * SIZE);
        copies = new SpareCopies(DISK, admission.copyAdmission(), clockNs::get);
    }

    @AfterEach
    void close() {
        admission.close();
        memory.close();
        disk.close();
    }

    /** The plan by the number of a sample, in the order of samples. */
    private LocalPlan plan(IntUnaryOperator tierOf) {
        int[][] order = IntStream.of(MEMORY, DISK)
                .mapToObj(tier -> IntStream.range(0, SAMPLES)
                        .filter(sample -> tierOf.applyAsInt(sample) == tier)
                        .map(dataset::file)
                        .toArray())
                .toArray(int[][]::new);
        LocalPlan plan = new LocalPlan() {
            @Override
            public int tierOf(int file) {
                return tierOf.applyAsInt(dataset.index.sampleOf(file));
            }

            @Override
            public int[] fillOrder(int tier) {
                return order[tier];
            }
        };
        admission.follow(plan);
        return plan;
    }

    private void fetched(int from, int to) {
        for (int sample = from; sample < to; sample++) {
            SampleBuffer buffer = dataset.sample(sample);
            admission.fetched(dataset.file(sample), buffer, false);
            buffer.release();
            writeAll();
        }
    }

    private void writeAll() {
        while (admission.writeNext(DISK)) {
            assertThat(disk.usedBytes()).isLessThanOrEqualTo(disk.capacityBytes());
        }
    }

    private void copyAll(LocalPlan plan) {
        for (int i = 0; i < SAMPLES && copies.copyOne(plan); i++) {
            writeAll();
        }
        assertThat(copies.copyOne(plan)).isFalse();
    }

    private List<Integer> onDisk() {
        return IntStream.range(0, SAMPLES)
                .filter(sample -> disk.contains(dataset.file(sample)))
                .boxed()
                .toList();
    }

    private static List<Integer> samples(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    @Test
    void whatIsInMemory_isCopied_whereTheDiskHasRoom() {
        LocalPlan plan = plan(sample -> sample < 8 ? MEMORY : LocalPlan.NOWHERE);
        fetched(0, 8);
        copyAll(plan);
        assertThat(onDisk()).isEqualTo(samples(0, 8));
        assertThat(memory.samples()).isEqualTo(8);
    }

    // Promise T10
    @Test
    void copiesTakeNoRoomThatIsUsed_andGoWhenItIsNeeded() {
        LocalPlan plan = plan(sample -> sample < 8 ? MEMORY : sample < 16 ? DISK : LocalPlan.NOWHERE);
        fetched(0, 16);
        copyAll(plan);
        assertThat(onDisk())
                .as("4 copies and what is planned there")
                .hasSize(12)
                .containsAll(samples(8, 16));
        LocalPlan next = plan(sample -> sample < 8 ? MEMORY : DISK);
        fetched(16, 20);
        assertThat(onDisk()).isEqualTo(samples(8, 20));
        copyAll(next);
        assertThat(onDisk()).isEqualTo(samples(8, 20));
    }

    @Test
    void whatComesToMemoryLater_isCopiedInALaterPass() {
        LocalPlan plan = plan(sample -> sample < 8 ? MEMORY : LocalPlan.NOWHERE);
        fetched(0, 3);
        copyAll(plan);
        fetched(3, 8);
        copyAll(plan);
        assertThat(onDisk()).as("it rests").isEqualTo(samples(0, 3));
        clockNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
        copyAll(plan);
        assertThat(onDisk()).isEqualTo(samples(0, 8));
        clockNs.addAndGet(TimeUnit.DAYS.toNanos(1));
        disk.operations();
        copyAll(plan);
        assertThat(disk.operations()).as("all are there").isEmpty();
    }

    @Test
    void passesThatCopyNothing_becomeRare_untilOneDoes() {
        LocalPlan plan = plan(sample -> sample < 8 ? MEMORY : LocalPlan.NOWHERE);
        fetched(0, 3);
        copyAll(plan);
        for (int i = 0; i < 10; i++) {
            clockNs.addAndGet(TimeUnit.SECONDS.toNanos(2));
            copyAll(plan);
        }
        fetched(3, 5);
        clockNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_500));
        copyAll(plan);
        assertThat(onDisk()).as("it rests 32 times as long").isEqualTo(samples(0, 3));
        clockNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(500));
        copyAll(plan);
        assertThat(onDisk()).isEqualTo(samples(0, 5));
        fetched(5, 8);
        clockNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(60));
        copyAll(plan);
        assertThat(onDisk()).as("a short rest again").isEqualTo(samples(0, 8));
    }

    @Test
    void diskThatTakesNothing_isTriedAgainLater() {
        LocalPlan plan = plan(sample -> sample < 8 ? MEMORY : LocalPlan.NOWHERE);
        fetched(0, 8);
        disk.setWritable(false);
        copyAll(plan);
        disk.setWritable(true);
        assertThat(onDisk()).isEmpty();
        clockNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
        copyAll(plan);
        assertThat(onDisk()).isEqualTo(samples(0, 8));
    }

    // Promise T10
    @Test
    void copiesThatADiskHasNotTakenAfterAll_areMadeAgain() {
        LocalPlan plan = plan(sample -> sample < 8 ? MEMORY : LocalPlan.NOWHERE);
        fetched(0, 8);
        while (copies.copyOne(plan)) {
            disk.setWritable(false);
            writeAll(); // as where a write fails
            disk.setWritable(true);
        }
        assertThat(onDisk()).isEmpty();
        clockNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
        copyAll(plan);
        assertThat(onDisk()).isEqualTo(samples(0, 8));
        clockNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
        copyAll(plan);
        disk.operations();
        clockNs.addAndGet(TimeUnit.DAYS.toNanos(1));
        assertThat(copies.copyOne(plan)).as("all are there").isFalse();
        assertThat(disk.operations()).isEmpty();
    }

    @Test
    void whereThereIsRoomForAll_copiesNeedNotWait() {
        LocalPlan plan = plan(sample -> sample < 4 ? MEMORY : sample < 12 ? DISK : LocalPlan.NOWHERE);
        fetched(0, 4);
        assertThat(copies.copyOneAtOnce(plan)).isTrue();
        writeAll();
        assertThat(onDisk()).isEqualTo(samples(0, 1));
        LocalPlan larger = plan(sample -> sample < 4 ? MEMORY : sample < 13 ? DISK : LocalPlan.NOWHERE);
        assertThat(copies.copyOneAtOnce(larger)).isFalse();
        assertThat(copies.copyOne(larger)).isTrue();
    }

    @Test
    void standInForAPlan_copiesNothing() {
        admission.follow(LocalPlan.WHILE_ROOM);
        fetched(0, 8);
        copyAll(LocalPlan.WHILE_ROOM);
        assertThat(onDisk()).isEmpty();
    }
}
