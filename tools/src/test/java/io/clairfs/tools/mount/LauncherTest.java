package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.node.MountLog;
import io.clairfs.tools.node.mount.MountProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The script {@code clairfs} with the program of this build: its own behaviour, and that a mount is the same in each way of starting it.
 */
@Timeout(600)
final class LauncherTest extends LauncherFixture {
    private static final long GENEROUS_S = 120;

    /** Has the launcher wait longer for an answer: after two seconds it takes the mount for one that hangs, and goes another way. */
    private void waitLonger() throws IOException {
        String script = Files.readString(launcher);
        assertThat(script).containsOnlyOnce(" -t 2 ");
        Files.writeString(launcher, script.replace(" -t 2 ", " -t " + GENEROUS_S + " "));
    }

    @Test
    void a_mount_answers_when_the_command_returns_and_is_gone_when_umount_has() throws Exception {
        assertThat(mount().succeeded()).isEmpty();

        assertThat(Files.readString(point.resolve("file"))).isEqualTo("content");
        assertThat(run("status", point).succeeded()).startsWith("clairfs ");
        long pid = new LiveMount(point).pid();
        assertThat(Files.exists(fixture.directory().resolve("clairfs/" + logName())))
                .isTrue();

        assertThat(run("umount", point).succeeded()).isEmpty();
        assertThat(fixture.mounts()).isEmpty();
        assertThat(MountProcess.state(pid)).isEqualTo(MountProcess.State.GONE);
        assertThat(fixture.logs()).as("of a mount that was right").doesNotContain("ERROR");
    }

    // Promise E3
    // The kernel would put one on top of the other, and each would find the other's control files.
    @Test
    void of_two_mounts_of_one_place_at_once_one_is_refused() throws Exception {
        FutureTask<Ended> other = new FutureTask<>(this::mount);
        Thread.ofPlatform().daemon().start(other);
        List<Ended> both = List.of(mount(), other.get());
        assertThat(both.stream().filter(each -> each.exit() == 0))
                .as("%s", both)
                .hasSize(1);
        assertThat(both.stream().filter(each -> each.exit() == 1).map(Ended::err))
                .singleElement()
                .asString()
                .contains("mount point " + point + " is busy");
        assertThat(fixture.mounts().stream().filter(point::equals)).hasSize(1);
        assertThat(point.resolve("file")).hasContent("content");
        assertThat(run("umount", point).succeeded()).isEmpty();
    }

    private String logName() {
        return MountLog.name(point);
    }

    @Test
    void the_mounts_process_is_the_same_as_that_which_the_program_starts() throws Exception {
        mount().succeeded();
        LiveMount byLauncher = new LiveMount(point);
        LiveMount byProgram = new LiveMount(fixture.newDirectory("mnt"));
        fixture.clairfs("mount", source, byProgram.point(), "--memory", "64MiB").succeeded();

        Set<String> flags = flags(byLauncher.pid());
        assertThat(flags).contains("-XX:-G1UseConcRefinement");
        assertThat(flags).containsAll(flags(byProgram.pid()));
        assertThat(allocation(byLauncher.pid())).isNotEmpty().isEqualTo(allocation(byProgram.pid()));
        assertThat(session(byLauncher.pid())).as("leads a session").isEqualTo(byLauncher.pid());
    }

