package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.node.MountLog;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Everything works for an ordinary user as well, within that user's permissions. */
@Timeout(600)
class UnprivilegedTest {
    private static final int SAMPLES = 200;
    private static final String ATTEMPT = """
            import errno, os, sys
            try:
                path = sys.argv[1]
                print(os.listdir(path) if os.path.isdir(path) else open(path).read())
            except OSError as e:
                print(errno.errorcode[e.errno])
            """;

    @RegisterExtension
    static final MountFixture FIXTURE = MountFixture.withNamespaces();

    private static OtherUser user;
    private static Path source;
    private static Path partlyClosed;
    private static Path point;

    @BeforeAll
    static void arrive() throws IOException, InterruptedException {
        user = OtherUser.arrive(FIXTURE);
        source = FIXTURE.newDirectory("source");
        Images.make(source.resolve("c"), SAMPLES, 20_000);
        Files.writeString(source.resolve("secret"), "secret");
        Files.setPosixFilePermissions(source.resolve("secret"), PosixFilePermissions.fromString("---------"));
        partlyClosed = FIXTURE.newDirectory("source");
        Files.createDirectories(partlyClosed.resolve("c/closed"));
        Files.writeString(partlyClosed.resolve("c/1.jpg"), "one");
        Files.setPosixFilePermissions(partlyClosed.resolve("c/closed"), PosixFilePermissions.fromString("rwx------"));
        point = FIXTURE.newDirectory("point");
        user.give(point);
    }

    @AfterEach
    void nothingIsLeft() throws IOException, InterruptedException {
        Ended _ = user.clairfs("umount", point);
        assertThat(FIXTURE.processes()).isEmpty();
        assertThat(mounts()).isEmpty();
    }

    /** Lines of the mount table for the mount and its control files, which have its name. */
    private static List<String> mounts() throws IOException, InterruptedException {
        return user.runAsRoot(List.of("cat", "/proc/self/mounts"))
                .succeeded()
                .lines()
                .filter(line -> line.contains("fuse.clairfs") && line.contains(point.toString()))
                .toList();
    }

    private static JsonNode status() throws IOException, InterruptedException {
        return new JsonMapper().readTree(user.clairfs("status", point, "--json").succeeded());
    }

    // Promise P1
    @Test
    void pushed_reads_serve_an_ordinary_user_without_asking() throws Exception {
        user.clairfs("mount", source, point).succeeded();
        user.clairfs("job", "start", point, "seed=7", "epochs=2").succeeded();
        assertThat(user.python("reader.py", point, "train", 2, source).lines()).hasSize(2 * SAMPLES);
        Waiting.until("told of the reads", () -> status().at("/reads/opened").asInt() >= 2 * SAMPLES - 1);
        JsonNode status = status();
        assertThat(status.at("/jobs/0/in_sync").asBoolean()).isTrue();
        assertThat(status.at("/reads/upcalls").asInt()).isLessThan(2 * SAMPLES / 4);
        assertThat(status.at("/fetched/source/count").asInt()).isEqualTo(SAMPLES);
        user.clairfs("umount", point).succeeded();
        assertThat(point).isEmptyDirectory();
    }

    @Test
    void root_who_looks_at_the_mount_is_told_whose_it_is_and_not_to_unmount_it() throws Exception {
        user.clairfs("mount", source, point).succeeded();
        assertThat(user.runAsRoot(Clairfs.command("status", point.toString())).complainedWith(1))
                .contains("are for the user who mounted it: call this as that user");
        assertThat(user.runAsRoot(Clairfs.command("doctor", "--verbose", point.toString()))
                        .out())
                .contains("are for the user who mounted it")
                .doesNotContain("then mount again");
    }

    // Promise P2
    @Test
    void what_the_user_may_not_read_in_the_source_is_refused_in_the_mount() throws Exception {
        user.clairfs("mount", source, point).succeeded();
        assertThat(user.python(ATTEMPT, point.resolve("secret"))).isEqualTo("EACCES\n");
        assertThat(user.python(ATTEMPT, point)).isEqualTo("['c', 'secret']\n");
    }

    @Test
    void directory_that_the_user_may_not_list_is_refused_and_no_job_runs_over_the_rest() throws Exception {
        user.clairfs("mount", partlyClosed, point).succeeded();
        assertThat(user.python(ATTEMPT, point.resolve("c/closed"))).isEqualTo("EACCES\n");
        assertThat(user.python(ATTEMPT, point.resolve("c/1.jpg"))).isEqualTo("one\n");
        Waiting.until(
                "told, which comes after the reader's answer",
                () -> user.python(ATTEMPT, point.resolve(".clairfs/errors"))
                        .contains("cannot list directory c/closed"));
        Waiting.until("the rest is listed", () -> status().path("ready").asBoolean());
        assertThat(user.clairfs("job", "start", point, "seed=7").complainedWith(1))
                .endsWith("the dataset could not be listed in full: cannot list c/closed: Permission denied");
        assertThat(status().path("index_error").asString()).contains("cannot list c/closed: Permission denied");
    }

