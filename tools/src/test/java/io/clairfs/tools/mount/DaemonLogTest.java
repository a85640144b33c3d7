package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.tools.node.MountLog;
import io.clairfs.tools.node.mount.MountProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The log of a mount: its lines, its older ones, and what happens when it is long. */
@Timeout(600)
final class DaemonLogTest {
    private static final int SAMPLES = 20;
    private static final int SAMPLE_BYTES = 1_000;

    private static final int ENDED_BY_SIGNAL = 128 + 15;

    /** A pipe takes 64 KiB, and the queue 1,024 lines. */
    private static final int MORE_THAN_PIPE_AND_QUEUE_HOLD = 2_500;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path source() throws IOException {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("a"), SAMPLES, SAMPLE_BYTES);
        return source;
    }

    @Test
    void lines_of_a_log_are_json_when_asked_for() throws Exception {
        LiveMount mount = fixture.mount(source(), "--log-format", "json");
        mount.awaitReady();
        String message = "";
        while (!message.contains(" serves ")) { // it is written right after the listing
            Thread.sleep(20);
            for (String line :
                    fixture.logs().lines().filter(l -> l.startsWith("{")).toList()) {
                JsonNode said = new JsonMapper().readTree(line);
                assertThat(said.path("timestamp").asLong()).isPositive();
                assertThat(said.path("level").asString()).isEqualTo("INFO");
                message = said.path("formattedMessage").asString();
            }
        }
        assertThat(message).endsWith(SAMPLES + " files");
        assertThat(fixture.clairfs("mount", source(), fixture.newDirectory("p"), "--log-format", "xml")
                        .complainedWith(2))
                .contains("--log-format 'xml' is none of text, json");
    }

    @Test
    void long_log_is_replaced_and_what_is_written_then_is_in_the_new_one() throws Exception {
        Path source = source();
        LiveMount mount = fixture.mount(source, "--find-seed", "off", "--restarts", "3");
        mount.awaitSupervisor();
        String name = MountLog.name(mount.point());
        Path log = fixture.directory().resolve("clairfs").resolve(name);
        Waiting.until("its first line is there", () -> Files.readString(log).contains(" serves "));
        Files.write(log, new byte[11 << 20], StandardOpenOption.APPEND);
        Path older = log.resolveSibling(name + ".1");
        while (!Files.exists(older) || !log.equals(MountProcess.log(mount.pid()))) {
            Thread.sleep(50); // the daemon looks every ten seconds
        }
        assertThat(Files.size(older)).isGreaterThan(11 << 20);
        assertThat(Files.getPosixFilePermissions(log)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        String gone = mount.lines("index").getFirst();
        Files.delete(source.resolve(gone));
        assertThatThrownBy(() -> Files.readAllBytes(mount.point().resolve(gone)))
                .isInstanceOf(IOException.class);
        while (!Files.readString(log).contains(" WARN  Daemon: ")) {
            Thread.sleep(20); // the line follows the reader's error
        }
        assertThat(Files.readString(log)).contains(gone);

        long killed = mount.pid();
        ProcessHandle.of(killed).orElseThrow().destroyForcibly();
        long next = mount.awaitNext(killed);
        Waiting.until(
                "the daemon that was started again writes to the same log",
                () -> Files.readString(log).contains("process " + next + ", serves "));
        assertThat(Files.readString(older)).doesNotContain("process " + next + ", serves ");
    }

    // Promise E7
    @Test
    void log_that_takes_no_more_lines_holds_up_no_reader() throws Exception {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("a"), MORE_THAN_PIPE_AND_QUEUE_HOLD, 100);
        Path point = fixture.newDirectory("mnt");
        Path pipe = fixture.directory().resolve("pipe");
        Ended.run(List.of("mkfifo", pipe.toString()), Map.of()).succeeded();
        List<String> command =
                new ArrayList<>(List.of("sh", "-c", "exec 3<>\"$0\"; exec \"$@\" 2>&3", pipe.toString()));
        command.addAll(Clairfs.command(
                "mount", "-f", "--restarts", "0", "--find-seed", "off", source.toString(), point.toString()));
        Process daemon = fixture.start("daemon", command);
        Waiting.until("the mount is there", () -> Files.exists(point.resolve(".clairfs/status.json")));
        LiveMount mount = new LiveMount(point);
        mount.awaitReady();
        List<String> samples = new ArrayList<>(mount.lines("index"));
        String kept = samples.removeFirst();
        for (String gone : samples) {
            Files.delete(source.resolve(gone));
        }
        for (String gone : samples) {
            assertThatThrownBy(() -> Files.readAllBytes(point.resolve(gone))).isInstanceOf(IOException.class);
        }
        assertThat(Files.readAllBytes(point.resolve(kept))).isEqualTo(Files.readAllBytes(source.resolve(kept)));
        assertThat(mount.status().path("errors").asInt()).isGreaterThanOrEqualTo(samples.size());
        fixture.clairfs("umount", point).succeeded();
        assertThat(daemon.waitFor()).as("ended by the unmount's signal").isEqualTo(ENDED_BY_SIGNAL);
        assertThat(fixture.mounts()).isEmpty();
    }

    @Tag("exhaustive")
    @Test
    void logs_before_this_mount_are_kept() throws Exception {
        Path source = source();
        Path point = fixture.newDirectory("mnt");
        String name = MountLog.name(point);
        Path logs = fixture.directory().resolve("clairfs");
        for (int mounts = 0; mounts < 5; mounts++) {
            LiveMount _ = fixture.mountAt(point, source);
            Waiting.until(
                    "its log says what it serves",
                    () -> Files.readString(logs.resolve(name)).contains(" serves "));
            fixture.clairfs("umount", point).succeeded();
        }
        for (String kept : List.of(name, name + ".1", name + ".2", name + ".3")) {
            assertThat(Files.readString(logs.resolve(kept))).contains(" INFO  Daemon: ");
        }
        assertThat(logs.resolve(name + ".4")).doesNotExist();
    }
}
