package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.StoredSample;
import io.clairfs.cache.tier.TierContract;
import io.clairfs.cache.tier.TierFailures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How many segments there are, and what becomes of a full tier while samples are sent from all of them. */
@Timeout(120)
final class SsdTierSegmentsTest {
    private static final int FILES = 1_000;
    private static final int BYTES = 1_000;

    /** More files than a tier of 16 full segments needs, and room for the small ones that may stay. */
    private static final int MOST_SEGMENTS = 30;

    @TempDir
    Path root;

    private final DatasetTree tree = FakeTree.of(FILES, _ -> BYTES);
    private final AtomicLong clock = new AtomicLong();

    private SsdTier open(Path at, long capacity) throws IOException {
        return open(at, capacity, 1);
    }

    private SsdTier open(Path at, long capacity, long pinsEndWithinNs) throws IOException {
        SsdTier tier = new SsdTier(at, "/data", capacity, 0, clock::get, _ -> {}, pinsEndWithinNs);
        tier.recover(tree);
        return tier;
    }

    private boolean keep(SsdTier tier, int i) {
        return TierContract.keep(tier, tree, FakeTree.number(tree, i));
    }

    private int comeOut(SsdTier tier, int files) {
        int count = 0;
        for (int i = 0; i < files; i++) {
            count += TierContract.comesOut(tier, tree, FakeTree.number(tree, i)) ? 1 : 0;
        }
        return count;
    }

    private static long dataFiles(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".data")).count();
        }
    }

    /** Descriptors of this process that are open on data files. */
    private static long openDataFiles() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(SsdTierSegmentsTest::isDataFile).count();
        }
    }

    private static boolean isDataFile(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains(".data");
        } catch (IOException gone) {
            return false;
        }
    }

    // Promise T8
    @Test
    void manyMounts_leaveFewSegments() throws Exception {
        int mounts = 60;
        for (int i = 0; i < mounts; i++) {
            try (SsdTier tier = open(root, 1_000_000)) {
                assertThat(keep(tier, i)).isTrue();
            }
        }
        try (SsdTier tier = open(root, 1_000_000)) {
            assertThat(comeOut(tier, mounts)).isEqualTo(mounts);
            System.out.println(mounts + " mounts: " + dataFiles(root) + " segments, " + openDataFiles() + " open");
            assertThat(dataFiles(root)).isLessThanOrEqualTo(MOST_SEGMENTS);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }

    // Promise T8
    @Test
    void diskThatRefusesNowAndThen_leavesFewSegments() throws Exception {
        Path disk = Files.createDirectory(root.resolve("disk"));
        Assumptions.assumeTrue(
                ProcessIdentity.userId() == 0 && run("mount", "-t", "tmpfs", "-o", "size=4m", "none", disk.toString()),
                "this machine does not allow to mount a tmpfs");
        try {
            int kept = 0;
            try (SsdTier tier = open(disk, 1_000_000)) {
                for (int spell = 0; spell < 60; spell++) {
                    for (int i = 0; i < 5; i++) {
                        assertThat(keep(tier, kept)).isTrue();
                        kept++;
                    }
                    fill(disk.resolve("ballast"));
                    while (keep(tier, kept)) { // what the last page of a file has left
                        kept++;
                    }
                    Files.delete(disk.resolve("ballast"));
                    clock.addAndGet(TimeUnit.SECONDS.toNanos(11));
                }
                assertThat(tier.failures().writes()).isEqualTo(60);
                assertThat(comeOut(tier, kept)).isEqualTo(kept);
                System.out.println("60 refused writes: " + dataFiles(disk) + " segments, " + openDataFiles() + " open");
                assertThat(dataFiles(disk)).isLessThanOrEqualTo(MOST_SEGMENTS);
                assertThat(openDataFiles()).isLessThanOrEqualTo(MOST_SEGMENTS + 1);
            }
            try (SsdTier tier = open(disk, 1_000_000)) {
                assertThat(comeOut(tier, kept)).as("after a restart").isEqualTo(kept);
            }
        } finally {
            run("umount", disk.toString());
        }
    }

    /** Takes all of the disk's room, after the tier has measured how much there is. */
    private static void fill(Path ballast) throws IOException {
        try (var out = Files.newOutputStream(ballast)) {
            byte[] page = new byte[4096];
            while (true) {
                out.write(page);
            }
        } catch (IOException full) {
            assertThat(full).hasMessageContaining("space");
        }
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).inheritIO().start();
        return process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    /** Fills the tier, opens a sample of every segment, and then evicts all others. */
    private List<StoredSample> openFromEverySegment(SsdTier tier) throws IOException {
        int kept = 0;
        while (kept < FILES / 2 && keep(tier, kept)) {
            kept++;
        }
        assertThat(kept).as("full").isLessThan(FILES / 2);
        assertThat(comeOut(tier, kept)).isEqualTo(kept);
        List<StoredSample> pins = new ArrayList<>();
        for (int i = 0; i < kept; i++) {
            int file = FakeTree.number(tree, i);
            StoredSample stored = tier.openStored(file);
            assertThat(stored).as("sample %d", i).isNotNull();
            if (i % 2 == 0) {
                pins.add(stored);
            } else {
                stored.release();
                tier.evict(file);
            }
        }
        return pins;
    }

    @Test
    void allSegmentsAreLentFrom_whoNeedsRoomWaitsForTheFirstThatComesFree() throws Exception {
        try (SsdTier tier = open(root, 50_000, TimeUnit.SECONDS.toNanos(60));
                ExecutorService threads = Executors.newSingleThreadExecutor()) {
            List<StoredSample> pins = openFromEverySegment(tier);
            int held = FakeTree.number(tree, 0);
            Future<Boolean> kept = threads.submit(() -> keep(tier, FILES - 1));
            // While it waits, nothing new is opened: else somebody would always be sending.
            StoredSample another = tier.openStored(held);
            while (another != null && !kept.isDone()) {
                another.release();
                Thread.onSpinWait();
                another = tier.openStored(held);
            }
            assertThat(another).isNull();
            pins.forEach(StoredSample::release);
            assertThat(kept.get(60, TimeUnit.SECONDS)).isTrue();
            assertThat(TierContract.comesOut(tier, tree, FakeTree.number(tree, FILES - 1)))
                    .isTrue();
            StoredSample again = tier.openStored(FakeTree.number(tree, FILES - 1));
            assertThat(again).as("pins go on").isNotNull();
            again.release();
        }
    }

    @Test
    void allSegmentsAreLentFromForLong_theSampleIsRefused_andTakenLater() throws Exception {
        try (SsdTier tier = open(root, 50_000)) {
            List<StoredSample> pins = openFromEverySegment(tier);
            assertThat(keep(tier, FILES - 1)).isFalse();
            assertThat(keep(tier, FILES - 2))
                    .as("at once, without a further wait")
                    .isFalse();
            pins.forEach(StoredSample::release);
            assertThat(keep(tier, FILES - 1)).isTrue();
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }

    @Test
    void roomWasMade_everythingCanBeLentAgain() throws Exception {
        try (SsdTier tier = open(root, 50_000)) {
            openFromEverySegment(tier).forEach(StoredSample::release);
            assertThat(keep(tier, FILES - 1)).isTrue();
            int here = 0;
            for (int i = 0; i < FILES / 2; i++) {
                int file = FakeTree.number(tree, i);
                if (TierContract.comesOut(tier, tree, file)) {
                    here++;
                    StoredSample stored = tier.openStored(file);
                    assertThat(stored).as("sample %d", i).isNotNull();
                    stored.release();
                }
            }
            assertThat(here).isGreaterThan(20);
        }
    }
}
