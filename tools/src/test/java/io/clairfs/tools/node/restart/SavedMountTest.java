package io.clairfs.tools.node.restart;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.view.KeptForm;
import io.clairfs.tools.node.config.MountSizes;
import io.clairfs.tools.node.limits.MemoryBudget;
import io.clairfs.tools.node.mount.ControlPoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the next process reads of the mount is what this one wrote. */
final class SavedMountTest {
    private static final MountSizes SIZES = new MountSizes(1 << 30, 1 << 20, new MemoryBudget(1, 2, 3, 4, 5, 6, 7));
    private static final SavedMount MOUNT = new SavedMount(
            Path.of("/data set"),
            Path.of("/mnt/a=1"),
            new ControlPoint(Path.of("/mnt/a=1/.clairfs"), false),
            SIZES,
            KeptForm.RAW);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path parent;

    @SuppressWarnings("NullAway.Init")
    private RestartDirectory directory;

    @BeforeEach
    void makeDirectory() throws IOException {
        directory = new RestartDirectory(Files.createDirectory(parent.resolve("a.restart")));
    }

    // Promise D8
    @Test
    void mount_isReadAsItWas_withItsSizes() throws IOException {
        MOUNT.write(directory);
        assertThat(SavedMount.read(directory)).isEqualTo(MOUNT);
        MOUNT.keeping(KeptForm.MADE).write(directory);
        assertThat(SavedMount.read(directory).kept()).isEqualTo(KeptForm.MADE);
    }

    @Test
    void fileOfAVersionThatKeptNoSizes_isRead_andTheyAreDecidedAnew() throws IOException {
        directory.replace("mount", "source=/data\nmountPoint=/mnt\ncontrol=/mnt/.clairfs\nlinked=false\n");
        SavedMount read = SavedMount.read(directory);
        assertThat(read.source()).isEqualTo(Path.of("/data"));
        assertThat(read.sizes()).isNull();
        assertThat(read.kept()).isEqualTo(KeptForm.UNDECIDED);
    }

    @Test
    void sizesOfWhichOneIsMissing_areDecidedAnew() throws IOException {
        MOUNT.write(directory);
        directory.replace("mount", directory.text("mount").replace("areas.queue", "areas.other"));
        assertThat(SavedMount.read(directory).sizes()).isNull();
    }
}
