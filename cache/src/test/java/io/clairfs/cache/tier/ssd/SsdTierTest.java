package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.Tier;
import io.clairfs.cache.tier.TierContract;
import io.clairfs.cache.tier.TierFailures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the SSD tier promises on a disk that works: the contract of tiers, restarts, room, who may look. */
final class SsdTierTest extends TierContract {
    private static final String SOURCE = "/data/imagenet";

    @TempDir
    Path root;

    @Override
    public Tier tier(long capacityBytes, DatasetTree tree) throws Exception {
        return open(capacityBytes, tree);
    }

    private SsdTier open(long capacityBytes, DatasetTree tree) throws IOException {
        SsdTier tier = unrecovered(SOURCE, capacityBytes);
        tier.recover(tree);
        return tier;
    }

    private SsdTier unrecovered(String source, long capacityBytes) throws IOException {
        return new SsdTier(root, source, capacityBytes, 0, System::nanoTime, line -> {
            throw new AssertionError(line);
        });
    }

    private Path directory() throws IOException {
        try (Stream<Path> directories = Files.list(root)) {
            return directories.findFirst().orElseThrow();
        }
    }

    /** What the directory takes, by the lengths of its files. */
    private long bytesOnDisk() throws IOException {
        long bytes = 0;
        try (Stream<Path> files = Files.list(directory())) {
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
        }
        return bytes;
    }

    private long dataFiles() throws IOException {
        try (Stream<Path> files = Files.list(directory())) {
            return files.filter(file -> file.toString().endsWith(".data")).count();
        }
    }

    private static List<Integer> kept(Tier tier, DatasetTree tree, int files) {
        List<Integer> kept = new ArrayList<>();
        for (int i = 0; i < files; i++) {
            if (comesOut(tier, tree, FakeTree.number(tree, i))) {
                kept.add(i);
            }
        }
        return kept;
    }

    @Test
    void beforeRecovery_isEmptyAndTakesNothing() throws Exception {
        DatasetTree tree = FakeTree.of(100);
        int file = FakeTree.number(tree, 0);
        try (SsdTier tier = open(100_000, tree)) {
            keep(tier, tree, file);
        }
        try (SsdTier tier = unrecovered(SOURCE, 100_000)) {
            assertThat(tier.isWritable()).isFalse();
            assertThat(keep(tier, tree, file)).isFalse();
            assertThat(tier.contains(file)).isFalse();
            assertThat(tier.get(file)).isNull();
            tier.evict(file);
            tier.recover(tree);
            assertThat(comesOut(tier, tree, file)).isTrue();
        }
    }

    @Test
    void restart_bringsBackWhatWasKept_andNotWhatWasEvicted() throws Exception {
        DatasetTree tree = FakeTree.of(3000, i -> 10 + i % 50);
        long used;
        try (SsdTier tier = open(10_000_000, tree)) {
            for (int i = 0; i < 3000; i += 2) {
                assertThat(keep(tier, tree, FakeTree.number(tree, i))).isTrue();
            }
            for (int i = 0; i < 3000; i += 6) {
                tier.evict(FakeTree.number(tree, i));
            }
            used = tier.usedBytes();
        }
        DatasetTree again = FakeTree.of(3000, i -> 10 + i % 50);
        try (SsdTier tier = open(10_000_000, again)) {
            assertThat(tier.samples()).isEqualTo(1000);
            assertThat(tier.usedBytes()).isEqualTo(used);
            List<Integer> expected = new ArrayList<>();
            for (int i = 0; i < 3000; i += 2) {
                if (i % 6 != 0) {
                    expected.add(i);
                }
            }
            assertThat(kept(tier, again, 3000)).isEqualTo(expected);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
            assertThat(keep(tier, again, FakeTree.number(again, 1))).isTrue();
        }
    }

    // Promise C2
    @Test
    void restart_dropsWhatChangedInTheSource() throws Exception {
        DatasetTree before = FakeTree.of(100, i -> 100, i -> 5);
        try (SsdTier tier = open(1_000_000, before)) {
            for (int i = 0; i < 100; i++) {
                keep(tier, before, FakeTree.number(before, i));
            }
        }
        DatasetTree after = FakeTree.of(80, i -> i < 10 ? 101 : 100, i -> i < 20 ? i < 10 ? 5 : 6 : 5);
        try (SsdTier tier = open(1_000_000, after)) {
            assertThat(tier.samples()).isEqualTo(60);
            assertThat(tier.contains(FakeTree.number(after, 3))).isFalse();
            assertThat(tier.contains(FakeTree.number(after, 13))).isFalse();
            assertThat(comesOut(tier, after, FakeTree.number(after, 23))).isTrue();
            assertThat(keep(tier, after, FakeTree.number(after, 13))).isTrue();
        }
        try (SsdTier tier = open(1_000_000, after)) {
            assertThat(comesOut(tier, after, FakeTree.number(after, 13))).isTrue();
        }
    }

