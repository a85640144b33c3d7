package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An upgrade that cannot succeed: the daemon goes on, or its program is started again. No reader gets an error. */
@Timeout(1200)
final class UpgradeRefusedTest extends RestartFixture {
    private LiveMount mountWith(UnaryOperator<String[]> place, String... options) throws Exception {
        makeDataset();
        LiveMount mount = fixture.mountAt(place, fixture.newDirectory("mnt"), dataset, options);
        mount.awaitReady();
        mount.awaitSupervisor();
        return mount;
    }

    /**
     * Has the daemon, and the programs that are asked to go on for it, look hosts up in a file alone: a name server may take longer to know none
     * than the command waits.
     */
    private String[] withoutNameServers(String... command) {
        String hosts =
                "JDK_JAVA_OPTIONS=-Djdk.net.hosts.file=" + fixture.directory().resolve("hosts");
        return Stream.concat(Stream.of("env", hosts), Stream.of(command)).toArray(String[]::new);
    }

    /** The line that says why not. */
    private String refusal(LiveMount mount) throws Exception {
        long pid = mount.pid();
        String line = fixture.clairfs("upgrade", mount.point()).complainedWith(1);
        assertThat(line).contains("so process " + pid + " does; put this right and call 'clairfs upgrade' again: ");
        assertThat(mount.pid()).as("the daemon goes on").isEqualTo(pid);
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        return line;
    }

    // Promise D9
    @Test
    void configurationFileByWhichTheNewDaemonWouldNotStart_isSaidBeforeTheOldOneEnds() throws Exception {
        Path config = fixture.directory().resolve("mount.yaml");
        String good = "mount:\n  view: decode\n";
        Files.writeString(config, good);
        Files.writeString(fixture.directory().resolve("hosts"), "127.0.0.1 localhost\n");
        LiveMount mount = mountWith(
                this::withoutNameServers,
                "--config",
                config.toString(),
                "--memory",
                "4MiB",
                "--staging",
                "8MiB",
                "--restarts",
                "1");
        Map<String, String> bad = new LinkedHashMap<>();
        bad.put("mount: [\n", config + ", line ");
        bad.put(good + "  unknown: 1\n", config + ", line ");
        bad.put("mount:\n  view: npy\n", "the mount shows the view 'decode/");
        bad.put(good + "  metrics: clairfs-test.invalid:9567\n", "no name server knows that host");
        bad.put(
                good + "  ssd: ['" + config + "/ssd:1GB']\n",
                "--ssd " + config + "/ssd is not there, and cannot be made");
        for (Map.Entry<String, String> each : bad.entrySet()) {
            Files.writeString(config, each.getKey());
            assertThat(refusal(mount)).as("%s", each.getKey()).contains(each.getValue());
        }

        Files.writeString(config, good);
        assertThat(fixture.clairfs("upgrade", mount.point()).succeeded()).contains("was replaced by process");
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.processes()).isEmpty();
    }

    // Promise D9
    @Tag("exhaustive")
    @Test
    void secretThatHasGone_isSaidBeforeTheOldDaemonEnds() throws Exception {
        Path secret = fixture.directory().resolve("secret");
        Files.writeString(secret, "a secret of more than sixteen bytes");
        LiveMount mount = mountWith(
                UnaryOperator.identity(),
                "--memory",
                "4MiB",
                "--staging",
                "8MiB",
                "--bind",
                "127.0.0.1:" + TestPorts.free(2),
                "--secret-file",
                secret.toString(),
                "--restarts",
                "1");
        Files.delete(secret);
        assertThat(refusal(mount)).endsWith(secret + " does not exist");
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.processes()).isEmpty();
    }

    // Promise D9
    @Test
    void programThatDoesNotTakeOver_isGivenUpForTheOneBefore_andThatIsNoDeath() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 1);
        Path kept = restartDirectories().getFirst();
        long before = mount.pid();
        Files.writeString(kept.resolve("program"), "/bin/false\n", UTF_8);
        // The daemon may end before the shell has closed the file.
        Ended _ = Ended.run(
                List.of(
                        "sh",
                        "-c",
                        "echo now > \"$0\"",
                        mount.control("upgrade").toString()),
                Map.of());
        long after = mount.awaitNext(before);

        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        assertThat(mount.status().at("/reads/errors").asInt()).isZero();
        assertThat(fixture.logs())
                .contains("did not take " + mount.point() + " over; the one before it is started again")
                .doesNotContain("died");
        mount.awaitSupervisor();
        assertThat(kept.resolve("restart.before"))
                .as("what the supervisor went back to is used up")
                .doesNotExist();
        long last = killAndAwaitNext(mount, after); // the one death that --restarts 1 allows
        String said = fixture.clairfs("upgrade", mount.point()).succeeded();
        assertThat(said).contains("process " + last + " was replaced by process " + mount.pid());
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.processes()).isEmpty();
        assertThat(restartDirectories()).isEmpty();
    }

    // Promise D9
    @Test
    void mountWhoseSupervisorsAreKilledAgainAndAgain_isNotUpgraded_forNobodyWouldStartTheNextDaemon() throws Exception {
        LiveMount mount =
                mountWith(UnaryOperator.identity(), "--memory", "4MiB", "--staging", "8MiB", "--restarts", "1");
        long pid = mount.pid();
        Waiting.until("no further one is started", () -> {
            ProcessHandle.of(pid).orElseThrow().children().forEach(ProcessHandle::destroyForcibly);
            return fixture.logs().contains("2 times within a minute, and none is started any more");
        });

        assertThat(fixture.clairfs("upgrade", mount.point()).complainedWith(1))
                .contains("clairfs umount " + mount.point());
        assertThat(mount.pid()).as("the daemon goes on").isEqualTo(pid);
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.processes()).isEmpty();
    }
}
