package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.faulty.Fault;
import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.faulty.Request;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A daemon that does not answer, or that the kernel holds. Commands return, and the mount can be removed. */
@Timeout(600)
class HangingDaemonTest {
    /** Too large to be fetched whole for a reader. */
    private static final long LARGE = 68L << 20;

    /** A mount as a daemon leaves it that was killed and that the kernel keeps from ending: a process holds it, and nobody answers. */
    private static final String SILENT_MOUNT = """
            import ctypes, os, sys, time
            device = os.open('/dev/fuse', os.O_RDWR)
            options = 'fd=%d,rootmode=40000,user_id=0,group_id=0' % device
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.mount(b'gone', os.fsencode(sys.argv[1]), b'fuse.clairfs', ctypes.c_ulong(6), options.encode()):
                sys.exit(os.strerror(ctypes.get_errno()))
            time.sleep(600)
            """;

    private static final long GENEROUS_S = 120;

    @RegisterExtension
    final MountFixture fixture = new MountFixture();

    private Path dataset;
    private Path point;

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = fixture.newDirectory("dataset");
        Files.createDirectory(dataset.resolve("c"));
        Files.writeString(dataset.resolve("c/1.jpg"), "one");
        point = fixture.newDirectory("point");
    }

    // Promise W4
    @Test
    void status_of_a_daemon_that_is_stopped_is_one_line_and_umount_ends_it() throws Exception {
        LiveMount mount = fixture.mountAt(point, dataset);
        mount.awaitReady();
        long daemon = mount.pid();
        FaultyProcess.signal(daemon, "STOP");
        Waiting.until("the daemon is stopped", () -> FaultyProcess.allStopped(daemon));
        assertThat(fixture.clairfs("status", point).complainedWith(1))
                .isEqualTo("clairfs: the mount at " + point + " did not answer within 15 s; its process " + daemon
                        + " is stopped or hangs: kill -CONT " + daemon + " if it is stopped, or clairfs umount "
                        + point);
        fixture.clairfs("umount", point).succeeded();
        assertThat(FaultyProcess.isGone(daemon)).isTrue();
        assertThat(fixture.mounts()).isEmpty();
    }

    /** As two jobs of a user on a node have it whose /tmp is their own. */
    // Promise W4
    @Test
    void umount_leaves_a_mount_of_the_same_name_in_another_set_of_mounts_alone() throws Exception {
        Requirements.root(); // unshares mounts
        List<String> elsewhere = new ArrayList<>(
                List.of("unshare", "--mount", "--propagation", "private", "sh", "-c", "exec \"$@\"", "sh"));
        elsewhere.addAll(Clairfs.command(
                "mount",
                "-f",
                dataset.toString(),
                point.toString(),
                "--memory",
                "1MiB",
                "--staging",
                "1MiB",
                "--restarts",
                "0"));
        Process other = fixture.start("other", elsewhere);
        Waiting.until(
                "the other one is mounted",
                () -> elsewhere(other, "cat", point + "/.clairfs/status.json")
                        .out()
                        .matches("(?s).*\"ready\"\\s*:\\s*true.*"));
        LiveMount mount = fixture.mountAt(point, dataset);
        mount.awaitReady();
        long daemon = mount.pid();
        assertThat(daemon).isNotEqualTo(other.pid());
        FaultyProcess.signal(daemon, "STOP");
        Waiting.until("the daemon is stopped", () -> FaultyProcess.allStopped(daemon));

        fixture.clairfs("umount", point).succeeded();
        assertThat(FaultyProcess.isGone(daemon)).isTrue();
        assertThat(fixture.mounts()).isEmpty();
        assertThat(elsewhere(other, "cat", point + "/c/1.jpg").out()).isEqualTo("one");
        other.destroy();
        assertThat(other.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
    }

    /** Runs a command where the mounts of another process are seen. */
    private static Ended elsewhere(Process of, String... command) throws IOException, InterruptedException {
        List<String> inside = new ArrayList<>(List.of("nsenter", "--mount=/proc/" + of.pid() + "/ns/mnt", "--"));
        inside.addAll(List.of(command));
        return Ended.run(inside, Map.of());
    }

    /** The process that mounts has the mount point among its arguments, too, as the one that served it had. */
    @Test
    void mount_that_no_daemon_serves_and_that_does_not_answer_is_replaced() throws Exception {
        Requirements.root(); // mounts by mount(2)
        fixture.start("silent", fixture.pythonCommand(SILENT_MOUNT, point));
        Waiting.until("it is mounted", () -> fixture.mounts().contains(point));
        LiveMount mount = fixture.mountAt(point, dataset);
        mount.awaitReady();
        assertThat(Files.readString(point.resolve("c/1.jpg"))).isEqualTo("one");
    }

    /**
     * Makes a push wait. A loader pushes a file while a reader waits for one of its pages: the push waits for the page, and the page for a
     * hanging source.
     */
    private Process pushThatWaits(FaultyMount source, LiveMount mount) throws Exception {
        Fault fault = source.inject(
                FaultSpec.of(FaultKind.HANG).on(Request.READ).times(1).lasting(Duration.ofMinutes(2)));
        Process reader = fixture.start(
                "reader",
                fixture.pythonCommand(
                        "import sys; open(sys.argv[1], 'rb').read(4096)", point.resolve("large/d/large.jpg")));
        Waiting.until("the source holds the reader's request", () -> fault.struck() == 1);
        mount.job("seed=1 epochs=1 subset=large");
        mount.await(
                "the loader has the file", s -> s.at("/fetched/source/bytes").asLong() >= LARGE);
        return reader;
    }

    private LiveMount mount(FaultyMount source) throws IOException, InterruptedException {
        LiveMount mount = fixture.mountAt(
                point, source.point(), "--staging", "100MiB", "--memory", "1MiB", "--read-timeout", "600");
        mount.awaitReady();
        return mount;
    }

    private FaultyMount largeFile() throws IOException {
        Path large = Files.createDirectories(dataset.resolve("large/d"));
        try (RandomAccessFile file =
                new RandomAccessFile(large.resolve("large.jpg").toFile(), "rw")) {
            file.setLength(LARGE);
        }
        return FaultyMount.mount(dataset, fixture.newDirectory("faulty"), FaultyMount.FAST);
    }

    // Promise L1
    @Test
    void umount_in_the_middle_of_a_push_returns_when_all_is_gone() throws Exception {
        try (FaultyMount source = largeFile()) {
            LiveMount mount = mount(source);
            long daemon = mount.pid();
            Process reader = pushThatWaits(source, mount);
            fixture.clairfs("umount", point).succeeded();
            assertThat(fixture.mounts()).isEqualTo(List.of(source.point()));
            assertThat(reader.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
            source.liftAll();
            Waiting.until("the daemon is gone", () -> FaultyProcess.isGone(daemon));
        }
    }

    // Promise L12
    @Test
    void daemon_that_was_killed_with_its_watchdog_is_gone_after_umount() throws Exception {
        try (FaultyMount source = largeFile()) {
            LiveMount mount = mount(source);
            long daemon = mount.pid();
            Process reader = pushThatWaits(source, mount);
            mount.watchdog().destroyForcibly();
            FaultyProcess.signal(daemon, "KILL");
            source.liftAll();
            fixture.clairfs("umount", point).succeeded();
            assertThat(fixture.mounts()).isEqualTo(List.of(source.point()));
            assertThat(reader.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
            Waiting.until("the daemon is gone", () -> FaultyProcess.isGone(daemon));
        }
    }

    // Promise L11
    @Test
    void daemon_that_was_killed_in_the_middle_of_a_push_ends_and_lets_go_of_its_readers() throws Exception {
        try (FaultyMount source = largeFile()) {
            LiveMount mount = mount(source);
            long daemon = mount.pid();
            Process reader = pushThatWaits(source, mount);
            FaultyProcess.signal(daemon, "KILL");
            source.liftAll();
            Waiting.until("the daemon is gone", () -> FaultyProcess.isGone(daemon));
            assertThat(reader.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
            // The waiting push continues once the reader's request has failed, and may still bring the page to the
            // reader.
            assertThat(Files.readString(fixture.directory().resolve("reader.err")))
                    .containsPattern("^$|Errno (103|107)");
            assertThat(fixture.mounts())
                    .as("left for mount or umount to remove")
                    .hasSize(3);
        }
    }
}
