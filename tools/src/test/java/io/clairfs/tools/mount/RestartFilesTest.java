package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.TorchStates;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is kept in the user's home to start a killed daemon again: whose it is, when it is missing or has no room, and when it is removed. */
@Timeout(1200)
final class RestartFilesTest extends RestartFixture {
    // Promise D6
    @Test
    void daemonsOfOnePathOnHostsWithOneHome_areStartedAgainEachWithItsOwn() throws Exception {
        Path point = fixture.newDirectory("point");
        String state = point.toString().substring(1).replace('/', '-') + "@";
        String kept = point.toString().substring(1).replace("-", "%2D").replace('/', '-') + "@";
        Path home = fixture.directory().resolve("clairfs");
        List<OtherHost> hosts = List.of(OtherHost.make(fixture, "host1"), OtherHost.make(fixture, "host2"));
        for (OtherHost host : hosts) {
            Path source = fixture.newDirectory("source");
            Files.writeString(source.resolve("file"), "of " + host.name());
            host.clairfs("mount", source, point, "--memory", "64MiB", "--restarts", "3")
                    .succeeded();
            Waiting.until("there is a supervisor", () -> {
                String upgrade = host.read(point.resolve(".clairfs/upgrade"));
                return upgrade != null && !upgrade.isEmpty();
            });
        }
        for (OtherHost host : hosts) {
            long killed = host.daemon(point);
            host.run(List.of("kill", "-9", Long.toString(killed))).succeeded();
            Waiting.until("another daemon answers", () -> {
                long now = host.daemon(point);
                return now != 0 && now != killed;
            });
            assertThat(host.read(point.resolve("file"))).isEqualTo("of " + host.name());
            assertThat(home.resolve(state + host.name() + ".log")).exists();
        }

        hosts.getFirst().clairfs("umount", point).succeeded();
        assertThat(home.resolve(kept + "host1.restart")).doesNotExist();
        assertThat(home.resolve(kept + "host2.restart/restart")).exists();
        hosts.getLast().clairfs("umount", point).succeeded();
        assertThat(home.resolve(kept + "host2.restart")).doesNotExist();
    }

    // Promise D6
    @Tag("exhaustive")
    @Test
    void mountsWhosePathsDifferInASlash_areStartedAgainEachWithItsOwn() throws Exception {
        Path parent = fixture.newDirectory("points");
        List<Path> points = List.of(parent.resolve("x-y"), parent.resolve("x/y"));
        List<LiveMount> mounts = new ArrayList<>();
        for (Path point : points) {
            Files.createDirectories(point);
            Path source = fixture.newDirectory("source");
            Files.writeString(source.resolve("file"), "of " + point);
            LiveMount mount = fixture.mountAt(point, source, "--memory", "64MiB", "--restarts", "3");
            mount.awaitSupervisor();
            mounts.add(mount);
        }
        assertThat(restartDirectories()).hasSize(2);
        for (LiveMount mount : mounts) {
            long _ = killAndAwaitNext(mount, mount.pid());
            assertThat(mount.point().resolve("file")).hasContent("of " + mount.point());
        }
        for (LiveMount mount : mounts) {
            fixture.clairfs("umount", mount.point()).succeeded();
        }
    }

