package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MountTableTest {
    @Test
    void escapesOfTheTable_areUndone() {
        assertThat(
                        MountTable.parse(
                                "/data\\040sets/a /mnt/with\\040space\\011and\\134slash fuse.clairfs ro,nosuid 0 0\nproc /proc proc rw 0 0\n"))
                .containsExactly(
                        new MountTable.Mount("/data sets/a", Path.of("/mnt/with space\tand\\slash"), "fuse.clairfs"),
                        new MountTable.Mount("proc", Path.of("/proc"), "proc"));
    }

    @Test
    void namesThatAreNotAscii_areTheirBytes() {
        String line = new String("/daten /mnt/gr\u00f6\u00dfe fuse.clairfs ro 0 0\n".getBytes(UTF_8), ISO_8859_1);
        assertThat(MountTable.parse(line))
                .containsExactly(new MountTable.Mount("/daten", Path.of("/mnt/gr\u00f6\u00dfe"), "fuse.clairfs"));
    }

    // The kernel escapes blanks and line feeds alone.
    @Test
    void carriageReturnInAName_isPartOfIt_andALineThatIsCutIsNone() {
        assertThat(MountTable.parse("/a\rb /mnt/c\rd fuse.sshfs ro 0 0\nproc /proc\n"))
                .containsExactly(new MountTable.Mount("/a\rb", Path.of("/mnt/c\rd"), "fuse.sshfs"));
    }

    @Test
    void emptyTable_hasNoMounts() {
        assertThat(MountTable.parse("")).isEmpty();
    }
}
