package io.clairfs.tools.node.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StateDirectoryTest {
    @TempDir
    Path directory;

    @Test
    void usualMountPoint_isTheName() {
        assertThat(StateDirectory.nameOf(Path.of("/mnt/my-data")))
                .isEqualTo("mnt-my-data" + StateDirectory.atThisHost());
        assertThat(StateDirectory.uniqueNameOf(Path.of("/mnt/my-data")))
                .isEqualTo("mnt-my%2Ddata" + StateDirectory.atThisHost());
    }

    // Job lines name files there, and are split at white space.
    @Test
    void mountPointWithBlanks_hasANameWithout() {
        assertThat(StateDirectory.uniqueNameOf(Path.of("/data/my set\t1")))
                .isEqualTo("data-my%20set%091" + StateDirectory.atThisHost());
        assertThat(StateDirectory.uniqueNameOf(Path.of("/a\u2003b"))).startsWith("a%E2%80%83b@");
        assertThat(StateDirectory.uniqueNameOf(Path.of("/data/my%20set")))
                .isEqualTo("data-my%2520set" + StateDirectory.atThisHost());
    }

    @Test
    void longMountPoint_hasANameThatAFileCanHave_andNoOtherHasTheSame() throws Exception {
        for (String letter : new String[] {"a", "é", "\uD83D\uDE00", "a\uD83D\uDE00"}) {
            Path one = Path.of("/" + (letter.repeat(40) + "/").repeat(20) + "1");
            Path other = Path.of("/" + (letter.repeat(40) + "/").repeat(20) + "2");
            String name = StateDirectory.uniqueNameOf(one);
            assertThat(name.getBytes(UTF_8).length)
                    .isLessThanOrEqualTo(150 + StateDirectory.atThisHost().length());
            Files.createFile(directory.resolve(name + ".restart"));
            assertThat(StateDirectory.uniqueNameOf(other)).isNotEqualTo(name).endsWith(StateDirectory.atThisHost());
            assertThat(StateDirectory.uniqueNameOf(one)).isEqualTo(name);
            assertThat(StateDirectory.nameOf(other)).isNotEqualTo(StateDirectory.nameOf(one));
        }
    }
}
