package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mount ends when requested, even while it is in use. A killed mount does not prevent the next one. */
@Timeout(600)
class LifecycleTest {
    private static final int FILES = 300;
    private static final int FILE_BYTES = 60_000;
    private static final long END_S = 120;

    @RegisterExtension
    final MountFixture fixture = new MountFixture();

    private Path source;
    private Path point;

    @BeforeEach
    void makeSource() throws IOException {
        source = makeSource("old");
        point = fixture.newDirectory("point");
    }

    private Path makeSource(String name) throws IOException {
        Path made = fixture.newDirectory(name);
        Images.make(made.resolve(name), FILES, FILE_BYTES);
        return made;
    }

    /** A mount in the middle of its first epoch, with two readers. */
    private LiveMount mountInMidEpoch(String... options) throws IOException, InterruptedException {
        LiveMount mount = fixture.mountAt(point, source, options);
        mount.awaitReady();
        mount.job("name=a seed=1 epochs=50\nname=b seed=2 epochs=50");
        for (String job : List.of("a", "b")) {
            fixture.start(job, fixture.pythonCommand("reader.py", point, job, 50, source));
        }
        for (String job : List.of("a", "b")) {
            awaitLines(fixture.said(job), FILES / 3);
        }
        return mount;
    }

    private static void awaitLines(Path file, int count) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_S);
        while (Files.readAllLines(file).size() < count) {
            assertThat(System.nanoTime()).as("the reader does not get on").isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private void assertGone() throws IOException {
        assertThat(fixture.mounts()).isEmpty();
        assertThat(fixture.processes()).isEmpty();
        assertThat(point).isEmptyDirectory();
    }

    private void awaitProcessesEnd() throws Exception {
        for (ProcessHandle process : fixture.processes()) {
            ProcessEnd.await(process, END_S);
        }
    }

    // Promise L1
    @Test
    void umount_in_the_middle_of_an_epoch_returns_when_all_is_gone() throws Exception {
        mountInMidEpoch();
        fixture.clairfs("umount", point).succeeded();
        assertGone();
    }

    // Promise L2
    @Test
    void umount_returns_while_a_reader_holds_a_file_and_its_directory() throws Exception {
        LiveMount mount = fixture.mountAt(point, source);
        mount.awaitReady();
        String hold = "import mmap, os, sys, time; os.chdir(sys.argv[1]); f = open('7.jpg', 'rb');"
                + " m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); print(m[0], flush=True); time.sleep(600)";
        Process holder = fixture.start("holder", fixture.pythonCommand(hold, point.resolve("old")));
        awaitLines(fixture.said("holder"), 1);
        fixture.clairfs("umount", point).succeeded();
        assertThat(holder.isAlive()).isTrue();
        assertGone();
    }

    // Promise L3
    @Test
    void sigterm_in_the_middle_of_an_epoch_ends_the_daemon_and_its_mounts() throws Exception {
        long pid = mountInMidEpoch().pid();
        ProcessHandle daemon = ProcessHandle.of(pid).orElseThrow();
        daemon.destroy();
        ProcessEnd.await(daemon, END_S);
        assertGone();
    }

    @Tag("exhaustive")
    @Test
    void job_stop_in_the_middle_of_an_epoch_gives_its_staging_room_to_others() throws Exception {
        LiveMount mount = mountInMidEpoch("--staging", "6MiB");
        fixture.clairfs("job", "stop", point, "a").succeeded();
        assertThat(mount.lines("job")).singleElement().asString().startsWith("name=b ");
        fixture.clairfs("job", "stop", point, "b").succeeded();
        assertThat(mount.lines("job")).isEmpty();

        mount.job("name=c seed=3 epochs=1");
        mount.await("staged", s -> s.at("/jobs/0/staged_ahead").asInt() == (6 << 20) / FILE_BYTES);
        assertThat(Files.mismatch(point.resolve("old/1.jpg"), source.resolve("old/1.jpg")))
                .isEqualTo(-1);
    }

    // Promise L4
    @ParameterizedTest
    @ValueSource(strings = {"-u", "-uz"})
    void the_daemon_ends_when_somebody_unmounts_with_fusermount(String flags) throws Exception {
        LiveMount mount = fixture.mountAt(point, source);
        mount.awaitReady();
        mount.job("seed=1 epochs=3");
        mount.await("staged", s -> s.at("/staging/samples").asInt() > 0);
        Path control = point.resolve(".clairfs").toRealPath();
        if (flags.equals("-u")) {
            Ended.run(List.of("fusermount", "-u", control.toString()), java.util.Map.of())
                    .succeeded();
        } else {
            Ended.run(List.of("fusermount", "-u", "-z", point.toString()), java.util.Map.of())
                    .succeeded();
        }
        awaitProcessesEnd();
        assertGone();
    }

    // Promise L5
    @Test
    void mount_after_kill_9_works_at_the_same_place() throws Exception {
        kill(mountInMidEpoch());
        LiveMount again = fixture.mountAt(point, source);
        again.awaitReady();
        assertThat(again.status().path("jobs")).isEmpty();
        assertThat(Files.mismatch(point.resolve("old/5.jpg"), source.resolve("old/5.jpg")))
                .isEqualTo(-1);
        assertThat(fixture.mounts()).hasSize(2);
        fixture.clairfs("umount", point).succeeded();
        assertGone();
    }

    // Promise L6
    @Test
    void umount_after_kill_9_works() throws Exception {
        kill(mountInMidEpoch());
        fixture.clairfs("umount", point).succeeded();
        assertGone();
    }

    private void kill(LiveMount mount) throws Exception {
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        daemon.destroyForcibly();
        ProcessEnd.await(daemon, END_S);
        assertThat(fixture.mounts()).as("what the killed daemon left").hasSize(2);
    }

    // Promise L7
    @ParameterizedTest
    @ValueSource(booleans = true)
    void a_new_dataset_at_the_same_place_shows_nothing_of_the_old_one(boolean killed) throws Exception {
        Path other = makeSource("new");
        Files.writeString(other.resolve("new/5.jpg"), "another five");
        LiveMount mount = mountInMidEpoch();
        if (killed) {
            kill(mount);
        } else {
            fixture.clairfs("umount", point).succeeded();
        }
        LiveMount second = fixture.mountAt(point, other);
        second.awaitReady();
        try (var names = Files.list(point)) {
            assertThat(names).containsExactly(point.resolve("new"));
        }
        assertThat(point.resolve("old")).doesNotExist();
        assertThat(point.resolve("old/5.jpg")).doesNotExist();
        assertThat(point.resolve("new/5.jpg")).hasContent("another five");
        assertThat(second.lines("index")).hasSize(FILES).allMatch(line -> line.startsWith("new/"));
        assertThat(second.status().path("jobs")).isEmpty();
        assertThat(second.lines("errors")).isEmpty();
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @ValueSource(booleans = false)
    void a_new_dataset_after_umount_shows_nothing_of_the_old_one(boolean killed) throws Exception {
        a_new_dataset_at_the_same_place_shows_nothing_of_the_old_one(killed);
    }

    @Tag("exhaustive")
    @Test
    void a_link_to_the_mount_point_is_as_good_as_the_mount_point() throws Exception {
        Path link = Files.createSymbolicLink(fixture.directory().resolve("link"), point);
        LiveMount mount = fixture.mountAt(link, source);
        assertThat(mount.status().path("mount").asString()).isEqualTo(point.toString());
        assertThat(point.resolve("old/5.jpg")).exists();
        assertThat(fixture.clairfs("mount", source, link).complainedWith(1)).contains("is busy");
        fixture.clairfs("umount", link).succeeded();
        assertGone();
    }
}
