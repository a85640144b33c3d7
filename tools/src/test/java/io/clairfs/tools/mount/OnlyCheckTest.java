package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.NumberedListings;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.fs.testing.NeedsFuse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The question of {@code clairfs upgrade} to another program, whether that could go on with a mount, of which there is here only what its process keeps. */
@Timeout(600)
@NeedsFuse // has libfuse
final class OnlyCheckTest {
    private static final long GENEROUS_S = 60;

    @TempDir
    Path directory;

    private Path source;
    private Path point;
    private Path kept;

    @BeforeEach
    void keepWhatARestartNeeds() throws Exception {
        source = Files.createDirectory(directory.resolve("source"));
        Files.writeString(Files.createDirectory(source.resolve("cat")).resolve("1.jpg"), "one");
        point = Files.createDirectory(directory.resolve("point"));
        kept = Files.createDirectory(directory.resolve("kept"));
        Files.writeString(
                kept.resolve("mount"),
                String.join(
                        "\n",
                        "source=" + source,
                        "mountPoint=" + point,
                        "control=" + point.resolve(".clairfs"),
                        "linked=false\n"));
        try (DirectorySource files = new DirectorySource(source);
                DatasetTree tree = new DatasetTree(files, 1, _ -> {})) {
            tree.complete().get(GENEROUS_S, TimeUnit.SECONDS);
            NumberedListings.write(kept.resolve("listing"), tree);
        }
    }

    /** What the program says that is started with this flag of its JVM. */
    private Ended check(String flag) throws Exception {
        List<String> command = Clairfs.command(
                "mount", "--take-over=" + kept, "--only-check", "-f", source.toString(), point.toString());
        command.add(1, flag);
        return Ended.run(
                command, Map.of("XDG_STATE_HOME", directory.toString(), "XDG_CACHE_HOME", directory.toString()));
    }

    // Promise D9
    @Test
    void programThatCannotLoadLibfuse_saysSo() throws Exception {
        Path gone = directory.resolve("gone"); // where the library between Java and libfuse is unpacked
        assertThat(check("-Djffi.extract.dir=" + gone).complainedWith(1))
                .contains("libfuse, which serves the control files, cannot be loaded (", gone.toString())
                .endsWith("; 'clairfs doctor' says what is missing");
        String there = Files.createDirectory(directory.resolve("there")).toString();
        assertThat(check("-Djffi.extract.dir=" + there).succeeded()).isEmpty();
    }
}