    @Test
    void anotherSource_startsEmptyInItsOwnDirectory() throws Exception {
        DatasetTree tree = FakeTree.of(100);
        int file = FakeTree.number(tree, 0);
        try (SsdTier tier = open(100_000, tree);
                SsdTier other = unrecovered("/data/other", 100_000)) {
            keep(tier, tree, file);
            other.recover(tree);
            assertThat(other.contains(file)).isFalse();
            assertThat(other.diskBytes()).isLessThan(100);
        }
    }

    // Promise T5
    @Test
    void secondMountOfOneSource_isRefusedWithTheRemedy() throws Exception {
        DatasetTree tree = FakeTree.of(100);
        try (SsdTier tier = open(100_000, tree)) {
            for (int attempt = 0; attempt < 2; attempt++) {
                assertThatThrownBy(() -> unrecovered(SOURCE, 100_000))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("in use by another mount")
                        .hasMessageContaining("unmount")
                        .hasMessageNotContaining("\n");
            }
            assertThat(keep(tier, tree, FakeTree.number(tree, 0))).isTrue();
        }
        open(100_000, tree).close();
    }

    @Test
    void missingDirectoryAbove_isRefusedWithTheRemedy() {
        assertThatThrownBy(() -> new SsdTier(root.resolve("no/such"), SOURCE, 1000, 0, System::nanoTime, line -> {}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("local disk");
    }

    // Promise P4
    @Test
    void files_areForTheirOwnerOnly() throws Exception {
        DatasetTree tree = FakeTree.of(100);
        try (SsdTier tier = open(100_000, tree)) {
            keep(tier, tree, FakeTree.number(tree, 0));
            assertThat(Files.getPosixFilePermissions(directory()))
                    .isEqualTo(PosixFilePermissions.fromString("rwx------"));
            try (Stream<Path> files = Files.list(directory())) {
                assertThat(files)
                        .hasSize(4)
                        .allSatisfy(file -> assertThat(Files.getPosixFilePermissions(file))
                                .isEqualTo(PosixFilePermissions.fromString("rw-------")));
            }
        }
    }

    // Promise P4
    @Test
    void directoryThatIsOpenToOthers_isRefused() throws Exception {
        DatasetTree tree = FakeTree.of(100);
        open(100_000, tree).close();
        Files.setPosixFilePermissions(directory(), PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThatThrownBy(() -> open(100_000, tree))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("open to others")
                .hasMessageContaining("remove it");
    }

    @Test
    void dataFile_holdsSamplesAndNothingElse() throws Exception {
        DatasetTree tree = FakeTree.of(100, 50);
        try (SsdTier tier = open(100_000, tree)) {
            keep(tier, tree, FakeTree.number(tree, 0));
            keep(tier, tree, FakeTree.number(tree, 1));
        }
        byte[] expected = new byte[150];
        for (int i = 0; i < 2; i++) {
            SampleBuffer sample = FakeTree.sample(tree, FakeTree.number(tree, i));
            byte[] bytes = sample.bytes().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            System.arraycopy(bytes, 0, expected, i * 100, bytes.length);
            sample.release();
        }
        assertThat(Files.readAllBytes(directory().resolve("000001.data"))).isEqualTo(expected);
        assertThat(Files.size(directory().resolve("000001.index"))).isEqualTo(2 * IndexEntry.BYTES);
    }

    @Test
    void unknownFormat_isRemovedRatherThanMisread() throws Exception {
        DatasetTree tree = FakeTree.of(100);
        try (SsdTier tier = open(100_000, tree)) {
            keep(tier, tree, FakeTree.number(tree, 0));
        }
        Files.writeString(directory().resolve("format"), "clairfs ssd segments 2\n");
        Files.writeString(directory().resolve("catalogue"), "of the future");
        try (SsdTier tier = open(100_000, tree)) {
            assertThat(tier.samples()).isZero();
            assertThat(directory().resolve("catalogue")).doesNotExist();
            assertThat(directory().resolve("000001.data")).doesNotExist();
            assertThat(keep(tier, tree, FakeTree.number(tree, 0))).isTrue();
        }
        try (SsdTier tier = open(100_000, tree)) {
            assertThat(tier.samples()).isEqualTo(1);
        }
    }

    @Test
    void withoutEvictions_nearlyAllOfTheCapacityIsUsed() throws Exception {
        DatasetTree tree = FakeTree.of(700, i -> 100_000);
        long capacity = 60_000_000;
        try (SsdTier tier = open(capacity, tree)) {
            long live = 0;
            for (int i = 0; i < 700; i++) {
                live += keep(tier, tree, FakeTree.number(tree, i)) ? 100_000 : 0;
            }
            assertThat(live).isGreaterThanOrEqualTo(capacity / 100 * 99);
            assertThat(bytesOnDisk()).isEqualTo(tier.diskBytes()).isLessThanOrEqualTo(capacity);
            assertThat(dataFiles()).isBetween(16L, 20L);
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void fullTier_replacedAtRandom_staysFullAndWithinItsCapacity(long seed) throws Exception {
        Random random = new Random(seed);
        DatasetTree tree = FakeTree.of(2000, i -> 20_000 + i % 7 * 1000);
        long capacity = 20_000_000;
        try (SsdTier tier = open(capacity, tree)) {
            List<Integer> inside = new ArrayList<>();
            int next = 0;
            while (keep(tier, tree, FakeTree.number(tree, next % 2000))) {
                inside.add(next++ % 2000);
            }
            for (int round = 0; round < 400; round++) {
                // Larger or smaller than what comes: two go for one, so that there must be room.
                for (int i = 0; i < 2 && !inside.isEmpty(); i++) {
                    tier.evict(FakeTree.number(tree, inside.remove(/* index */ random.nextInt(inside.size()))));
                }
                for (int i = 0; i < 2; i++) {
                    int file = next++ % 2000;
                    if (!inside.contains(file) && keep(tier, tree, FakeTree.number(tree, file))) {
                        inside.add(file);
                    }
                }
                assertThat(tier.diskBytes()).isLessThanOrEqualTo(capacity);
                if (round % 50 == 0) {
                    assertThat(bytesOnDisk()).isEqualTo(tier.diskBytes());
                }
            }
            assertThat(tier.usedBytes()).isGreaterThan(capacity / 100 * 97);
            assertThat(tier.samples()).isEqualTo(inside.size());
            assertThat(kept(tier, tree, 2000)).containsExactlyInAnyOrderElementsOf(inside);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
        DatasetTree again = FakeTree.of(2000, i -> 20_000 + i % 7 * 1000);
        try (SsdTier tier = open(capacity, again)) {
            assertThat(tier.usedBytes()).isGreaterThan(capacity / 100 * 97);
            kept(tier, again, 2000);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }

    @Test
    void compaction_underReaders_neverTakesASampleFromThem() throws Exception {
        DatasetTree tree = FakeTree.of(400, i -> 10_000);
        try (SsdTier tier = open(2_100_000, tree);
                ExecutorService threads = Executors.newFixedThreadPool(3)) {
            for (int i = 0; i < 200; i++) {
                assertThat(keep(tier, tree, FakeTree.number(tree, i))).isTrue();
            }
            // Even ones stay; odd ones come and go, so that the even ones are moved all the time.
            Future<?> churn = threads.submit(() -> {
                for (int round = 0; round < 30; round++) {
                    for (int i = 1; i < 200; i += 2) {
                        tier.evict(FakeTree.number(tree, round % 2 == 0 ? i : 200 + i));
                        keep(tier, tree, FakeTree.number(tree, round % 2 == 0 ? 200 + i : i));
                    }
                }
            });
            List<Future<?>> readers = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                readers.add(threads.submit(() -> {
                    int missing = 0;
                    for (int n = 0; !churn.isDone(); n++) {
                        // A sample may be away for a moment while it waits in memory for its new place.
                        missing += comesOut(tier, tree, FakeTree.number(tree, n % 100 * 2)) ? 0 : 1;
                    }
                    System.out.println("samples that were away while they moved: " + missing);
                }));
            }
            churn.get();
            for (Future<?> reader : readers) {
                reader.get();
            }
            for (int i = 0; i < 200; i += 2) {
                assertThat(comesOut(tier, tree, FakeTree.number(tree, i))).isTrue();
            }
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
            assertThat(bytesOnDisk()).isEqualTo(tier.diskBytes()).isLessThanOrEqualTo(2_100_000);
        }
    }

    @Test
    void smallerCapacityThanBefore_givesUpTheOldestSamples() throws Exception {
        DatasetTree tree = FakeTree.of(100, i -> 10_000);
        try (SsdTier tier = open(1_010_000, tree)) {
            for (int i = 0; i < 100; i++) {
                assertThat(keep(tier, tree, FakeTree.number(tree, i))).isTrue();
            }
        }
        try (SsdTier tier = open(500_000, tree)) {
            assertThat(bytesOnDisk()).isEqualTo(tier.diskBytes()).isBetween(400_000L, 500_000L);
            assertThat(kept(tier, tree, 100)).contains(99).doesNotContain(0);
        }
    }

    @Test
    void copyInANewerSegment_wins() throws Exception {
        DatasetTree tree = FakeTree.of(100);
        int file = FakeTree.number(tree, 0);
        try (SsdTier tier = open(100_000, tree)) {
            keep(tier, tree, file);
        }
        Path old = directory().resolve("000001.index");
        byte[] entry = Files.readAllBytes(old);
        try (SsdTier tier = open(100_000, tree)) {
            tier.evict(file);
            keep(tier, tree, file);
        }
        Files.write(old, entry);
        byte[] data = Files.readAllBytes(directory().resolve("000001.data"));
        data[50]++;
        Files.write(directory().resolve("000001.data"), data);
        try (SsdTier tier = open(100_000, tree)) {
            assertThat(tier.samples()).isEqualTo(1);
            assertThat(comesOut(tier, tree, file)).isTrue();
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }
}
