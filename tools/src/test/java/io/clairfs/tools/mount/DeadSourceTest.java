package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.source.Source;
import io.clairfs.tools.node.mount.MountProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;

/**
 * A source that is dead: it neither answers nor goes away.
 *
 * <p>A thread that waits for a FUSE server cannot be killed once the server has taken its request, and can be killed before. So there are
 * two cases, and the tests set up each of them.
 */
@Timeout(600)
class DeadSourceTest {
    private static final int FILES = 20;
    private static final int BYTES = 100_000;
    private static final String READ = "import sys; open(sys.argv[1], 'rb').read()";
    private static final long GENEROUS_S = 120;

    @RegisterExtension
    final MountFixture fixture = new MountFixture();

    private Path dataset;
    private Path point;

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = fixture.newDirectory("dataset");
        Images.make(dataset.resolve("c"), FILES, BYTES);
        point = fixture.newDirectory("point");
    }

    private LiveMount mount(FaultyProcess source) throws IOException, InterruptedException {
        LiveMount mount = fixture.mountAt(point, source.point());
        mount.awaitReady();
        return mount;
    }

    private Process reader(String name) throws IOException {
        return fixture.start("reader", fixture.pythonCommand(READ, point.resolve("c/" + name)));
    }

    private void assertNothingIsMounted(FaultyProcess source) throws IOException {
        assertThat(fixture.mounts()).isEqualTo(List.of(source.point()));
        assertThat(point).isEmptyDirectory();
    }

    // Promise L8
    @Test
    @Execution(CONCURRENT)
    void umount_ends_the_daemon_when_the_dead_source_has_not_taken_its_requests() throws Exception {
        try (FaultyProcess source = FaultyProcess.start(dataset, fixture.newDirectory("faulty"))) {
            LiveMount mount = mount(source);
            long daemon = mount.pid();
            source.stop();
            Process reader = reader("1.jpg");
            mount.await("the reader waits", s -> s.at("/reads/requests").asInt() > 0);
            Ended umount = fixture.clairfs("umount", point);
            assertThat(umount.succeeded()).isEmpty();
            assertThat(umount.err()).isEmpty();
            assertNothingIsMounted(source);
            assertThat(FaultyProcess.isGone(daemon)).isTrue();
            assertThat(reader.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
            assertThat(reader.exitValue()).isNotZero();
        }
    }

    // Promise L9
    @Test
    @Execution(CONCURRENT)
    void umount_takes_the_mount_away_when_the_dead_source_holds_a_request_and_the_daemon_ends_with_the_source()
            throws Exception {
        long daemon;
        try (FaultyProcess source = FaultyProcess.start(dataset, fixture.newDirectory("faulty"))) {
            LiveMount mount = mount(source);
            daemon = mount.pid();
            source.ask("inject hang path=c/1.jpg");
            Process reader = reader("1.jpg");
            Waiting.until("the source holds a request", () -> source.hasStruck("hang open"));
            source.stop();
            Ended umount = fixture.clairfs("umount", point);
            umount.succeeded();
            assertThat(umount.err())
                    .isEqualTo("clairfs: " + point + " is unmounted; process " + daemon
                            + " ends when its source answers or is unmounted, for the source holds a request of it\n");
            assertNothingIsMounted(source);
            assertThat(reader.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
            assertThat(reader.exitValue()).isNotZero();
            Waiting.until(
                    "the daemon is as dead as it can be",
                    () -> MountProcess.state(daemon) == MountProcess.State.WAITS_IN_THE_KERNEL);
        }
        Waiting.until("the daemon is gone", () -> FaultyProcess.isGone(daemon));
    }

    // Promise L10
    @Test
    @Execution(CONCURRENT)
    void a_mount_can_be_made_at_the_same_place_while_the_old_daemon_waits_for_its_dead_source() throws Exception {
        try (FaultyProcess source = FaultyProcess.start(dataset, fixture.newDirectory("faulty"))) {
            LiveMount old = mount(source);
            long daemon = old.pid();
            ProcessHandle watchdog = old.watchdog();
            source.ask("inject hang path=c/1.jpg");
            Process reader = reader("1.jpg");
            Waiting.until("the source holds a request", () -> source.hasStruck("hang open"));
            FaultyProcess.signal(daemon, "KILL");
            Waiting.until(
                    "the daemon is as dead as it can be", () -> MountProcess.state(daemon) != MountProcess.State.LIVES);
            LiveMount again = fixture.mountAt(point, dataset);
            again.awaitReady();
            assertThat(reader.waitFor(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
            Waiting.until("the old daemon's watchdog is gone", () -> !watchdog.isAlive());
            assertSame("2.jpg");
            fixture.clairfs("umount", point).succeeded();
            assertNothingIsMounted(source);
        }
    }

    // Promise W5
    @Test
    @Execution(CONCURRENT)
    void a_source_that_does_not_answer_is_refused_in_time_and_can_be_mounted_when_it_is_back() throws Exception {
        try (FaultyProcess source = FaultyProcess.start(dataset, fixture.newDirectory("faulty"))) {
            source.stop();
            assertThat(fixture.clairfs("mount", source.point(), point).complainedWith(1))
                    .isEqualTo("clairfs: source " + source.point() + " did not answer within 15 s; see whether 'ls "
                            + source.point() + "' does, and mount when its server is back");
            assertNothingIsMounted(source);
            source.goOn();
            mount(source);
            assertSame("1.jpg");
            fixture.clairfs("umount", point).succeeded();
        }
    }

    // Promise E6
    @Test
    @Execution(CONCURRENT)
    void a_file_that_is_read_in_pieces_is_read_on_when_the_source_is_started_anew_between_them() throws Exception {
        Path faulty = fixture.newDirectory("faulty");
        byte[] path = "c/2.jpg".getBytes(UTF_8);
        try (FaultyProcess source = FaultyProcess.start(dataset, faulty);
                Arena arena = Arena.ofConfined();
                DirectorySource directory = new DirectorySource(faulty)) {
            FileStatus status = directory.status(path);
            MemorySegment into = arena.allocate(status.size());
            List<FaultyProcess> anew = new ArrayList<>();
            try {
                directory.read(new Source.SourceFile(path, status.size(), status.mtimeNs()), into, at -> {
                    if (at > 0 && anew.isEmpty()) {
                        source.kill();
                        anew.add(started(faulty));
                    }
                    return Math.min(BYTES / 3, status.size() - at);
                });
            } finally {
                for (FaultyProcess process : anew) {
                    process.close();
                }
            }
            assertThat(anew).hasSize(1);
            assertThat(into.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(Files.readAllBytes(dataset.resolve("c/2.jpg")));
        }
    }

    private FaultyProcess started(Path point) {
        try {
            return FaultyProcess.start(dataset, point);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // Promise E6
    @Tag("exhaustive")
    @Test
    void a_source_that_was_killed_and_is_started_anew_at_the_same_place_is_read_on() throws Exception {
        Path faulty = fixture.newDirectory("faulty");
        try (FaultyProcess source = FaultyProcess.start(dataset, faulty)) {
            LiveMount mount = mount(source);
            assertSame("1.jpg");
            source.kill();
            for (String name : List.of("2.jpg", "3.jpg", "4.jpg")) {
                assertThat(reader(name).waitFor()).isNotZero();
                assertThat(mount.read("errors")).contains("c/" + name);
            }
            try (FaultyProcess anew = FaultyProcess.start(dataset, faulty)) {
                anew.ask("inject eio on=status"); // its root can be opened but not examined
                assertThat(reader("2.jpg").waitFor()).isNotZero();
                assertThat(anew.hasStruck("eio status")).isTrue();
                anew.ask("lift");
                assertSame("2.jpg");
                assertSame("3.jpg");
                long daemon = mount.pid();
                Waiting.until(
                        "no root of a mount that is gone is open",
                        () -> roots(daemon, faulty).equals(List.of(faulty.toString())));
                fixture.clairfs("umount", point).succeeded();
            }
        }
    }

    /** The source's roots that a daemon has open. The root of a detached mount is called "/". */
    private static List<String> roots(long daemon, Path root) throws Exception {
        List<String> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc", Long.toString(daemon), "fd"))) {
            for (Path link : all) {
                String target = Files.readSymbolicLink(link).toString();
                if (target.equals("/") || target.equals(root.toString())) {
                    found.add(target);
                }
            }
        } catch (NoSuchFileException closedMeanwhile) {
            return List.of();
        }
        return found;
    }

    private void assertSame(String name) throws Exception {
        assertThat(fixture.python(
                        "import sys; print(open(sys.argv[1], 'rb').read() == open(sys.argv[2], 'rb').read())",
                        point.resolve("c").resolve(name),
                        dataset.resolve("c").resolve(name)))
                .isEqualTo("True\n");
    }
}
