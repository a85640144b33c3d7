package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.TierFailures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plans for an SSD tier that could hold more than its disk: a disk of a few hundred kilobytes, beside which others write, too. */
final class SsdTierFullDiskTest {
    private static final int SSD = 1;
    private static final int FILES = 60;
    private static final long SIZE = 10_000;
    private static final long DISK_BYTES = 400_000;
    private static final long RESERVE_BYTES = 100_000;

    @TempDir
    Path root;

    private final DatasetTree tree = FakeTree.of(FILES, _ -> SIZE);
    private final AtomicLong clock = new AtomicLong();
    private final AtomicLong bytesOfOthers = new AtomicLong();
    private final MemoryTier memory = new MemoryTier(SIZE);
    private SsdTier tier;
    private Admission admission;

    @BeforeEach
    void fillTheDisk() throws IOException {
        tier = new SsdTier(
                new TierDirectory(root, "/data", false),
                this::freeBytes,
                10_000_000,
                RESERVE_BYTES,
                clock::get,
                _ -> {}, // that the disk is full
                0);
        tier.recover(tree);
        admission = new Admission(tree, memory, List.of(tier), 10 * SIZE);
        plan(0, FILES);
        for (int i = 0; i < FILES / 2; i++) {
            fetched(i);
        }
        assertThat(tier.samples()).isBetween(20, FILES / 2 - 1);
    }

    @AfterEach
    void close() {
        admission.close();
        memory.close();
        tier.close();
    }

    private long freeBytes() {
        try (Stream<Path> all = Files.walk(root)) {
            long taken = 0;
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                taken += FreeSpace.inBlocks(Files.size(file));
            }
            return DISK_BYTES - bytesOfOthers.get() - taken;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Others have written so many bytes, and the tier notices. */
    private void othersTake(long bytes) {
        bytesOfOthers.addAndGet(bytes);
        clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
    }

    /** From now on the plan wants these files on the SSD, and no others. */
    private void plan(int from, int to) {
        Set<Integer> wanted = new HashSet<>();
        for (int i = from; i < to; i++) {
            wanted.add(FakeTree.number(tree, i));
        }
        admission.follow(file -> wanted.contains(file) ? SSD : LocalPlan.NOWHERE);
    }

    private void fetched(int i) {
        int file = FakeTree.number(tree, i);
        SampleBuffer sample = FakeTree.sample(tree, file);
        admission.fetched(file, sample, /* byReader */ false);
        sample.release();
        assertThat(admission.writeNext(SSD)).isTrue();
    }

    private List<Integer> kept(int from, int to) {
        return IntStream.range(from, to)
                .filter(i -> tier.contains(FakeTree.number(tree, i)))
                .boxed()
                .toList();
    }

    // Promise T3, T4
    @Test
    void whatAnOlderPlanLeft_isReplaced_thoughOthersHaveTakenTheRestOfTheDisk() {
        othersTake(20_000);
        assertThat(tier.isWritable()).isFalse();
        plan(FILES / 2, FILES / 2 + 10);
        assertThat(admission.takesMore(SSD)).isTrue();
        for (int i = FILES / 2; i < FILES / 2 + 10; i++) {
            fetched(i);
        }
        assertThat(kept(FILES / 2, FILES)).hasSize(10);
        assertThat(kept(0, FILES / 2)).as("no more went than had to").hasSizeGreaterThanOrEqualTo(5);
        assertThat(freeBytes()).isGreaterThanOrEqualTo(RESERVE_BYTES);
        assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
    }

    @Test
    void whatAnOlderPlanLeft_stays_whereAllOfItWouldMakeNoRoom() {
        List<Integer> before = kept(0, FILES / 2);
        othersTake(DISK_BYTES);
        plan(FILES / 2, FILES);
        assertThat(admission.takesMore(SSD)).isFalse();
        fetched(FILES / 2);
        assertThat(kept(0, FILES)).isEqualTo(before);
    }

    @Test
    void diskThatIsFull_isLeftAlone_whenNothingThereCanGo() {
        othersTake(20_000);
        plan(0, FILES);
        fetched(FILES - 1); // looks for leftovers in vain
        assertThat(kept(0, FILES)).doesNotContain(FILES - 1);
        assertThat(admission.takesMore(SSD)).isFalse();
    }
}
