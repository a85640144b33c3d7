package io.clairfs.tools.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProgramLockTest {
    private static final Path SETUP =
            Path.of("../.ci/setup.sh").toAbsolutePath().normalize();

    @TempDir
    private Path checkout;

    private Path program(String name) throws Exception {
        Path program = Files.createDirectories(checkout.resolve("target").resolve("program-" + name));
        Files.createFile(program.resolve("begun"));
        return program;
    }

    @Test
    void a_build_removes_former_programs_but_those_that_a_process_holds() throws Exception {
        Path held = program("held");
        Path unused = program("unused");
        Path fresh = program("fresh");
        assertThat(ProgramLock.hold(held.resolve("a.jar"))).isTrue();

        Process build = new ProcessBuilder(List.of(
                        "bash",
                        "-euo",
                        "pipefail",
                        "-c",
                        ". \"$0\"; remove_unused \"$@\"",
                        SETUP.toString(),
                        checkout.toString(),
                        fresh.toString()))
                .inheritIO()
                .start();

        assertThat(build.waitFor()).isZero();
        assertThat(held).exists();
        assertThat(fresh).exists();
        assertThat(unused).doesNotExist();
    }

    @Test
    void a_program_without_such_a_file_is_held_by_nobody() {
        assertThat(ProgramLock.hold(checkout.resolve("a.jar"))).isFalse();
    }
}