    // Promise E1
    @Test
    void what_only_the_daemon_may_not_read_fails_with_its_errno_and_a_line_in_errors() throws Exception {
        Path locked = source.resolve("c/0.jpg");
        user.clairfs("mount", source, point).succeeded();
        assertThat(user.python("import os, sys; print(os.stat(sys.argv[1]).st_size)", point.resolve("c/0.jpg")))
                .isEqualTo("20000\n");
        Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("-w-------"));
        try {
            assertThat(user.python(ATTEMPT, point.resolve("c/0.jpg"))).isEqualTo("EACCES\n");
            assertThat(user.python(ATTEMPT, point.resolve(".clairfs/errors"))).contains("read /c/0.jpg: ");
        } finally {
            Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("rw-r--r--"));
        }
        String same = "import sys; print(open(sys.argv[1], 'rb').read() == open(sys.argv[2], 'rb').read())";
        assertThat(user.python(same, point.resolve("c/0.jpg"), locked)).isEqualTo("True\n");
    }

    // Promise P3
    @Test
    void another_user_is_kept_out_even_root() throws Exception {
        user.clairfs("mount", source, point).succeeded();
        for (String path : List.of("c/1.jpg", ".clairfs/status", "")) {
            assertThat(user.runAsRoot(FIXTURE.pythonCommand(
                                    "import errno, os, sys\ntry:\n os.stat(sys.argv[1])\nexcept OSError as e:"
                                            + "\n print(errno.errorcode[e.errno])",
                                    point.resolve(path)))
                            .succeeded())
                    .isEqualTo("EACCES\n");
        }
        List<String> mounting = user.command("mount", source, point);
        assertThat(user.runAsRoot(mounting).complainedWith(1))
                .as("a mount of root's there")
                .contains("mount point " + point + " is busy: " + source + " (fuse.clairfs) is mounted there");
        assertThat(user.python(ATTEMPT, point.resolve("secret")))
                .as("what its user is told, by a process that answers")
                .isEqualTo("EACCES\n");
        assertThat(status().path("ready").asBoolean()).isTrue();
    }

    // Promise L5
    @Tag("exhaustive")
    @Test
    void mount_after_kill_9_works_and_leaves_nothing_of_the_killed_one() throws Exception {
        user.clairfs("mount", source, point, "--restarts", "0").succeeded();
        long pid = status().path("pid").asLong();
        ProcessHandle daemon = ProcessHandle.of(pid).orElseThrow();
        daemon.destroyForcibly();
        ProcessEnd.await(daemon, 60);
        assertThat(mounts()).hasSize(2);
        user.clairfs("mount", source, point).succeeded();
        assertThat(status().path("pid").asLong()).isNotEqualTo(pid);
        assertThat(mounts()).hasSize(2);
    }

    @Test
    void source_that_the_user_may_not_read_is_refused() throws Exception {
        Path closed = partlyClosed.resolve("c/closed");
        assertThat(user.clairfs("mount", closed, point).complainedWith(1))
                .contains("source " + closed + " cannot be read by this user");
    }

    @Test
    void device_that_the_user_may_not_open_is_named_with_the_remedy() throws Exception {
        user.runAsRoot(List.of("chmod", "0600", "/dev/fuse")).succeeded();
        try {
            assertThat(user.clairfs("mount", source, point).complainedWith(1))
                    .isEqualTo("clairfs: /dev/fuse may not be opened by this user: as root, chmod 0666 /dev/fuse");
        } finally {
            user.runAsRoot(List.of("chmod", "0666", "/dev/fuse")).succeeded();
        }
    }

    // Promise E3
    @Test
    void fusermount_that_may_not_mount_for_users_is_named_with_the_remedy() throws Exception {
        String path = user.runAsRoot(List.of("sh", "-c", "readlink -f $(command -v fusermount)"))
                .succeeded()
                .strip();
        Path plain = FIXTURE.newDirectory("programs").resolve("fusermount");
        Files.copy(Path.of(path), plain);
        Files.setPosixFilePermissions(plain, PosixFilePermissions.fromString("rwxr-xr-x"));
        user.runAsRoot(List.of("mount", "--bind", plain.toString(), path)).succeeded();
        try {
            assertThat(user.clairfs("mount", source, point).complainedWith(1))
                    .contains("fusermount may not mount for ordinary users: as root, chown root");
        } finally {
            user.runAsRoot(List.of("umount", path)).succeeded();
        }
    }

    @Test
    void mount_point_of_somebody_else_is_refused_with_the_reason() throws Exception {
        Path others = FIXTURE.newDirectory("others");
        assertThat(user.clairfs("mount", source, others).complainedWith(1)).contains(others.toString());
    }

    @Test
    void a_user_without_a_home_can_mount_and_the_log_lies_in_the_temporary_directory() throws Exception {
        List<String> command = new ArrayList<>(List.of("env", "-u", "HOME", "-u", "XDG_STATE_HOME"));
        command.addAll(user.command("mount", source, point));
        user.run(command).succeeded();
        assertThat(user.python(ATTEMPT, point)).isEqualTo("['c', 'secret']\n");
        String name = MountLog.name(point);
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(Path.of("/tmp"), "clairfs-log-*")) {
            int found = 0;
            for (Path log : logs) {
                if (Files.deleteIfExists(log.resolve(name))) {
                    Files.delete(log);
                    found++;
                }
            }
            assertThat(found).isEqualTo(1);
        }
    }
}
