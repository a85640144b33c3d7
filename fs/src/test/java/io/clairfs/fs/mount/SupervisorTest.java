package io.clairfs.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** By what others know a supervisor; what it does is tested on real mounts. */
final class SupervisorTest {
    @Test
    void argumentsOfASupervisor_tellItsMount() throws IOException {
        List<String> command = Supervisor.command(Path.of("/mnt/a b"), "0:57", Path.of("/home/a/mnt.restart"), 3);
        assertThat(Supervisor.keptBy(command)).isEqualTo(new Supervisor.Kept("/mnt/a b", "0:57"));
    }

    @Test
    void otherProcesses_keepNoMount() {
        assertThat(Supervisor.keptBy(Watchdog.command(1, List.of("0:57", "/mnt"))))
                .isNull();
        assertThat(Supervisor.keptBy(Watchdog.command(1, List.of("0:57", "/mnt", "0:58", "/mnt/.clairfs"))))
                .isNull();
        assertThat(Supervisor.keptBy(List.of("sh"))).isNull();
        assertThat(Supervisor.keptBy(List.of())).isNull();
    }
}
