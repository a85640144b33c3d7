package io.clairfs.fs.faulty;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.posix.PosixException;
import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountTable;
import io.clairfs.fs.slow.NativeReader;
import io.clairfs.fs.testing.NeedsFuse;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
@NeedsFuse
class FaultySourceTest {
    private static final int SIZE = 300_000;
    private static final String FILE = "a/1.bin";
    private static final String OTHER = "a/2.bin";

    /** Where every run mounts, so that a run finds what a killed one left. */
    private static final Path POINT = Path.of("target", "faulty-source-test").toAbsolutePath();

    @TempDir
    Path directory;

    @BeforeEach
    void makeRoom() throws IOException {
        while (MountTable.at(POINT).isPresent()) {
            Fusermount.detach(POINT);
        }
        Files.createDirectories(POINT);
        Files.createDirectories(directory.resolve("a"));
        for (String name : new String[] {FILE, OTHER}) {
            byte[] content = new byte[SIZE];
            new Random(name.hashCode()).nextBytes(content);
            Files.write(directory.resolve(name), content);
        }
    }

    private FaultyMount mount() throws IOException {
        return FaultyMount.mount(directory, POINT, FaultyMount.FAST);
    }

    private static NativeReader cat(String file) throws IOException, InterruptedException {
        return NativeReader.sh("cat \"$1\"", POINT.resolve(file));
    }

    private static void assertReads(FaultyMount mount, String file) throws Exception {
        byte[] expected = mount.files().bytes(file, mount.files().now(file));
        NativeReader got = cat(file);
        assertThat(got.exitCode()).as(got.output()).isZero();
        assertThat(got.output().equals(new String(expected, ISO_8859_1)))
                .as("%s reads as it is known to be", file)
                .isTrue();
        assertThat(NativeReader.sh("stat -c %s \"$1\"", POINT.resolve(file)).output())
                .isEqualTo(expected.length + "\n");
    }

    @ParameterizedTest
    @CsvSource({
        "EIO, Input/output error, eio open",
        "ENOENT, No such file or directory, enoent open",
        "EACCES, Permission denied, eacces open",
        "ETIMEDOUT, Connection timed out, etimedout open",
    })
    void aRequestFails_asOftenAsSaid(FaultKind kind, String said, String counted) throws Exception {
        try (FaultyMount mount = mount()) {
            Fault fault = mount.inject(FaultSpec.of(kind).at(FILE).times(2));
            assertReads(mount, OTHER);
            assertThat(cat(FILE).output()).contains(said);
            assertThat(cat(FILE).output()).contains(said);
            assertReads(mount, FILE);
            assertThat(fault.struck()).isEqualTo(2);
            assertThat(mount.counted()).containsOnlyKeys(counted).containsEntry(counted, 2L);
        }
    }

    @Test
    void aDirectoryThatBecomesALinkWhileAFileIsOpened_isNotFollowed() throws Exception {
        Path elsewhere = Files.createDirectories(directory.resolve("elsewhere"));
        Files.write(elsewhere.resolve("1.bin"), new byte[SIZE]);
        try (FaultyMount mount = mount()) {
            Fault held = mount.inject(FaultSpec.of(FaultKind.HANG)
                    .at(FILE)
                    .on(Request.OPEN)
                    .times(1)
                    .lasting(Duration.ofMinutes(1)));
            Process reader = NativeReader.start("cat \"$1\"", POINT.resolve(FILE));
            while (held.struck() == 0) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
            Files.move(directory.resolve("a"), directory.resolve("b"));
            Files.createSymbolicLink(directory.resolve("a"), elsewhere);
            held.lift();
            assertThat(NativeReader.await(reader).output()).contains("Too many levels of symbolic links");
        }
    }

    @Test
    void aReadFailsInTheMiddle_untilLifted() throws Exception {
        try (FaultyMount mount = mount()) {
            Fault fault = mount.inject(FaultSpec.of(FaultKind.EIO).at("a").on(Request.READ));
            assertThat(cat(FILE).output()).contains("Input/output error");
            assertThat(cat(OTHER).output()).contains("Input/output error");
            fault.lift();
            assertReads(mount, FILE);
            assertReads(mount, OTHER);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"LIST", "STATUS"})
    void aListingFails(Request request) throws Exception {
        try (FaultyMount mount = mount()) {
            mount.inject(FaultSpec.of(FaultKind.EIO).at("a").on(request));
            String listed = NativeReader.sh("ls -l \"$1\"", POINT.resolve("a")).output();
            assertThat(listed).contains("Input/output error");
            mount.liftAll();
            assertThat(NativeReader.sh("ls \"$1\"", POINT.resolve("a")).output())
                    .isEqualTo("1.bin\n2.bin\n");
        }
    }