    /** The flags of a JVM, without those that speed up tests. */
    private static Set<String> flags(long pid) throws IOException {
        String[] all =
                Files.readString(Path.of("/proc/" + pid + "/cmdline"), UTF_8).split("\0", -1);
        return Arrays.stream(all)
                .skip(1)
                .takeWhile(flag -> !flag.equals("-cp"))
                .filter(flag ->
                        !flag.startsWith("-XX:AOTCache") && !flag.startsWith("-Xlog") && !flag.contains("Tiered"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String allocation(long pid) throws IOException {
        String environment = new String(Files.readAllBytes(Path.of("/proc/" + pid + "/environ")), UTF_8);
        return Arrays.stream(environment.split("\0", -1))
                .filter(each -> each.startsWith("GLIBC_TUNABLES="))
                .collect(Collectors.joining());
    }

    private static long session(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[3]);
    }

    @Test
    void what_is_wrong_is_one_line_and_leaves_nothing() throws Exception {
        assertThat(mount("--loaders", "0").complainedWith(2)).contains("--loaders must be 1 to 1024");
        assertThat(run("mount", source.resolve("none"), point).complainedWith(1))
                .contains("none");
        mount().succeeded();
        assertThat(mount().complainedWith(1)).contains(point.toString());
        assertThat(fixture.processes()).hasSizeLessThanOrEqualTo(2); // the daemon and its watchdog
        assertThat(run("umount", point.resolve("file")).complainedWith(1)).contains("is not a clairfs mount");
    }

    @Tag("exhaustive")
    @Test
    void places_may_stand_behind_two_dashes() throws Exception {
        run("mount", "--memory", "64MiB", "--", source, point).succeeded();
        assertThat(Files.readString(point.resolve("file"))).isEqualTo("content");
        assertThat(run("umount", "--", point).succeeded()).isEmpty();
        assertThat(fixture.clairfs("mount", "--memory", "64MiB", "--", source, point)
                        .succeeded())
                .isEmpty();
        assertThat(run("umount", point).succeeded()).isEmpty();
    }

    @Test
    void run_becomes_the_command_with_the_job_in_its_environment() throws Exception {
        waitLonger();
        mount().succeeded();
        fixture.environment("PYTHONPATH", "/further");
        String show = "echo $$ $CLAIRFS_JOB $CLAIRFS_MOUNT $PYTHONPATH \"$@\"; exec sleep 600";
        Process running = fixture.start(
                "run", command("run", point, "--job", "j", "--", "sh", "-c", show, "sh", "--job", "of the command"));
        Waiting.until("said", () -> Files.readString(fixture.said("run")).endsWith("\n"));
        assertThat(Files.readString(fixture.said("run")))
                .isEqualTo(running.pid() + " j " + point + " " + point
                        + "/.clairfs/python:/further --job of the command\n");
        running.destroy();
        assertThat(running.waitFor()).as("ended by SIGTERM").isEqualTo(128 + 15);
        assertThat(run("run", point, "--", "sh", "-c", "exit 7").exit()).isEqualTo(7);
    }

    @Test
    void run_becomes_the_command_also_for_a_path_below_a_mount_point_of_any_name() throws Exception {
        waitLonger();
        point = fixture.newDirectory("a mount\tpoint\\");
        Files.createDirectory(source.resolve("below"));
        mount().succeeded();
        Process running = fixture.start(
                "run",
                command(
                        "run",
                        point.resolve("below"),
                        "--",
                        "sh",
                        "-c",
                        "printf '%s\\n' \"$$ $CLAIRFS_JOB $CLAIRFS_MOUNT\""));
        assertThat(running.waitFor()).isZero();
        assertThat(Files.readString(fixture.said("run"))).isEqualTo(running.pid() + " train " + point + "\n");
        assertThat(run("umount", point).succeeded()).isEmpty();
    }

    @Test
    void run_becomes_the_command_also_where_a_look_at_the_mount_is_late() throws Exception {
        Files.createDirectory(source.resolve("below"));
        mount().succeeded();
        Path looked = fixture.directory().resolve("looked");
        Path bin = fixture.newDirectory("bin");
        program(bin.resolve("readlink"), """
                [ "$2" != -- ] || [ -e '%1$s' ] || { touch '%1$s'; exec sleep 600; }
                PATH=${PATH#*:}
                exec readlink "$@"
                """.formatted(looked));
        fixture.environment("PATH", bin + ":" + System.getenv("PATH"));

        assertBecomesTheCommand("at", point);
        assertThat(looked).as("a mount point is known without a look").doesNotExist();
        assertBecomesTheCommand("below", point.resolve("below"));
        assertThat(looked).exists();
    }

    private void assertBecomesTheCommand(String name, Path path) throws IOException, InterruptedException {
        Process running = fixture.start(name, command("run", path, "--", "sh", "-c", "echo $$"));
        assertThat(running.waitFor()).isZero();
        assertThat(Files.readString(fixture.said(name))).isEqualTo(running.pid() + "\n");
    }

    @Test
    void run_that_cannot_is_one_line_and_a_path_below_the_mount_will_do() throws Exception {
        waitLonger();
        assertThat(run("run", point, "--", "true").complainedWith(1)).contains("is not on a clairfs mount");
        mount().succeeded();
        assertThat(run("run", point, "--", "no-such-program").complainedWith(127))
                .contains("no-such-program: command not found");
        assertThat(run("run", point).complainedWith(2)).contains("COMMAND");
        assertThat(run("run", point, "--jobs", "x", "--", "true").complainedWith(2))
                .contains("--jobs");
        assertThat(run(
                        "run",
                        point.resolve("file"),
                        "--job=j",
                        "--",
                        "sh",
                        "-c",
                        "echo $CLAIRFS_JOB $CLAIRFS_MOUNT; exit 7"))
                .extracting(Ended::exit, Ended::out)
                .containsExactly(7, "j " + point + "\n");
        assertThat(run("run", "--help").succeeded()).contains("clairfs run MOUNTPOINT [--job NAME] -- COMMAND...");
    }

    @Tag("exhaustive")
    @Test
    void a_checkout_that_was_moved_runs_whatever_the_locale_is() throws Exception {
        Path program = launcher.resolveSibling("target/program");
        String libraries = Files.readString(program.resolve("class-path"));
        List<String> before = new ArrayList<>();
        for (String each : libraries.split(":", -1)) {
            Path library = Path.of(each);
            Files.createSymbolicLink(program.resolve(library.getFileName()), library);
            before.add("/before/it/was/moved/" + library.getFileName());
        }
        Files.writeString(program.resolve("class-path"), String.join(":", before));
        Files.deleteIfExists(program.resolve(BuiltProgram.STARTUP_CACHE)); // it knows the jars by their paths
        fixture.environment("LC_ALL", "xx_XX.ISO-8859-1");
        Path named = Files.createDirectory(source.resolve("\u00fc"));

        assertThat(run("--version").succeeded()).startsWith("clairfs ");
        assertThat(run("mount", named, point, "--memory", "64MiB").succeeded()).isEmpty();
        assertThat(run("status", point).succeeded()).startsWith("clairfs ");
        run("umount", point).succeeded();
    }

    @Test
    void the_help_of_mount_is_what_it_prints() throws Exception {
        Ended help = run("mount", "--help");
        assertThat(help.succeeded()).contains("--memory").doesNotContain("launcher-log");
        assertThat(help.err()).isEmpty();
    }

    @Test
    void a_probe_of_a_mount_that_is_ready_starts_no_program() throws Exception {
        waitLonger();
        assertThat(run("status", "--ready", point).complainedWith(1)).contains("is not on a clairfs mount");
        mount().succeeded();
        new LiveMount(point).awaitReady();

        fixture.environment("JAVA_HOME", jdkWhosePrograms("exit 3").toString());
        Ended ready = run("status", "--ready", point);
        assertThat(ready.succeeded()).isEmpty();
        assertThat(ready.err()).isEmpty();
    }
}