    // Promise D3
    @Test
    void daemonOfWhichNothingWasKept_isGivenUp_andReadersGetAnErrorInsteadOfAWait() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 2);
        for (Path directory : restartDirectories()) {
            Waiting.until("the last of its files is there", () -> Files.exists(directory.resolve("ranks")));
            Ended.run(List.of("rm", "-r", directory.toString()), Map.of()).succeeded();
        }
        ProcessHandle.of(mount.pid()).orElseThrow().destroyForcibly();

        assertThat(cat(mount, 1).exit()).isNotZero();
        assertThat(fixture.logs()).contains("died 3 times within a minute, and is not started again");
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.processes()).isEmpty();
    }

    // Promise D2
    @Test
    void jobThatCannotGoOn_isNotKeptForAFurtherDaemon() throws Exception {
        makeDataset();
        Path state = fixture.directory().resolve("state");
        TorchStates.write(state);
        LiveMount mount = mount(dataset, 3);
        mount.job("name=listed subset=train sampler=torch-state epochs=9 state=" + state);
        awaitKept(mount, "jobs", "name=listed ");
        Files.delete(state);
        killAndAwaitNext(mount, mount.pid());

        assertThat(mount.lines("errors")).anyMatch(line -> line.contains("is lost") && line.contains("name=listed "));
        Waiting.until("no job is kept", () -> kept(mount, "jobs").isEmpty());
        assertThat(mount.status().path("jobs").isEmpty()).isTrue();
        fixture.clairfs("umount", mount.point()).succeeded();
    }

    // Promise D1
    @Test
    void whereTheHomeIsFull_killedDaemonsAreStartedAgainAllTheSame() throws Exception {
        requireRestarts(false);
    }

    // Promise D1
    @Tag("exhaustive")
    @Test
    void whereTheHomeIsFullFromTheBeginning_killedDaemonsAreStartedAgainAllTheSame() throws Exception {
        requireRestarts(true);
    }

    private void requireRestarts(boolean fromTheBeginning) throws Exception {
        makeDataset();
        try (SmallDisk home = SmallDisk.mount(fixture, 16 << 20)) {
            Files.createSymbolicLink(fixture.directory().resolve("clairfs"), home.path());
            if (fromTheBeginning) {
                home.fillUpTo(0);
            }
            LiveMount mount = mount(dataset, 10);
            home.fillUpTo(0);
            long first = mount.pid();
            ProcessHandle.of(first).orElseThrow().destroyForcibly();
            assertThat(fixture.clairfs("mount", dataset, mount.point()).complainedWith(1))
                    .contains("busy");
            long next = mount.awaitNext(first);
            if (!fromTheBeginning) {
                Waiting.until(
                        "it says so",
                        () -> mount.lines("errors").stream()
                                .anyMatch(line -> line.contains("is started as the one before it was")));
            }
            long _ = killAndAwaitNext(mount, next);
            assertThat(cat(mount, 1).succeeded()).isNotEmpty();
            fixture.clairfs("umount", mount.point()).succeeded();
            assertThat(fixture.processes()).isEmpty();
            assertThat(restartDirectories()).isEmpty();
        }
    }

    // Promise D6
    @Tag("exhaustive")
    @Test
    void whatProcessesThatWereAllKilledLeft_isRemoved() throws Exception {
        makeDataset();
        LiveMount first = mount(dataset, 3);
        LiveMount second = mount(dataset, 3);
        LiveMount third = mount(dataset, 3);
        assertThat(restartDirectories()).hasSize(3);
        killAll(first);
        killAll(second);
        fixture.clairfs("umount", first.point()).succeeded();
        assertThat(restartDirectories()).hasSize(2);
        Ended.run(List.of("fusermount", "-u", "-z", second.point().toString()), Map.of())
                .succeeded();
        for (Path each : restartDirectories()) {
            Ended.run(List.of("sh", "-c", "touch -d '2 days ago' \"$0\" \"$0\"/*", each.toString()), Map.of())
                    .succeeded();
        }

        LiveMount fourth = mount(dataset, 3);
        assertThat(restartDirectories())
                .hasSize(2)
                .noneMatch(each -> each.toString().contains(second.point().getFileName() + "@"));
        long _ = killAndAwaitNext(third, third.pid());
        for (LiveMount each : List.of(third, fourth)) {
            fixture.clairfs("umount", each.point()).succeeded();
        }
        assertThat(restartDirectories()).isEmpty();
    }

    /** Kills the daemon and its supervisor, the supervisor first. */
    private static void killAll(LiveMount mount) throws Exception {
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        List<ProcessHandle> children = daemon.children().toList();
        children.forEach(ProcessHandle::destroyForcibly);
        daemon.destroyForcibly();
        Waiting.until(
                "all are gone", () -> !daemon.isAlive() && children.stream().noneMatch(ProcessHandle::isAlive));
    }
}
