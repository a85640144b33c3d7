package io.clairfs.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.mount.MountTable;
import io.clairfs.fs.testing.NeedsFuse;
import io.clairfs.tools.JavaCommand;
import io.clairfs.tools.scratch.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A measurement that is told to end leaves nothing behind. */
@Timeout(600)
@NeedsFuse
final class BenchEndTest {
    /** Where every run takes place, so that a run finds what a killed one left. */
    private static final Path PARENT = Path.of("target", "bench-test").toAbsolutePath();

    @BeforeEach
    void makeRoom() throws IOException {
        Files.createDirectories(PARENT);
        Scratch.in(PARENT).close();
    }

    private static List<MountTable.Mount> mounts() throws IOException {
        return MountTable.all().stream()
                .filter(m -> m.point().startsWith(PARENT))
                .toList();
    }

    @Test
    void aSignalWhileItMeasures_leavesNoMountAndNoFile() throws Exception {
        List<String> command = new ArrayList<>(JavaCommand.thisProgram());
        command.addAll(List.of("bench", "told", PARENT.toString(), "--loaders=4", "--sizes=110KB", "--sources=20MB"));
        Process bench = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        while (mounts().stream().noneMatch(mount -> mount.type().equals("fuse.clairfs-control"))) {
            assertThat(bench.isAlive()).isTrue();
            TimeUnit.MILLISECONDS.sleep(50);
        }
        bench.destroy();
        assertThat(bench.waitFor(120, TimeUnit.SECONDS)).as("ends").isTrue();
        assertThat(mounts()).isEmpty();
        assertThat(PARENT).isEmptyDirectory();
    }
}