    @Test
    void flakiness_followsFromItsSeed() {
        assertThat(flaky(5)).isEqualTo(flaky(5)).isNotEqualTo(flaky(6));
        assertThat(flaky(5).chars().filter(c -> c == 'x').count()).isBetween(200L, 400L);
    }

    private static String flaky(long seed) {
        Faults faults = new Faults();
        faults.add(FaultSpec.of(FaultKind.EIO).chance(0.3, seed));
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            try {
                boolean cut = faults.strike(Request.READ, "file");
                assertThat(cut).isFalse();
                all.append('.');
            } catch (PosixException e) {
                all.append('x');
            }
        }
        return all.toString();
    }

    @Test
    void anAnswerIsDelayed() throws Exception {
        try (FaultyMount mount = mount()) {
            mount.inject(FaultSpec.of(FaultKind.DELAY).on(Request.OPEN).lasting(Duration.ofMillis(300)));
            long start = System.nanoTime();
            assertReads(mount, FILE);
            assertThat(System.nanoTime() - start)
                    .isGreaterThan(Duration.ofMillis(300).toNanos());
        }
    }

    @Test
    void aHangingRequest_goesOnWhenLifted() throws Exception {
        try (FaultyMount mount = mount()) {
            Fault fault = mount.inject(FaultSpec.of(FaultKind.HANG).on(Request.READ));
            Process reader = NativeReader.start("cat \"$1\" | wc -c", POINT.resolve(FILE));
            awaitStruck(fault);
            assertThat(reader.waitFor(300, TimeUnit.MILLISECONDS)).isFalse();
            fault.lift();
            assertThat(NativeReader.await(reader).output()).contains(Integer.toString(SIZE));
        }
    }

    @Test
    void aHangingRequest_failsAtItsBound() throws Exception {
        try (FaultyMount mount = mount()) {
            mount.inject(FaultSpec.of(FaultKind.HANG).times(1).lasting(Duration.ofMillis(200)));
            assertThat(cat(FILE).output()).contains("Connection timed out");
            assertReads(mount, FILE);
        }
    }

    @Test
    void closing_releasesWhatHangs() throws Exception {
        Process reader;
        try (FaultyMount mount = mount()) {
            Fault fault = mount.inject(FaultSpec.of(FaultKind.HANG).on(Request.OPEN));
            reader = NativeReader.start("cat \"$1\" > /dev/null", POINT.resolve(FILE));
            awaitStruck(fault);
        }
        assertThat(reader.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(MountTable.at(POINT)).isEmpty();
    }

    private static void awaitStruck(Fault fault) throws InterruptedException {
        while (fault.struck() == 0) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    @Test
    void shortReads_areShortAndRight() throws Exception {
        try (FaultyMount mount = mount()) {
            mount.inject(FaultSpec.of(FaultKind.SHORT_READ));
            assertReads(mount, FILE);
            NativeReader once =
                    NativeReader.sh("dd if=\"$1\" bs=3000 count=1 status=none | wc -c", POINT.resolve(FILE));
            assertThat(once.output().strip()).isEqualTo("2000");
            assertThat(mount.counted().get("short_read read")).isGreaterThan(3);
        }
    }

    @Test
    void contentIsReplacedTruncatedAndRestored_andAllItEverWasIsKnown() throws Exception {
        try (FaultyMount mount = mount()) {
            SourceFiles files = mount.files();
            assertReads(mount, FILE);
            String first = mtime();
            files.replace(FILE, 7);
            assertReads(mount, FILE);
            assertThat(mtime()).isNotEqualTo(first);
            files.replace(FILE, 8, 1_000_001);
            assertReads(mount, FILE);
            files.truncate(FILE, 999);
            assertReads(mount, FILE);
            files.restore(FILE);
            assertReads(mount, FILE);
            assertThat(mtime()).isNotEqualTo(first);
            files.truncate(FILE, 0);
            assertReads(mount, FILE);

            assertThat(files.ever(FILE))
                    .extracting(FileContent::size)
                    .containsExactly((long) SIZE, (long) SIZE, 1_000_001L, 999L, (long) SIZE, 0L);
            assertThat(files.ever(FILE)).extracting(FileContent::mtimeNs).doesNotHaveDuplicates();
            assertThat(files.ever(OTHER)).hasSize(1);
            byte[] was = files.bytes(FILE, files.ever(FILE).get(2));
            assertThat(files.bytes(FILE, files.ever(FILE).get(3))).isEqualTo(java.util.Arrays.copyOf(was, 999));
            assertThat(mount.counted())
                    .containsEntry("replaced", 1L)
                    .containsEntry("resized", 1L)
                    .containsEntry("truncated", 2L)
                    .containsEntry("restored", 1L);
        }
        assertThat(Files.size(directory.resolve(FILE)))
                .as("the directory is not touched")
                .isEqualTo(SIZE);
    }

    private static String mtime() throws IOException, InterruptedException {
        return NativeReader.sh("stat -c %.9Y \"$1\"", POINT.resolve(FILE)).output();
    }

    @Test
    void aCutFile_endsEarlyWithTheSizeThatWasListed() throws Exception {
        try (FaultyMount mount = mount()) {
            mount.files().cut(FILE, 140_000);
            NativeReader got = NativeReader.sh("stat -c %s \"$1\"; cat \"$1\" | wc -c", POINT.resolve(FILE));
            assertThat(got.output()).isEqualTo(SIZE + "\n140000\n");
            mount.files().uncut(FILE);
            assertReads(mount, FILE);
        }
    }

    @Test
    void aSpecIsReadFromText() {
        assertThat(FaultSpec.parse("eio path=a/1.bin on=open,list times=3 chance=0.5 seed=9"))
                .isEqualTo(FaultSpec.of(FaultKind.EIO)
                        .at("a/1.bin")
                        .on(Request.OPEN, Request.LIST)
                        .times(3)
                        .chance(0.5, 9));
        assertThat(FaultSpec.parse("hang ms=1500"))
                .isEqualTo(FaultSpec.of(FaultKind.HANG).lasting(Duration.ofMillis(1500)));
        for (String wrong :
                new String[] {"", "burn", "eio times", "eio times=0", "eio until=5", "short_read on=open"}) {
            assertThatThrownBy(() -> FaultSpec.parse(wrong)).as(wrong).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aProcessOfItsOwn_isSteeredByLinesAndUnmountsAtTheirEnd() throws Exception {
        Process process = startProcess();
        try (BufferedReader out = process.inputReader(UTF_8);
                BufferedWriter in = process.outputWriter(UTF_8)) {
            assertThat(out.readLine()).isEqualTo("mounted");
            assertThat(ask(in, out, "inject eio on=open times=1")).isEqualTo("ok 0");
            assertThat(cat(FILE).output()).contains("Input/output error");
            assertThat(ask(in, out, "replace a/1.bin 5 77")).startsWith("ok ").contains("size=77");
            assertThat(cat(FILE).output()).hasSize(77);
            assertThat(ask(in, out, "inject hang")).isEqualTo("ok 1");
            assertThat(ask(in, out, "lift 1")).isEqualTo("ok");
            assertThat(ask(in, out, "counts")).isEqualTo("ok {eio open=1, resized=1}");
            assertThat(ask(in, out, "explode")).startsWith("error: ");
            assertThat(ask(in, out, "cut nowhere 3")).startsWith("error: ");
        }
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(MountTable.at(POINT)).isEmpty();
    }

    @Test
    void aMountOfAKilledProcessIsReplaced() throws Exception {
        Process process = startProcess();
        assertThat(process.inputReader(UTF_8).readLine()).isEqualTo("mounted");
        process.destroyForcibly().waitFor();
        assertThat(cat(FILE).output()).contains("not connected");
        try (FaultyMount mount = mount()) {
            assertReads(mount, FILE);
        }
        assertThat(MountTable.at(POINT)).isEmpty();
    }

    private Process startProcess() throws IOException {
        return new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FaultyCommand.class.getName(),
                        directory.toString(),
                        POINT.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static String ask(BufferedWriter in, BufferedReader out, String line) throws IOException {
        in.write(line + "\n");
        in.flush();
        return out.readLine();
    }
}
