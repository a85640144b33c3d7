package io.clairfs.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.fs.mount.MountTable;
import io.clairfs.fs.testing.NeedsFuse;
import io.clairfs.tools.JavaCommand;
import io.clairfs.tools.scratch.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The whole demonstration, small and fast: its result, and that nothing is left behind. */
@Timeout(600)
@NeedsFuse
class DemoTest {
    private static final int FILES = 320;
    private static final int EPOCHS = 3;

    /** The directory of every run, so that a run finds the leftovers of a killed one. */
    private static final Path PARENT = Path.of("target", "demo-test").toAbsolutePath();

    @TempDir
    Path programs;

    @BeforeEach
    void makeRoom() throws IOException {
        Files.createDirectories(PARENT);
        Scratch.create(PARENT, false).close();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        assertThat(mounts()).isEmpty();
        assertThat(PARENT).isEmptyDirectory();
    }

    private static List<MountTable.Mount> mounts() throws IOException {
        return MountTable.all().stream()
                .filter(m -> m.point().startsWith(PARENT) || m.device().startsWith(PARENT + "/"))
                .toList();
    }

    private static Python python() throws DemoException {
        Python python = Python.find();
        if (!python.torch()) {
            System.out.println("DemoTest runs without PyTorch: " + python.executable() + " has none");
        }
        return python;
    }

    private static DemoReport run(Python python, boolean fed) throws IOException {
        DemoSpec spec = new DemoSpec(
                FILES, EPOCHS, 100_000_000, Duration.ofMillis(2), Duration.ofMillis(10), 2, 125, 0, fed, true, false);
        return Demo.run(spec, JavaCommand.thisProgram(), python, PARENT);
    }

    private static void assertAsExpected(DemoReport report) {
        assertThat(report.sameBytes()).as("the same bytes").isTrue();
        assertThat(report.inSync()).as("in sync").isTrue();
        assertThat(report.readsOpened()).isEqualTo((long) FILES * EPOCHS);
        assertThat(report.direct()).extracting(EpochFigures::epoch).containsExactly(1, 2, 3);
        assertThat(report.direct().stream().mapToLong(EpochFigures::sourceBytes).sum())
                .isEqualTo(EPOCHS * report.bytes());
        assertThat(report.mounted()).extracting(EpochFigures::epoch).containsExactly(1, 2, 3);
        assertThat(report.mounted())
                .extracting(EpochFigures::sourceBytes)
                .as("the source is read once")
                .containsExactly(report.bytes(), 0L, 0L);
    }

    @Test
    void thePyTorchTrainerReadsTheSourceOnceAndTheSameBytes() throws IOException {
        assertAsExpected(run(python(), false));
    }

    @Tag("exhaustive")
    @Test
    void theFeederGivesTheSamePixelsAsTheLoader() throws IOException {
        Assumptions.assumeTrue(
                python().torch(), "PyTorch is missing (package python3-torch), with which the feeder is compared");
        DemoReport report = run(python(), true);
        assertThat(report.sameBytes()).as("the same pixels").isTrue();
        assertThat(report.fed()).extracting(EpochFigures::epoch).containsExactly(1, 2, 3);
        assertThat(report.fed())
                .extracting(EpochFigures::sourceBytes)
                .as("the source is read once")
                .containsExactly(report.bytes(), 0L, 0L);
        assertThat(report.fedSpeedup()).isPositive();
        assertThat(report.text()).contains("with its feeder");
    }

    @Test
    void theFeederIsNotComparedWithPlainPython() {
        assertThatThrownBy(() -> run(new Python(python().executable(), false), true))
                .isInstanceOf(DemoException.class)
                .hasMessageContaining("apt-get install python3-torch");
    }

    @Tag("exhaustive")
    @Test
    void thePlainTrainerReadsTheSourceOnceAndTheSameBytes() throws IOException {
        assertAsExpected(run(new Python(python().executable(), false), false));
    }

    @Test
    void aMountThatFailsIsQuotedAndNothingIsLeft() {
        DemoSpec spec = new DemoSpec(32, 1, 100_000_000, Duration.ZERO, Duration.ZERO, 1, 125, 0, false, true, false);
        List<String> broken = List.of("sh", "-c", "echo 'clairfs: no luck today' >&2; exit 1", "sh");
        assertThatThrownBy(() -> Demo.run(spec, broken, python(), PARENT))
                .isInstanceOf(DemoException.class)
                .hasMessageContaining("no luck today");
    }

    @Tag("exhaustive")
    @Test
    void aSignalInTheMiddleOfTrainingLeavesNothing() throws Exception {
        Process demo = demoThatTrainsForAWhile();
        long daemon = awaitTraining(demo);
        demo.destroy();
        assertThat(demo.waitFor(120, TimeUnit.SECONDS)).as("ends").isTrue();
        assertGone(daemon);
    }

    @Test
    void theNextOneRemovesWhatAKilledOneLeft() throws Exception {
        Process demo = demoThatTrainsForAWhile();
        long daemon = awaitTraining(demo);
        demo.destroyForcibly().waitFor();
        assertThat(mounts()).isNotEmpty();
        Scratch.create(PARENT, false).close();
        assertGone(daemon);
    }

    private static void assertGone(long process) {
        ProcessHandle.of(process)
                .ifPresent(daemon -> assertThat(daemon.onExit()).succeedsWithin(120, TimeUnit.SECONDS));
    }

    /** Trains for one epoch on the source, and through the mount for longer than a machine stands still on which tests run. */
    private Process demoThatTrainsForAWhile() throws IOException {
        Path python = Files.writeString(
                programs.resolve("python3"), """
                #!/bin/sh
                case "$2" in
                    */mount) set -- "$@" --epochs=1000 ;;
                esac
                exec %s "$@"
                """.formatted(Python.plain().executable()));
        Files.setPosixFilePermissions(python, PosixFilePermissions.fromString("rwx------"));
        List<String> command = new ArrayList<>(JavaCommand.thisProgram());
        command.addAll(
                List.of("demo", "--plain", "--files=32", "--epochs=1", "--compute-ms=100", "--open-latency-ms=0"));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("TMPDIR", PARENT.toString());
        builder.environment().merge("PATH", programs.toString(), (path, first) -> first + ":" + path);
        return builder.start();
    }

    /** Waits until a trainer reads through the mount. Returns the process behind the mount. */
    private static long awaitTraining(Process demo) throws IOException, InterruptedException {
        while (demo.isAlive()) {
            for (MountTable.Mount mount : mounts()) {
                if (mount.type().equals("fuse.clairfs-control")) {
                    JsonNode status = new JsonMapper()
                            .readTree(Files.readString(mount.point().resolve("status.json")));
                    if (status.path("reads").path("opened").asLong() > 0) {
                        return status.path("pid").asLong();
                    }
                }
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        throw new AssertionError("the demonstration did not come to train through the mount");
    }
}
