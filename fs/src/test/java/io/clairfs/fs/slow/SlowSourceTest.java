package io.clairfs.fs.slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.fs.mount.ErrnoTable;
import io.clairfs.fs.mount.FuseSession;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountTable;
import io.clairfs.fs.testing.NeedsFuse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
@NeedsFuse
class SlowSourceTest {
    private static final SlowSourceSpec FAST = new SlowSourceSpec(1L << 34, Duration.ZERO);

    /** Where every run mounts, so that a run finds what a killed one left. */
    private static final Path POINT = Path.of("target", "slow-source-test").toAbsolutePath();

    private static final Path FAILING_POINT =
            Path.of("target", "slow-source-test-failing").toAbsolutePath();

    @TempDir
    Path directory;

    @BeforeEach
    void makeRoom() throws IOException {
        for (Path point : List.of(POINT, FAILING_POINT)) {
            while (MountTable.at(point).isPresent()) {
                Fusermount.detach(point);
            }
            Files.createDirectories(point);
        }
    }

    private Path file(String name, int size) throws IOException {
        byte[] content = new byte[size];
        new Random(name.hashCode()).nextBytes(content);
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.write(file, content);
    }

    @Test
    void contentEqualsTheOriginals() throws Exception {
        for (int size : new int[] {0, 1, 4095, 131_071, 131_072, 131_073, 1_000_003}) {
            file("class-" + size % 3 + "/" + size + ".bin", size);
        }
        try (SlowMount mount = SlowMount.mount(directory, POINT, FAST)) {
            NativeReader diff = NativeReader.sh("diff -r \"$1\" \"$2\"", directory, POINT);
            assertThat(diff).isEqualTo(new NativeReader(0, ""));
            assertThat(mount.counted().opens()).isEqualTo(7);
        }
    }

    @Test
    void listingEqualsTheOriginalsWithLinksAndNamesThatAreNotText() throws Exception {
        file("b/2.bin", 2);
        file("a/1.bin", 11);
        NativeReader made = NativeReader.sh(
                "cd \"$1\" && touch \"$(printf 'caf\\351')\" && ln -s a/1.bin link"
                        + " && ln -s nowhere dangling && chmod 640 b/2.bin && chmod 700 b",
                directory);
        assertThat(made).isEqualTo(new NativeReader(0, ""));
        String original = NativeReader.listing(directory);
        assertThat(original).contains("caf\u00e9|f|").contains("dangling|l|").hasLineCount(8);
        try (SlowMount mount = SlowMount.mount(directory, POINT, FAST)) {
            assertThat(withoutSizesOfDirectories(NativeReader.listing(POINT)))
                    .isEqualTo(withoutSizesOfDirectories(original));
            assertThat(mount.counted()).as("listing reads nothing").isEqualTo(SourceReads.NONE);
        }
    }

    private static String withoutSizesOfDirectories(String listing) {
        return listing.replaceAll("\\|d\\|(\\d+)\\|\\d+\\|", "|d|$1||");
    }

    @Test
    void missingFilesAndWritesAreRefusedInTheKernelsWords() throws Exception {
        file("a.bin", 10);
        try (SlowMount mount = SlowMount.mount(directory, POINT, FAST)) {
            NativeReader missing = NativeReader.sh("cat \"$1/none.bin\"", POINT);
            assertThat(missing.exitCode()).isEqualTo(1);
            assertThat(missing.output()).contains("No such file or directory");
            NativeReader write = NativeReader.sh("echo x > \"$1/a.bin\"", POINT);
            assertThat(write.exitCode()).isNotZero();
            assertThat(write.output()).contains("Read-only file system");
            assertThat(mount.counted()).isEqualTo(SourceReads.NONE);
        }
        assertThat(Files.size(directory.resolve("a.bin"))).isEqualTo(10);
    }

    @Test
    void errorsOfTheDirectoryReachTheReaderUnchanged() throws Exception {
        ErrnoTable unlogged = new ErrnoTable((_, _, _) -> {});
        try (FuseSession below =
                        FuseSession.mount(FAILING_POINT, List.of("ro", "direct_io"), new FailingFiles(), unlogged);
                SlowMount mount = SlowMount.mount(below.point(), POINT, FAST)) {
            assertThat(NativeReader.sh("cat \"$1/denied\"", POINT).output()).contains("Permission denied");
            assertThat(NativeReader.sh("cat \"$1/stale\"", POINT).output()).contains("Stale file handle");
            NativeReader broken = NativeReader.sh("cat \"$1/broken\"", POINT);
            assertThat(broken.exitCode()).isEqualTo(1);
            assertThat(broken.output()).contains("Input/output error");
            assertThat(mount.counted()).isEqualTo(new SourceReads(1, 0, 0));
        }
    }

