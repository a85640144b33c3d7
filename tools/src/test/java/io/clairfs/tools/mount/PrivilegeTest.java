package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import io.clairfs.fs.mount.MountTable;
import io.clairfs.tools.node.MountLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;

/** Users may see and change what they may in the source, and nothing else. */
@Timeout(600)
final class PrivilegeTest {
    private static final int SAMPLES = 40;
    private static final int SAMPLE_BYTES = 10_000;
    private static final String NOBODY = "65534";
    private static final String ATTEMPT = """
            import errno, os, sys
            for path in sys.argv[2:]:
                try:
                    fd = os.open(path, os.O_RDONLY if sys.argv[1] == 'r' else os.O_WRONLY)
                    print(os.write(fd, b'seed=1\\n') if sys.argv[1] == 'w' else len(os.read(fd, 100000)))
                except OSError as e:
                    print(errno.errorcode[e.errno])
            """;

    @RegisterExtension
    final MountFixture fixture = new MountFixture();

    private Path source;

    @BeforeEach
    void makeSource() throws IOException {
        source = fixture.newDirectory("source");
        fill(Files.createDirectory(source.resolve("c0")), 1);
        fill(Files.createDirectory(source.resolve("c1")), 2);
    }

    /** Makes files of one size and age, with different contents. */
    private static void fill(Path directory, long seed) throws IOException {
        byte[] content = new byte[SAMPLE_BYTES];
        Random random = new Random(seed);
        for (int i = 0; i < SAMPLES / 2; i++) {
            random.nextBytes(content);
            Path file = Files.write(directory.resolve(i + ".jpg"), content);
            Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000_000_000L));
        }
    }

    private static void permissions(Path path, String permissions) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
    }

    /** Opens each path as another user, for reading ({@code r}) or writing ({@code w}). Returns the results. */
    private List<String> asNobody(String how, Path... paths) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--"));
        List<Object> arguments = new ArrayList<>(List.of(how));
        arguments.addAll(List.of(paths));
        command.addAll(fixture.pythonCommand(ATTEMPT, arguments.toArray()));
        return Ended.run(command, Map.of()).succeeded().lines().toList();
    }

    // Promise P3
    @Test
    @Execution(CONCURRENT)
    void another_user_is_refused_unless_allow_other_is_asked_for() throws Exception {
        Requirements.root();
        LiveMount mount = fixture.mount(source);
        mount.awaitReady();
        assertThat(asNobody("r", mount.point().resolve("c0/1.jpg"), mount.control("status"), mount.control("job")))
                .containsOnly("EACCES");
        assertThat(asNobody("w", mount.control("job"))).containsOnly("EACCES");
    }

    // Promise P5
    @Test
    @Execution(CONCURRENT)
    void with_allow_other_modes_and_owners_decide_and_the_control_files_stay_the_mounting_user_s() throws Exception {
        Requirements.root();
        permissions(source.resolve("c0/2.jpg"), "rw-------");
        permissions(source.resolve("c0/3.jpg"), "rw-------");
        Files.setAttribute(source.resolve("c0/3.jpg"), "unix:uid", Integer.parseInt(NOBODY));
        permissions(source.resolve("c1"), "rwx------");
        LiveMount mount = fixture.mount(source, "-o", "allow_other");
        mount.awaitReady();
        mount.job("seed=1 epochs=1");
        mount.await("staged", s -> s.at("/staging/samples").asInt() == SAMPLES);
        Path point = mount.point();
        assertThat(asNobody(
                        "r",
                        point.resolve("c0/1.jpg"),
                        point.resolve("c0/2.jpg"),
                        point.resolve("c0/3.jpg"),
                        point.resolve("c1/1.jpg")))
                .containsExactly("" + SAMPLE_BYTES, "EACCES", "" + SAMPLE_BYTES, "EACCES");
        assertThat(asNobody("r", mount.control("status"), mount.control("errors"), mount.control("job")))
                .containsOnly("EACCES");
        assertThat(asNobody("w", mount.control("job"))).containsOnly("EACCES");
        assertThat(mount.lines("job")).singleElement().asString().contains("seed=1");
    }

    // Promise P6
    @Test
    @Execution(CONCURRENT)
    void the_kernel_checks_permissions_and_ignores_devices_and_set_user_id() throws Exception {
        LiveMount mount = fixture.mount(source);
        for (Path path : List.of(mount.point(), mount.control(""))) {
            assertThat(MountTable.at(path.toRealPath())).isPresent();
        }
        String options = Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                .filter(line -> line.contains(" " + mount.point() + " "))
                .findFirst()
                .orElseThrow();
        assertThat(options)
                .contains("nosuid", "nodev", "default_permissions")
                .containsPattern("[ ,]ro[ ,]")
                .doesNotContain("allow_other");
    }

    // Promise P7
    @Test
    @Execution(CONCURRENT)
    void the_log_is_for_its_owner_and_a_link_in_its_place_is_not_followed() throws Exception {
        Path victim = Files.writeString(fixture.directory().resolve("victim"), "mine");
        Path point = fixture.newDirectory("point");
        Path log = fixture.directory().resolve("clairfs").resolve(MountLog.name(point));
        Files.createDirectories(log.getParent());
        permissions(log.getParent(), "rwxrwxrwx");
        Files.createSymbolicLink(log, victim);
        fixture.clairfs("mount", source, point, "--restarts", "0").succeeded();
        new LiveMount(point).awaitReady();
        assertThat(victim).hasContent("mine");
        assertThat(Files.isRegularFile(log, LinkOption.NOFOLLOW_LINKS)).isTrue();
        assertThat(permissions(log)).isEqualTo("rw-------");
        assertThat(permissions(log.getParent())).isEqualTo("rwx------");
    }

    private LiveMount mountWithSsd(Path ssd) throws IOException, InterruptedException {
        LiveMount mount = fixture.mount(
                source,
                "--memory",
                "1MiB",
                "--staging",
                "1MiB",
                "--ssd",
                ssd + ":4MiB",
                "--ssd-reserve",
                "1MiB",
                "--policy",
                "lobster");
        mount.awaitReady();
        return mount;
    }

    private static void readAll(LiveMount mount, Path source) throws IOException {
        for (String directory : List.of("c0", "c1")) {
            for (int i = 0; i < SAMPLES / 2; i++) {
                Path file = Path.of(directory, i + ".jpg");
                assertThat(Files.mismatch(mount.point().resolve(file), source.resolve(file)))
                        .isEqualTo(-1);
            }
        }
    }

    /** The only subdirectory of an SSD's directory, named after the source. */
    private static Path only(Path ssd) throws IOException {
        try (Stream<Path> all = Files.list(ssd)) {
            return all.findFirst().orElseThrow();
        }
    }

    // Promise P4
    @Test
    @Execution(CONCURRENT)
    void the_ssd_s_files_are_for_their_owner_in_a_running_mount_too() throws Exception {
        Path ssd = fixture.directory().resolve("ssd");
        LiveMount mount = mountWithSsd(ssd);
        mount.job("seed=1 epochs=1");
        mount.await(
                "kept",
                s -> s.at("/tiers/1/samples").asInt() + s.at("/tiers/0/samples").asInt() >= SAMPLES);
        try (Stream<Path> all = Files.walk(ssd)) {
            for (Path path : (Iterable<Path>) all::iterator) {
                assertThat(permissions(path)).isEqualTo(Files.isDirectory(path) ? "rwx------" : "rw-------");
            }
        }
    }

    // Promise P8
    @Test
    @Execution(CONCURRENT)
    void links_planted_in_the_ssd_s_directory_are_not_followed() throws Exception {
        Path ssd = fixture.directory().resolve("ssd");
        LiveMount mount = mountWithSsd(ssd);
        fixture.clairfs("umount", mount.point()).succeeded();

        Path victim = Files.writeString(fixture.directory().resolve("victim"), "mine");
        Path directory = only(ssd);
        for (String name : List.of("000001.data", "000001.index", "000002.data")) {
            Files.deleteIfExists(directory.resolve(name));
            Files.createSymbolicLink(directory.resolve(name), victim);
        }
        LiveMount again = mountWithSsd(ssd);
        again.job("seed=1 epochs=1");
        readAll(again, source);
        fixture.clairfs("umount", again.point()).succeeded();
        assertThat(victim).hasContent("mine");

        Path elsewhere = fixture.newDirectory("elsewhere");
        permissions(elsewhere, "rwx------");
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
        Files.createSymbolicLink(directory, elsewhere);
        Ended refused = fixture.clairfs("mount", source, fixture.newDirectory("refused"), "--ssd", ssd + ":4MiB");
        assertThat(refused.complainedWith(1)).contains("is open to others or not this user's");
        assertThat(elsewhere).isEmptyDirectory();
    }

    // Promise P9
    @Test
    @Execution(CONCURRENT)
    void links_of_the_dataset_never_lead_the_cache_outside_it() throws Exception {
        Path outside = fixture.newDirectory("outside");
        fill(outside, 99);
        Files.createSymbolicLink(source.resolve("out"), outside);
        Files.createSymbolicLink(source.resolve("c0/out.jpg"), outside.resolve("1.jpg"));
        LiveMount mount = fixture.mount(source, "--index-rule", "hf-imagefolder"); // it numbers the second link alone
        mount.awaitReady();
        mount.job("seed=1 epochs=1");
        mount.await("staged", s -> s.at("/staging/samples").asInt() == SAMPLES);
        assertThat(mount.lines("index")).contains("c0/out.jpg").noneMatch(line -> line.startsWith("out"));
        assertThat(mount.status().at("/fetched/source/count").asInt()).isEqualTo(SAMPLES);

        // After the listing a directory becomes a link to files of the same names, sizes and times.
        LiveMount second = fixture.mount(source, "--index-rule", "hf-imagefolder");
        second.awaitReady();
        Files.move(source.resolve("c1"), source.resolve("was"));
        Files.createSymbolicLink(source.resolve("c1"), outside);
        assertThat(fixture.python(
                        "import errno, sys\ntry:\n open(sys.argv[1], 'rb').read()\nexcept OSError as e:\n print(errno.errorcode[e.errno])",
                        second.point().resolve("c1/1.jpg")))
                .isEqualTo("ESTALE\n");
        assertThat(Files.mismatch(second.point().resolve("c0/1.jpg"), source.resolve("c0/1.jpg")))
                .isEqualTo(-1);
    }

    // Promise P10
    @Test
    @Execution(CONCURRENT)
    void a_secret_that_others_may_read_is_warned_of() throws Exception {
        Path secret = Files.writeString(fixture.directory().resolve("secret"), "a secret of some length\n");
        for (String mode : List.of("rw-r--r--", "rw-------")) {
            permissions(secret, mode);
            LiveMount mount = fixture.mount(
                    source, "--bind", "127.0.0.1:" + TestPorts.free(2), "--secret-file", secret.toString());
            assertThat(mount.read("errors").contains("chmod 600 " + secret)).isEqualTo(mode.contains("r--"));
            fixture.clairfs("umount", mount.point()).succeeded();
        }
    }
}
