package io.clairfs.cache.tier.ssd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.posix.DiskCalls;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.TierContract;
import io.clairfs.cache.tier.TierFailures;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the SSD tier does on a disk that lies, fills up, or takes nothing more. */
final class SsdTierFaultTest {
    private static final int FILES = 50;

    @TempDir
    Path root;

    private final DatasetTree tree = FakeTree.of(FILES, i -> 10_000);
    private final AtomicLong clock = new AtomicLong(-5);
    private final List<String> lines = Collections.synchronizedList(new ArrayList<>());

    private SsdTier open(Path at, long reserveBytes) throws IOException {
        SsdTier tier = new SsdTier(at, "/data", 10_000_000, reserveBytes, clock::get, lines::add);
        tier.recover(tree);
        return tier;
    }

    private SsdTier filled() throws IOException {
        SsdTier tier = open(root, 0);
        for (int i = 0; i < FILES; i++) {
            assertThat(keep(tier, i)).isTrue();
        }
        return tier;
    }

    private boolean keep(SsdTier tier, int i) {
        return TierContract.keep(tier, tree, FakeTree.number(tree, i));
    }

    private boolean comesOut(SsdTier tier, int i) {
        return TierContract.comesOut(tier, tree, FakeTree.number(tree, i));
    }

    private int comeOut(SsdTier tier) {
        int count = 0;
        for (int i = 0; i < FILES; i++) {
            count += comesOut(tier, i) ? 1 : 0;
        }
        return count;
    }

    private Path file(String name) throws IOException {
        try (Stream<Path> directories = Files.list(root)) {
            return directories.findFirst().orElseThrow().resolve(name);
        }
    }

