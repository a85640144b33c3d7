package io.clairfs.tools.node.restart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What starts another program in place of a mount's. */
final class MountCommandLineTest {
    private static final MountCommandLine MOUNT =
            new MountCommandLine(List.of("/jdk/bin/java", "-Xmx1g", "-cp", "old.jar", "Main"), List.of("-f", "a", "b"));

    @Test
    void programInItsPlace_hasItsHeap_unlessItNamesOne() {
        assertThat(MOUNT.replacedBy(List.of("/new/bin/java", "-cp", "new.jar", "Main")))
                .containsExactly("/new/bin/java", "-Xmx1g", "-cp", "new.jar", "Main", "mount");
        assertThat(MOUNT.replacedBy(List.of("/new/bin/java", "-Xmx2g", "-cp", "new.jar", "Main")))
                .containsExactly("/new/bin/java", "-Xmx2g", "-cp", "new.jar", "Main", "mount");
    }

    @Test
    void process_isOfTheProgramThatStartedIt_whateverItsHeap() {
        assertThat(MOUNT.isOf(List.of("/jdk/bin/java", "-cp", "old.jar", "Main")))
                .isTrue();
        assertThat(MOUNT.isOf(List.of("/jdk/bin/java", "-cp", "new.jar", "Main")))
                .isFalse();
    }

    @Test
    void processThatIsNoMounts_isRefused() {
        long own = ProcessHandle.current().pid();
        assertThatThrownBy(() -> MountCommandLine.of(own))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("was not started as 'clairfs mount'");
    }
}
