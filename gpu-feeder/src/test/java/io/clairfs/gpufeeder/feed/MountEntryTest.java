package io.clairfs.gpufeeder.feed;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datasets in a table of mounts, as the kernel writes it. */
final class MountEntryTest {
    private static final String TABLE = """
            /dev/vda1 / ext4 rw,relatime 0 0
            /data/set /mnt/train fuse.clairfs rw,nosuid 0 0
            /mnt/train /mnt/train/.clairfs fuse.clairfs-control rw 0 0
            /data/set /mnt/a\\040b\\134c\\011d\\012e fuse.clairfs rw 0 0
            tmpfs /mnt/other tmpfs rw 0 0
            """;

    @ParameterizedTest
    @ValueSource(strings = {"/mnt/train", "/mnt/a b\\c\td\ne"})
    void dataset_is_found_by_its_place(String place) {
        assertThat(MountEntry.isIn(TABLE, Path.of(place))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/mnt", "/mnt/train/.clairfs", "/mnt/other", "/", "/mnt/a"})
    void other_mounts_are_none(String place) {
        assertThat(MountEntry.isIn(TABLE, Path.of(place))).isFalse();
    }

    @Test
    void directory_on_which_nothing_is_mounted_is_none() {
        assertThat(MountEntry.isThere(Path.of("/proc/self"))).isFalse();
    }

    @Test
    void bytes_beyond_ascii_do_no_harm() {
        Path place = Path.of("/mnt/train");
        String table = new String("/data/ä /mnt/train fuse.clairfs rw 0 0\n".getBytes(UTF_8), ISO_8859_1);
        assertThat(MountEntry.isIn(table, place)).isTrue();
        assertThat(MountEntry.isIn(table.replace("train", "train\u00e4"), place))
                .isFalse();
    }
}
