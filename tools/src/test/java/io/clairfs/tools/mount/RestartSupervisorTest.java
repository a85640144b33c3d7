package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.mount.FuseConnection;
import io.clairfs.tools.node.config.StateDirectory;
import io.clairfs.tools.node.mount.RestartProcesses;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a supervisor starts a killed daemon again, and when it does not. */
@Timeout(1200)
final class RestartSupervisorTest extends RestartFixture {
    private static final int LONG_ENOUGH_TO_REMOVE_IT_S = 5;

    // Promise D1
    @Test
    void mountBesideADaemonThatIsBeingStarted_isRefused_andTheMountGoesOn() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 3);
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        daemon.destroyForcibly();

        assertThat(fixture.clairfs("mount", dataset, mount.point()).complainedWith(1))
                .contains("busy");
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        assertThat(fixture.logs()).contains("starting it again");
        fixture.clairfs("umount", mount.point()).succeeded();
    }

    /** The kernel's table of mounts has such a blank as four digits. */
    // Promise D1
    @Test
    void mountWhosePathHasADigitBehindABlank_goesOnToo() throws Exception {
        makeDataset();
        Path point = fixture.newDirectory("run "); // and a number
        LiveMount mount = fixture.mountAt(point, dataset, "--memory", "4MiB", "--staging", "8MiB", "--restarts", "5");
        mount.awaitSupervisor();
        long _ = killAndAwaitNext(mount, mount.pid());
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        fixture.clairfs("umount", point).succeeded();
        assertThat(fixture.processes()).isEmpty();
    }

    // Promise D1
    @Test
    void supervisorThatIsKilled_hasASuccessor_whichStartsTheDaemonAgain() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 9);
        long daemon = mount.pid();
        List<ProcessHandle> supervisors =
                ProcessHandle.of(daemon).orElseThrow().children().toList();
        assertThat(supervisors).isNotEmpty();
        supervisors.forEach(ProcessHandle::destroyForcibly);
        Waiting.until("there is another", () -> fixture.logs().contains("was killed; another has its place"));
        mount.awaitSupervisor();
        assertThat(mount.pid()).isEqualTo(daemon);
        long _ = killAndAwaitNext(mount, daemon);
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.processes()).isEmpty();
        assertThat(restartDirectories()).isEmpty();
    }

    /** As while the package with fusermount is being replaced. */
    // Promise D1
    @Test
    void controlFilesThatCannotBeMounted_comeLater_andTheDatasetIsServedMeanwhile() throws Exception {
        makeDataset();
        Path programs = fixture.newDirectory("programs");
        Path fusermount = programs.resolve("fusermount");
        Path real = Path.of(Ended.run(List.of("sh", "-c", "command -v fusermount"), Map.of())
                .succeeded()
                .strip());
        Files.createSymbolicLink(fusermount, real);
        LiveMount mount = fixture.mountAt(
                command -> Stream.concat(
                                Stream.of("env", "PATH=" + programs + ":" + System.getenv("PATH")), Stream.of(command))
                        .toArray(String[]::new),
                fixture.newDirectory("point"),
                dataset,
                "--memory",
                "4MiB",
                "--staging",
                "8MiB",
                "--restarts",
                "5");
        mount.awaitSupervisor();
        long daemon = mount.pid();
        Files.delete(fusermount);
        Files.writeString(fusermount, "#!/bin/sh\nexit 1\n");
        Files.setPosixFilePermissions(fusermount, PosixFilePermissions.fromString("rwxr-xr-x"));
        ProcessHandle.of(daemon).orElseThrow().destroyForcibly();

        Waiting.until("the next one serves", () -> fixture.logs().contains("the dataset is served without"));
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        assertThat(fixture.logs()).doesNotContain("died 2 times");
        Files.delete(fusermount);
        Files.createSymbolicLink(fusermount, real);
        long next = mount.awaitNext(daemon);
        assertThat(fixture.logs()).contains("the control files are there again");
        mount.awaitSupervisor();
        assertThat(mount.pid()).isEqualTo(next);
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.processes()).isEmpty();
        assertThat(fixture.mounts()).isEmpty();
    }

    /** As where the user's home is full. */
    // Promise D1
    @Test
    void mountBesideADaemonThatIsBeingStartedFromATemporaryDirectory_isRefusedToo() throws Exception {
        makeDataset();
        Path point = fixture.newDirectory("point");
        Path home = Files.createDirectories(fixture.directory().resolve("clairfs"));
        Files.createFile(home.resolve(StateDirectory.uniqueNameOf(point) + ".restart")); // no directory can be there
        LiveMount mount = fixture.mountAt(point, dataset, "--memory", "4MiB", "--staging", "8MiB", "--restarts", "5");
        mount.awaitSupervisor();
        Path go = fixture.directory().resolve("go");
        delayNextUntil(go, mount);
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        daemon.destroyForcibly();
        ProcessEnd.await(daemon, 120);

        Process another = fixture.start("another", Clairfs.command("mount", dataset.toString(), point.toString()));
        boolean hasEnded = another.waitFor(LONG_ENOUGH_TO_REMOVE_IT_S, TimeUnit.SECONDS);
        assertThat(hasEnded).as("it waits for the next daemon").isFalse();
        Files.createFile(go);
        assertThat(another.waitFor()).isEqualTo(1);
        assertThat(Files.readString(fixture.directory().resolve("another.err"))).contains("busy");
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        ProcessHandle.of(mount.pid()).orElseThrow().destroyForcibly();
        assertThat(fixture.clairfs("status", point).succeeded())
                .as("a command waits for the next daemon")
                .contains("620 samples");
        fixture.clairfs("umount", point).succeeded();
        assertThat(fixture.processes()).isEmpty();
    }

    // Promise D1
    @Tag("exhaustive")
    @Test
    void mountBesideADaemonThatIsBeingStartedForAMinute_isRefused_andTheMountGoesOn() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 9);
        Path go = fixture.directory().resolve("go");
        delayNextUntil(go, mount);
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        daemon.destroyForcibly();
        ProcessEnd.await(daemon, 120);

        assertThat(fixture.clairfs("mount", dataset, mount.point()).complainedWith(1))
                .contains("busy");
        Files.createFile(go);
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        fixture.clairfs("umount", mount.point()).succeeded();
    }

    // Promise D3
    @Test
    void daemonThatDiesTooOften_isGivenUp_andReadersGetAnErrorInsteadOfAWait() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 1);
        cat(mount, 1).succeeded();
        ProcessHandle.of(mount.pid()).orElseThrow().destroyForcibly();
        assertThat(fixture.clairfs("status", mount.point()).succeeded())
                .as("a command waits for the next daemon")
                .contains("620 samples");
        long next = mount.pid();
        cat(mount, 2).succeeded();
        // As if it had been started again only now: on a slow machine a minute is soon over.
        Files.writeString(
                restartDirectories().getFirst().resolve("restarts"),
                Instant.now().getEpochSecond() + "\n");
        ProcessHandle.of(next).orElseThrow().destroyForcibly();

        Ended late = cat(mount, 3);
        assertThat(late.exit()).isNotZero();
        assertThat(fixture.logs()).contains("died 2 times within a minute, and is not started again");
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.mounts()).isEmpty();
        assertThat(fixture.processes()).isEmpty();
        assertThat(mount.point()).isEmptyDirectory();
    }

    // Promise D1
    @Tag("exhaustive")
    @Test
    void ordinaryUsersDaemon_isStartedAgainToo() throws Exception {
        makeDataset();
        OtherUser user = OtherUser.arrive(fixture);
        Path point = fixture.newDirectory("point");
        user.give(point);
        user.clairfs("mount", dataset, point, "--memory", "4MiB", "--staging", "4MiB", "--restarts", "9")
                .succeeded();
        Ended reader = user.run(fixture.pythonCommand("""
                import json, os, signal, sys, time
                mount, source = sys.argv[1:]

                def status():
                    try:
                        with open(f"{mount}/.clairfs/status.json") as file:
                            return json.load(file)
                    except OSError:
                        return {}

                def daemon(other):
                    while True:
                        now = status()
                        if now.get("pid", other) != other and now["ready"]:
                            return now["pid"]
                        time.sleep(0.05)

                pid = daemon(0)
                while True:  # the supervisor starts when the dataset is listed
                    try:
                        with open(f"{mount}/.clairfs/upgrade") as file:
                            file.read()
                        break
                    except OSError:
                        time.sleep(0.05)
                for number in range(3):
                    os.kill(pid, signal.SIGKILL)
                    for name in range(30 * number, 30 * number + 30):
                        path = f"train/cat/{name}.jpg"
                        with open(f"{mount}/{path}", "rb") as through, open(f"{source}/{path}", "rb") as direct:
                            assert through.read() == direct.read(), path
                    pid = daemon(pid)
                """, point, dataset));
        Ended unmounted = user.clairfs("umount", point);
        String log = user.runAsRoot(List.of("sh", "-c", "cat '" + user.home() + "'/.local/state/clairfs/*.log"))
                .out();
        assertThat(reader.exit()).as("%s; the log: %s", reader.err(), log).isZero();
        assertThat(unmounted.exit()).as("%s; the log: %s", unmounted.err(), log).isZero();
        assertThat(fixture.processes()).isEmpty();
    }

    /** A daemon that dies after it has a supervisor of its own, and before it has ended the one that started it, has two. */
    @Tag("exhaustive")
    @Test
    void deathThatAnotherSupervisorHasTakenOn_isLeftToIt() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 1_000);
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        List<ProcessHandle> supervisors = daemon.children().toList();
        assertThat(supervisors).isNotEmpty();
        try (DirectoryStream<Path> kept =
                Files.newDirectoryStream(fixture.directory().resolve("clairfs"), "*.restart")) {
            Files.createDirectory(kept.iterator().next().resolve("died." + daemon.pid()));
        }
        daemon.destroyForcibly();
        Waiting.until("its supervisor has ended", () -> supervisors.stream().noneMatch(ProcessHandle::isAlive));
        assertThat(fixture.logs()).doesNotContain("starting it again");
        assertThat(cat(mount, 1).exit()).as("nobody else holds the mount here").isNotZero();
        fixture.clairfs("umount", mount.point()).succeeded();
    }

    /** The kernel tells no shell of the end then; it looks once a second. */
    @Tag("exhaustive")
    @Test
    void withoutSetpriv_killedDaemonIsStartedAgainToo() throws Exception {
        makeDataset();
        Path programs = fixture.newDirectory("programs");
        for (String program : List.of("setsid", "fusermount")) {
            Files.createSymbolicLink(
                    programs.resolve(program),
                    Path.of(Ended.run(List.of("sh", "-c", "command -v " + program), Map.of())
                            .succeeded()
                            .strip()));
        }
        LiveMount mount = fixture.mountAt(
                command -> Stream.concat(Stream.of("env", "PATH=" + programs), Stream.of(command))
                        .toArray(String[]::new),
                fixture.newDirectory("point"),
                dataset,
                "--restarts",
                "9");
        mount.awaitSupervisor();
        killAndAwaitNext(mount, mount.pid());
        mount.awaitSupervisor();
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        fixture.clairfs("umount", mount.point()).succeeded();
        Waiting.until("nothing is left", () -> fixture.processes().isEmpty());
        assertThat(fixture.mounts()).isEmpty();
    }

    // Promise D4
    @Test
    void mountThatIsTakenAwayWhileNoDaemonServesIt_staysAway() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 5);
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        daemon.destroyForcibly();
        ProcessEnd.await(daemon, 120);
        Ended.run(List.of("fusermount", "-u", "-z", mount.point().toString()), Map.of())
                .succeeded();

        Waiting.until(
                "nothing is left",
                () -> fixture.processes().isEmpty() && fixture.mounts().isEmpty());
        assertThat(mount.point()).isEmptyDirectory();
    }

    /** The daemon that is being started ends at once when it is told to, and by then the next one is there. */
    // Promise D4
    @Test
    void umountBesideDaemonsThatAreBeingStarted_leavesNothing() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 1_000);
        Path looks = fixture.directory().resolve("looks-like-a-daemon");
        Files.writeString(looks, """
                trap '(trap - TERM; while :; do sleep 0.1; done) & exit' TERM
                : >"$0.is-there"
                while :; do sleep 0.1; done
                """);
        Files.writeString(
                restartScript(mount),
                "exec bash -c 'exec -a /none/java bash \"$0\" io.clairfs.tools.cli.Main mount \"$@\"' '" + looks
                        + "' \"$@\" -f '" + mount.point() + "'\n");
        String number = FuseConnection.device(mount.point());
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        daemon.destroyForcibly();
        ProcessEnd.await(daemon, 120);
        Waiting.until("one is being started", () -> Files.exists(Path.of(looks + ".is-there")));

        fixture.clairfs("umount", mount.point()).succeeded();
        Waiting.until(
                "the supervisor has ended", // it is waited for, but with a bound
                () -> fixture.processes().isEmpty()
                        && RestartProcesses.of(mount.point(), number).isEmpty());
        assertThat(fixture.mounts()).isEmpty();
        assertThat(restartDirectories()).isEmpty();
        assertThat(mount.point()).isEmptyDirectory();
    }

    // Promise D4
    @Test
    void mountInThePlaceOfOneWhoseDaemonIsBeingStarted_isLeftAlone() throws Exception {
        requireNextMountIsLeftAlone(false);
    }

    /** Then the connection of the mount that was taken away lives on. */
    // Promise D4
    @Tag("exhaustive")
    @Test
    void mountInThePlaceOfOneThatIsInUseAndWhoseDaemonIsBeingStarted_isLeftAlone() throws Exception {
        requireNextMountIsLeftAlone(true);
    }

    private void requireNextMountIsLeftAlone(boolean isFirstInUse) throws Exception {
        makeDataset();
        LiveMount first = mount(dataset, 9);
        Path point = first.point();
        Path go = fixture.directory().resolve("go");
        delayNextUntil(go, first);
        if (isFirstInUse) {
            fixture.start(
                    "reader",
                    List.of("sh", "-c", "exec 9<'" + point.resolve("train/cat/1.jpg") + "'; echo; exec sleep 600"));
            Waiting.until("a file is open", () -> Files.size(fixture.said("reader")) > 0);
        }
        ProcessHandle daemon = ProcessHandle.of(first.pid()).orElseThrow();
        List<ProcessHandle> supervisors = daemon.children().toList();
        daemon.destroyForcibly();
        ProcessEnd.await(daemon, 120);
        Waiting.until(
                "the next one is being started",
                () -> !RestartProcesses.takingOver(point).isEmpty());
        Ended.run(List.of("fusermount", "-u", "-z", point.toString()), Map.of()).succeeded();
        Path source = fixture.newDirectory("source");
        Files.writeString(source.resolve("file"), "of the next mount");
        LiveMount next = fixture.mountAt(point, source, "--memory", "4MiB", "--staging", "4MiB", "--restarts", "9");
        next.awaitSupervisor();
        long pid = next.pid();

        Files.createFile(go);
        Waiting.until(
                "the processes of the first mount have ended",
                () -> supervisors.stream().noneMatch(ProcessHandle::isAlive)
                        && RestartProcesses.takingOver(point).isEmpty());
        assertThat(next.pid()).isEqualTo(pid);
        assertThat(point.resolve("file")).hasContent("of the next mount");
        assertThat(fixture.mounts()).hasSize(2);
        assertThat(restartScript(next)).exists();
        assertThat(restartDirectories()).as("what was kept of the first mount").isEmpty();
        long _ = killAndAwaitNext(next, pid);
        assertThat(point.resolve("file")).hasContent("of the next mount");
        fixture.clairfs("umount", point).succeeded();
        assertThat(fixture.mounts()).isEmpty();
        assertThat(fixture.processes()).isEmpty();
    }
}