    private static void flip(Path file, long at) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(at);
            int was = bytes.read();
            bytes.seek(at);
            bytes.write(was ^ 0x40);
        }
    }

    private static void truncate(Path file, long to) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.setLength(to);
        }
    }

    // Promise T1
    @Test
    void damagedSample_isForgottenCountedAndHealed() throws Exception {
        try (SsdTier tier = filled()) {
            flip(file("000001.data"), 3 * 10_000 + 77);
            assertThat(comesOut(tier, 3)).isFalse();
            assertThat(tier.contains(FakeTree.number(tree, 3))).isFalse();
            assertThat(tier.failures()).isEqualTo(new TierFailures(1, 0, 0));
            assertThat(tier.samples()).isEqualTo(FILES - 1);
            assertThat(comeOut(tier)).isEqualTo(FILES - 1);
            assertThat(keep(tier, 3)).isTrue();
            assertThat(comeOut(tier)).isEqualTo(FILES);
            assertThat(tier.failures()).isEqualTo(new TierFailures(1, 0, 0));
            assertThat(lines).hasSize(1);
        }
        try (SsdTier tier = open(root, 0)) {
            assertThat(comeOut(tier)).isEqualTo(FILES);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }

    @Test
    void damageWhileUnmounted_isFoundAtTheFirstRead() throws Exception {
        filled().close();
        flip(file("000001.data"), 0);
        try (SsdTier tier = open(root, 0)) {
            assertThat(comeOut(tier)).isEqualTo(FILES - 1);
            assertThat(tier.failures().checksums()).isEqualTo(1);
        }
    }

    @Test
    void truncatedData_losesOnlyWhatWasBehind() throws Exception {
        try (SsdTier tier = filled()) {
            truncate(file("000001.data"), 45 * 10_000 + 1);
            assertThat(comeOut(tier)).isEqualTo(45);
            assertThat(tier.failures()).isEqualTo(new TierFailures(0, 5, 0));
            assertThat(lines).hasSize(1);
        }
        truncate(file("000001.data"), 20 * 10_000 - 1);
        try (SsdTier tier = open(root, 0)) {
            assertThat(tier.samples()).isEqualTo(19);
            assertThat(comeOut(tier)).isEqualTo(19);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }

    @Test
    void truncatedOrDamagedIndex_losesOnlyItsEntries() throws Exception {
        filled().close();
        truncate(file("000001.index"), 40L * IndexEntry.BYTES + 13);
        flip(file("000001.index"), 5L * IndexEntry.BYTES + 9);
        flip(file("000001.index"), 6L * IndexEntry.BYTES + 35);
        try (SsdTier tier = open(root, 0)) {
            assertThat(tier.samples()).isEqualTo(38);
            assertThat(comeOut(tier)).isEqualTo(38);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
            for (int i = 0; i < FILES; i++) {
                assertThat(keep(tier, i)).isTrue();
            }
            assertThat(comeOut(tier)).isEqualTo(FILES);
        }
    }

    @Test
    void deletedFiles_areMissedSampleBySample() throws Exception {
        filled().close();
        try (SsdTier tier = open(root, 0)) {
            Files.delete(file("000001.data"));
            Files.delete(file("000001.index"));
            assertThat(comeOut(tier)).isZero();
            assertThat(tier.failures()).isEqualTo(new TierFailures(0, FILES, 0));
            assertThat(tier.samples()).isZero();
            assertThat(lines).hasSize(1);
            assertThat(keep(tier, 0)).isTrue();
            assertThat(comesOut(tier, 0)).isTrue();
        }
    }

    @Test
    void fullTierWithDeletedFiles_makesRoomAllTheSame() throws Exception {
        try (SsdTier tier = new SsdTier(root, "/data", 260_000, 0, clock::get, lines::add)) {
            tier.recover(tree);
            int kept = 0;
            while (keep(tier, kept)) {
                kept++;
            }
            comeOut(tier); // so that the files are open
            try (Stream<Path> files = Files.list(file("lock").getParent())) {
                for (Path each : files.filter(path -> !path.endsWith("lock")).toList()) {
                    Files.delete(each);
                }
            }
            for (int i = 0; i < kept; i += 2) {
                tier.evict(FakeTree.number(tree, i));
            }
            for (int i = kept; i < FILES; i++) {
                keep(tier, i);
                clock.addAndGet(TimeUnit.SECONDS.toNanos(11));
            }
            assertThat(keep(tier, 0) || tier.usedBytes() > 250_000).isTrue();
            assertThat(tier.usedBytes()).isBetween(200_000L, 260_000L);
            assertThat(comeOut(tier)).isEqualTo(tier.samples());
        }
    }

    @Test
    void halfOfAPair_isRemoved() throws Exception {
        filled().close();
        Files.copy(file("000001.data"), file("000007.data"));
        Files.copy(file("000001.index"), file("000008.index"));
        try (SsdTier tier = open(root, 0)) {
            assertThat(comeOut(tier)).isEqualTo(FILES);
            assertThat(file("000007.data")).doesNotExist();
            assertThat(file("000008.index")).doesNotExist();
        }
    }

    @Test
    void halfOfAPairThatCannotBeRemoved_costsNoOtherSegment_andItsNameIsNotUsedAgain() throws Exception {
        filled().close();
        Files.createDirectory(file("000007.data"));
        try (SsdTier tier = open(root, 0)) {
            assertThat(comeOut(tier)).isEqualTo(FILES);
            assertThat(tier.failures()).isEqualTo(new TierFailures(0, 1, 0));
            assertThat(lines).singleElement().asString().contains("000007.data");
            tier.evict(FakeTree.number(tree, 0));
            assertThat(keep(tier, 0)).isTrue();
            assertThat(comeOut(tier)).isEqualTo(FILES);
            assertThat(file("000008.data")).isRegularFile();
        }
    }

    @Test
    void indexOfAnotherSegment_isNotBelieved() throws Exception {
        filled().close();
        Files.copy(file("000001.index"), file("000002.index"));
        Files.write(file("000002.data"), new byte[FILES * 10_000]);
        try (SsdTier tier = open(root, 0)) {
            assertThat(comeOut(tier)).isEqualTo(FILES);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }

    // Promise T4
    @Test
    void reserve_isRespected_andReleasedWithTheSpace() throws Exception {
        long free = DiskCalls.freeBytes(root.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8));
        try (SsdTier tier = open(root, free + (1L << 40))) {
            assertThat(tier.isWritable()).isFalse();
            assertThat(keep(tier, 0)).isFalse();
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
        try (SsdTier tier = open(root, free / 2)) {
            assertThat(tier.isWritable()).isTrue();
            assertThat(keep(tier, 0)).isTrue();
        }
    }

    @Test
    void reserveOfASmallDisk_isNeverTouched() throws Exception {
        withTmpfs("1m", mounted -> {
            try (SsdTier tier = open(mounted, 600_000)) {
                int kept = 0;
                while (kept < FILES && keep(tier, kept)) {
                    kept++;
                }
                assertThat(kept).isBetween(20, 44);
                assertThat(tier.isWritable()).isTrue(); // a smaller sample might do
                assertThat(mounted.toFile().getUsableSpace()).isGreaterThanOrEqualTo(600_000);
                assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
                Path ballast = Files.write(mounted.resolve("ballast"), new byte[100_000]);
                clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
                assertThat(tier.isWritable()).isFalse();
                Files.delete(ballast);
                clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
                assertThat(tier.isWritable()).isTrue();
                assertThat(comeOut(tier)).isEqualTo(kept);
            }
        });
    }

    // Promise T3, T4
    @Test
    void diskThatIsFullBeforeTheTierIs_hasRoomAgainForWhatReplacesOthers() throws Exception {
        withTmpfs("1m", mounted -> {
            try (SsdTier tier = open(mounted, 600_000)) {
                int kept = 0;
                while (kept < FILES && keep(tier, kept)) {
                    kept++;
                }
                assertThat(keep(tier, FILES - 1)).isFalse();
                assertThat(tier.mayGrowBy(10_000)).isFalse();
                tier.evict(FakeTree.number(tree, 0));
                tier.evict(FakeTree.number(tree, 3));
                assertThat(tier.mayGrowBy(10_000)).isTrue();
                assertThat(keep(tier, FILES - 1)).isTrue();
                assertThat(comeOut(tier)).isEqualTo(kept - 1);
                assertThat(mounted.toFile().getUsableSpace()).isGreaterThanOrEqualTo(600_000);
                assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
            }
        });
    }

    // Promise T3
    @Test
    void diskOnWhichNoFileCanBeMade_isCounted_andNothingIsTriedForEver() throws Exception {
        int small = 250;
        DatasetTree sizes = FakeTree.of(small + 1, i -> i < small ? 4_000 : 60_000);
        long capacity = TierDirectory.fixedBytes() + small * (4_000L + SsdTier.ENTRY_BYTES) + 40_000;
        withTmpfs("4m", mounted -> {
            try (SsdTier tier = new SsdTier(mounted, "/data", capacity, 0, clock::get, lines::add)) {
                tier.recover(sizes);
                for (int i = 0; i < small; i++) {
                    assertThat(TierContract.keep(tier, sizes, FakeTree.number(sizes, i)))
                            .isTrue();
                }
            }
            try (Stream<Path> all = Files.walk(mounted)) {
                run("mount", "-o", "remount,nr_inodes=" + all.count(), mounted.toString());
            }
            try (SsdTier tier = new SsdTier(mounted, "/data", capacity, 0, clock::get, lines::add)) {
                tier.recover(sizes);
                for (int i = 0; i < small; i += 2) {
                    tier.evict(FakeTree.number(sizes, i));
                }
                assertThat(TierContract.keep(tier, sizes, FakeTree.number(sizes, small)))
                        .isFalse();
                assertThat(tier.failures().writes()).isEqualTo(1);
                for (int i = 1; i < small; i += 2) {
                    assertThat(TierContract.comesOut(tier, sizes, FakeTree.number(sizes, i)))
                            .isTrue();
                }
            }
        });
    }

    // Promise T3
    @Test
    void descriptorsThatRunOut_costNoSample() throws Exception {
        filled().close();
        String self = Long.toString(ProcessHandle.current().pid());
        List<Integer> taken = new ArrayList<>();
        try (SsdTier tier = open(root, 0)) {
            Assumptions.assumeTrue(
                    run("prlimit", "--pid", self, "--nofile=1500:"), "skipped: no prlimit to lower a limit with");
            try {
                while (taken.size() < 1500) {
                    taken.add(Posix.openAt(Posix.AT_FDCWD, "/dev/null".getBytes(UTF_8), Posix.O_RDONLY));
                }
            } catch (PosixException none) {
                assertThat(none.errno()).isEqualTo(Errno.EMFILE);
            }
            boolean came = comesOut(tier, 0);
            taken.forEach(Posix::close);
            assertThat(came).isFalse();
            assertThat(tier.failures()).isEqualTo(new TierFailures(0, 1, 0));
            assertThat(comeOut(tier)).isEqualTo(FILES);
        } finally {
            run(
                    "sh",
                    "-c",
                    "prlimit --pid " + self + " --nofile=\"$(prlimit --pid " + self
                            + " --nofile --noheadings --output=HARD | tr -d ' ')\":");
        }
    }

    // Promise T3
    @Test
    void fullDisk_isCountedAndTriedAgainAfterAWhile() throws Exception {
        withTmpfs("200k", mounted -> {
            int kept = 0;
            try (SsdTier tier = open(mounted, 0)) {
                Path ballast = Files.write(mounted.resolve("ballast"), new byte[100_000]);
                // The measured free space lags behind what others write, as it does on a real disk.
                clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
                assertThat(keep(tier, kept++)).isTrue();
                Path more = Files.write(mounted.resolve("more"), new byte[60_000]);
                while (kept < FILES && keep(tier, kept)) {
                    kept++;
                }
                assertThat(kept).isLessThan(10);
                assertThat(tier.failures()).isEqualTo(new TierFailures(0, 0, 1));
                assertThat(tier.isWritable()).isFalse();
                assertThat(keep(tier, kept)).isFalse();
                assertThat(tier.failures().writes()).isEqualTo(1);
                assertThat(comeOut(tier)).isEqualTo(kept);
                Files.delete(ballast);
                Files.delete(more);
                clock.addAndGet(TimeUnit.SECONDS.toNanos(11));
                assertThat(tier.isWritable()).isTrue();
                assertThat(keep(tier, kept)).isTrue();
                kept++;
                assertThat(comeOut(tier)).isEqualTo(kept);
                assertThat(lines).hasSize(1);
                assertThat(tier.diskBytes()).isEqualTo(kept * 10_056L + TierDirectory.fixedBytes());
            }
            try (SsdTier tier = open(mounted, 0)) {
                assertThat(comeOut(tier)).isEqualTo(kept);
            }
        });
    }

    // Promise T3
    @Test
    void readOnlyDisk_stillGivesWhatItHas() throws Exception {
        withTmpfs("2m", mounted -> {
            try (SsdTier tier = open(mounted, 0)) {
                for (int i = 0; i < 20; i++) {
                    assertThat(keep(tier, i)).isTrue();
                }
            }
            run("mount", "-o", "remount,ro", mounted.toString());
            try (SsdTier tier = open(mounted, 0)) {
                assertThat(comeOut(tier)).isEqualTo(20);
                assertThat(keep(tier, 30)).isFalse();
                assertThat(tier.failures()).isEqualTo(new TierFailures(0, 0, 1));
                assertThat(tier.isWritable()).isFalse();
                tier.evict(FakeTree.number(tree, 0));
                assertThat(comeOut(tier)).isEqualTo(19);
                run("mount", "-o", "remount,rw", mounted.toString());
                clock.addAndGet(TimeUnit.SECONDS.toNanos(11));
                assertThat(keep(tier, 30)).isTrue();
                assertThat(comeOut(tier)).isEqualTo(20);
            }
        });
    }

    // Promise T3
    @Test
    void readOnlyDiskWithHalfOfAPair_stillGivesWhatItHas() throws Exception {
        withTmpfs("2m", mounted -> {
            try (SsdTier tier = open(mounted, 0)) {
                for (int i = 0; i < 20; i++) {
                    assertThat(keep(tier, i)).isTrue();
                }
            }
            try (Stream<Path> directories = Files.list(mounted)) {
                Files.createFile(directories.findFirst().orElseThrow().resolve("000007.data"));
            }
            run("mount", "-o", "remount,ro", mounted.toString());
            try (SsdTier tier = open(mounted, 0)) {
                assertThat(comeOut(tier)).isEqualTo(20);
            }
        });
    }

    private interface OnMount {
        void run(Path mounted) throws Exception;
    }

    private void withTmpfs(String size, OnMount test) throws Exception {
        Path point = Files.createDirectory(root.resolve("mounted"));
        boolean mounted = ProcessIdentity.userId() == 0
                && run("mount", "-t", "tmpfs", "-o", "size=" + size, "none", point.toString());
        if (!mounted) {
            System.out.println("skipped: this machine does not allow to mount a tmpfs");
            Assumptions.abort("this machine does not allow to mount a tmpfs");
        }
        try {
            test.run(point);
        } finally {
            run("umount", point.toString());
        }
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).inheritIO().start();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            return false;
        }
        return process.exitValue() == 0;
    }
}