    @Test
    void everyEpochPaysAgainAndTheCountersAreExact() throws Exception {
        file("a.bin", 300_000);
        file("b.bin", 100_000);
        try (SlowMount mount = SlowMount.mount(directory, POINT, FAST)) {
            String epoch = "for f in a.bin b.bin; do dd if=\"$1/$f\" bs=100000 status=none | cksum; done";
            String first = NativeReader.sh(epoch, POINT).output();
            SourceReads afterFirst = mount.counted();
            assertThat(afterFirst).isEqualTo(new SourceReads(2, 4, 400_000));
            assertThat(NativeReader.sh(epoch, POINT).output()).isEqualTo(first).isNotEmpty();
            assertThat(mount.counted().since(afterFirst)).isEqualTo(afterFirst);
        }
    }

    @Test
    void allReadersTogetherAreNotFasterThanTheLimit() throws Exception {
        SlowSourceSpec spec = new SlowSourceSpec(4_000_000, Duration.ZERO);
        for (int i = 0; i < 4; i++) {
            file(i + ".bin", 500_000);
        }
        try (SlowMount mount = SlowMount.mount(directory, POINT, spec)) {
            long start = System.nanoTime();
            List<Process> readers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                readers.add(NativeReader.start("exec cat \"$1\" > /dev/null", POINT.resolve(i + ".bin")));
            }
            for (Process reader : readers) {
                assertThat(NativeReader.await(reader)).isEqualTo(new NativeReader(0, ""));
            }
            long took = System.nanoTime() - start;
            assertThat(mount.counted().bytes()).isEqualTo(2_000_000);
            assertThat(took).isGreaterThan(Duration.ofMillis(500).toNanos() - SharedBandwidth.CREDIT_NS);
        }
    }

    @Test
    void everyOpenTakesItsLatency() throws Exception {
        file("a.bin", 10);
        SlowSourceSpec spec = new SlowSourceSpec(1L << 34, Duration.ofMillis(100));
        try (SlowMount mount = SlowMount.mount(directory, POINT, spec)) {
            long start = System.nanoTime();
            assertThat(NativeReader.sh("cat \"$1\" \"$1\" \"$1\" | wc -c", POINT.resolve("a.bin"))
                            .output())
                    .contains("30");
            assertThat(System.nanoTime() - start)
                    .isGreaterThan(Duration.ofMillis(300).toNanos());
            assertThat(mount.counted()).isEqualTo(new SourceReads(3, 3, 30));
        }
    }

    @Test
    void closingLeavesNothingMounted() throws Exception {
        try (SlowMount mount = SlowMount.mount(directory, POINT, FAST)) {
            assertThat(mount.point()).isEqualTo(POINT);
            assertThat(MountTable.at(POINT))
                    .get()
                    .extracting(MountTable.Mount::type)
                    .isEqualTo("fuse.clairfs-slow");
        }
        assertThat(MountTable.at(POINT)).isEmpty();
    }

    @Test
    void aMountOfAKilledProcessIsReplaced() throws Exception {
        file("a.bin", 10);
        Process other = SlowMountProcess.start(directory, POINT);
        other.destroyForcibly().waitFor();
        assertThat(NativeReader.sh("cat \"$1/a.bin\"", POINT).output()).contains("not connected");
        try (SlowMount mount = SlowMount.mount(directory, POINT, FAST)) {
            assertThat(NativeReader.sh("cat \"$1/a.bin\" | wc -c", POINT).output())
                    .contains("10");
            assertThat(mount.counted().bytes()).isEqualTo(10);
        }
        assertThat(MountTable.at(POINT)).isEmpty();
    }

    @Test
    void aDirectoryThatIsNotThereIsOneClearLine() throws Exception {
        assertThatThrownBy(() -> SlowMount.mount(directory.resolve("none"), POINT, FAST))
                .isInstanceOf(MountException.class)
                .hasMessageContaining("No such file or directory");
        assertThat(MountTable.at(POINT)).isEmpty();
    }
}
