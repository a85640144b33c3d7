package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.node.mount.MountProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script {@code clairfs} when a mount's process is stopped or ends early, or the command itself is ended or killed while it mounts. */
@Timeout(600)
final class LauncherFaultTest extends LauncherFixture {
    private static final long GENEROUS_S = 120;
    private static final int MOUNTS_GIVEN_UP = 3;

    @Test
    void a_process_that_stops_while_it_answers_keeps_no_command_waiting() throws Exception {
        mount().succeeded();
        long pid = new LiveMount(point).pid();
        // Asks again and again, so that the process is stopped with a request in its hands. Who waits for that cannot
        // be killed.
        Path bin = fixture.newDirectory("bin");
        Path cat = Files.writeString(bin.resolve("cat"), """
                #!/usr/bin/env python3
                import sys
                while True:
                    open(sys.argv[-1]).read()
                """);
        assertThat(cat.toFile().setExecutable(true)).isTrue();
        Map<String, String> asking = new HashMap<>(fixture.environment());
        asking.put("PATH", bin + ":" + System.getenv("PATH"));
        Path said = fixture.newDirectory("said");
        Process status = Ended.start(command("status", point), asking, said.resolve("out"), said.resolve("err"));
        TimeUnit.MILLISECONDS.sleep(500);
        signal("STOP", pid);
        try {
            assertThat(status.waitFor(GENEROUS_S, TimeUnit.SECONDS))
                    .as("it ends")
                    .isTrue();
        } finally {
            signal("CONT", pid);
        }
        run("umount", point).succeeded();
    }

    private void signal(String name, long pid) throws IOException, InterruptedException {
        Ended.run(List.of("kill", "-" + name, Long.toString(pid)), fixture.environment())
                .succeeded();
    }

    @Tag("exhaustive")
    @Test
    void a_process_that_is_stopped_is_unmounted_too() throws Exception {
        mount().succeeded();
        long pid = new LiveMount(point).pid();
        signal("STOP", pid);
        run("umount", point).succeeded();
        assertThat(fixture.mounts()).isEmpty();
    }

    @Tag("exhaustive")
    @Test
    void a_process_that_ends_without_a_reason_is_told_of_with_its_last_words() throws Exception {
        fixture.environment(
                "JAVA_HOME",
                jdkWhosePrograms("echo 'cannot map memory' >&2; exit 3").toString());

        assertThat(run("mount", source, point).complainedWith(3))
                .endsWith("ended early, with code 3: cannot map memory");
        try (Stream<Path> logs = Files.list(fixture.directory().resolve("clairfs"))) {
            assertThat(logs).as("logs left").isEmpty();
        }
    }

    @Tag("exhaustive")
    @Test
    void a_command_that_is_ended_while_it_waits_ends_the_mounts_process() throws Exception {
        fixture.environment("JAVA_HOME", jdkWhosePrograms("exec sleep 600").toString());
        Process waiting = fixture.start("launcher", command("mount", source, point));
        Waiting.until("its process", () -> sleeping(waiting).count() == 1);
        ProcessHandle daemon = sleeping(waiting).findFirst().orElseThrow();

        waiting.destroy();

        assertThat(waiting.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
        daemon.onExit().get(GENEROUS_S, TimeUnit.SECONDS);
    }

    // Promise L3
    @Test
    void a_command_that_is_ended_while_it_mounts_leaves_nothing() throws Exception {
        for (int attempt = 0; attempt < MOUNTS_GIVEN_UP; attempt++) {
            Process mounting = fixture.start(
                    "mounting" + attempt, command("mount", source, point, "--memory", "64MiB", "--restarts", "3"));
            Waiting.until("the dataset's mount", () -> !fixture.mounts().isEmpty() || !mounting.isAlive());
            mounting.destroy();
            if (mounting.waitFor() == 0) { // it was there before the signal
                run("umount", point).succeeded();
            }
            Waiting.until("it is gone", () -> fixture.mounts().isEmpty());
            Waiting.until("its processes are gone", () -> fixture.processes().isEmpty());
        }
    }

    @Test
    void a_command_that_is_ended_just_when_it_has_started_the_mounts_process_ends_that() throws Exception {
        Path begun = fixture.directory().resolve("begun");
        fixture.environment(
                "JAVA_HOME",
                jdkWhosePrograms("echo $$ >'" + begun + "'; exec sleep 600").toString());
        Path signal = Files.writeString(fixture.directory().resolve("signal"), """
                # Bash does this before each command of the launcher: a signal is there before the one behind the start.
                set -T
                trap 'case $BASH_COMMAND in
                    "exec 7<"*) started=yes ;;
                    *)
                        if [ -n "${started:-}" ] && [ "$BASHPID" = $$ ]; then
                            started=
                            until [ -s "%s" ]; do sleep 0.01; done
                            kill -TERM $$
                        fi
                        ;;
                esac' DEBUG
                """.formatted(begun));
        fixture.environment("BASH_ENV", signal.toString());

        Process ended = fixture.start("launcher", command("mount", source, point));
        assertThat(ended.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
        assertThat(ended.exitValue()).isEqualTo(143);
        long pid = Long.parseLong(Files.readString(begun).strip());
        try {
            Waiting.until("its process is gone", () -> MountProcess.state(pid) == MountProcess.State.GONE);
        } finally {
            ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    // Promise L3
    /** The first heap bound is that of a mount's process; with the second, which is above a mount's, the process starts another one. */
    @ParameterizedTest
    @ValueSource(strings = {"-Xmx256m", "-Xmx64g"})
    void a_command_that_is_killed_while_it_mounts_leaves_nothing(String heap) throws Exception {
        fixture.environment("JDK_JAVA_OPTIONS", heap);
        Path begun = fixture.directory().resolve("begun");
        Path goesOn = fixture.directory().resolve("goes-on");
        Path ended = fixture.directory().resolve("ended");
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        fixture.environment(
                "JAVA_HOME",
                jdkWhosePrograms("""
                touch '%s'
                until [ -e '%s' ]; do sleep 0.01; done
                '%s' "$@"
                echo $? >'%s'
                """.formatted(begun, goesOn, java, ended)).toString());
        Process mounting = fixture.start("mounting", command("mount", source, point, "--memory", "64MiB"));
        Waiting.until("the mount's process", () -> Files.exists(begun));
        mounting.destroyForcibly();
        assertThat(mounting.waitFor()).isNotZero();

        Files.createFile(goesOn);
        Waiting.until("its process has ended", () -> Files.exists(ended));
        assertThat(fixture.mounts()).isEmpty();
        Waiting.until("its processes are gone", () -> fixture.processes().isEmpty());
    }

    private static Stream<ProcessHandle> sleeping(Process launcher) {
        return launcher.descendants()
                .filter(each -> each.info().commandLine().orElse("").contains("sleep 600"));
    }
}
