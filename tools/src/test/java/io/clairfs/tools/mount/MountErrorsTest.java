package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A mount that cannot work is refused with one clear line, and the attempt leaves nothing behind. */
@Timeout(600)
class MountErrorsTest {
    @RegisterExtension
    final MountFixture fixture = new MountFixture();

    private Path source;
    private Path point;

    @BeforeEach
    void makeBoth() throws IOException {
        source = fixture.newDirectory("source");
        Files.createDirectory(source.resolve("c"));
        Files.writeString(source.resolve("c/1.jpg"), "one");
        point = fixture.newDirectory("point");
    }

    @AfterEach
    void nothingIsLeft() throws IOException, InterruptedException {
        for (Path mounted : fixture.mounts()) {
            if (!mounted.endsWith(".clairfs")) {
                fixture.clairfs("umount", mounted).succeeded();
            }
        }
        assertThat(fixture.processes()).isEmpty();
        assertThat(fixture.mounts()).isEmpty();
    }

    private String refusal(Path from, Path to) throws IOException, InterruptedException {
        String line = fixture.clairfs("mount", from, to).complainedWith(1);
        assertThat(fixture.mounts()).isEmpty();
        return line;
    }

    // Promise E3
    @Test
    @Execution(CONCURRENT)
    void source_is_missing() throws Exception {
        Path missing = source.resolve("missing");
        assertThat(refusal(missing, point)).isEqualTo("clairfs: source " + missing + " does not exist");
    }

    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void source_is_a_file() throws Exception {
        Path file = source.resolve("c/1.jpg");
        assertThat(refusal(file, point)).isEqualTo("clairfs: source " + file + " is not a directory");
    }

    @Test
    @Execution(CONCURRENT)
    void mount_point_is_missing() throws Exception {
        Path missing = point.resolve("missing");
        assertThat(refusal(source, missing)).contains(missing + " does not exist; make it: mkdir -p " + missing);
    }

    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void mount_point_is_a_file() throws Exception {
        Path file = Files.createFile(point.resolve("file"));
        assertThat(refusal(source, file)).isEqualTo("clairfs: mount point " + file + " is not a directory");
    }

    @Test
    @Execution(CONCURRENT)
    void mount_point_is_not_empty() throws Exception {
        Files.createFile(point.resolve("file"));
        assertThat(refusal(source, point)).contains(point + " is not empty; choose an empty directory");
    }

    // Promise E3
    @Test
    @Execution(CONCURRENT)
    void mount_point_is_in_use_by_another_mount_of_ours() throws Exception {
        LiveMount first = fixture.mountAt(point, source);
        long pid = first.pid();
        assertThat(fixture.clairfs("mount", source, point).complainedWith(1))
                .contains("mount point " + point + " is busy: " + source)
                .endsWith("unmount it first: clairfs umount " + point);
        assertThat(first.pid()).isEqualTo(pid);
        assertThat(first.point().resolve("c/1.jpg")).hasContent("one");
    }

    @Test
    @Execution(CONCURRENT)
    void mount_point_inside_the_source_and_the_other_way_round() throws Exception {
        Path inside = Files.createDirectory(source.resolve("inside"));
        assertThat(refusal(source, inside)).contains("lie inside one another");
        Path empty = fixture.newDirectory("outer");
        assertThat(refusal(empty, empty)).contains("lie inside one another");
    }

    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void mount_point_inside_the_source_by_way_of_a_link() throws Exception {
        Path inside = Files.createDirectory(source.resolve("inside"));
        Path link = Files.createSymbolicLink(fixture.directory().resolve("link-" + source.getFileName()), source);
        assertThat(refusal(link, inside)).contains("lie inside one another");
        assertThat(refusal(source, link.resolve("inside"))).contains("lie inside one another");
    }

    @Test
    @Execution(CONCURRENT)
    void mount_option_that_is_not_known() throws Exception {
        assertThat(fixture.clairfs("mount", source, point, "-o", "nonsense").complainedWith(1))
                .contains("nonsense");
    }

    @ParameterizedTest
    @Execution(CONCURRENT)
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "--colour=red|Unknown option: '--colour=red'",
                "--memory=lots|'lots' is not a size like 512MiB, 8GiB or 100GB",
                "--loaders=0|--loaders must be 1 to 1024"
            })
    void wrong_usage_is_named_and_exits_with_2(String argument, String reason) throws Exception {
        assertThat(fixture.clairfs("mount", source, point, argument).complainedWith(2))
                .contains(reason);
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @Execution(CONCURRENT)
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "--index-rule=alphabetical|unknown index rule 'alphabetical'; known: dali,",
                "--memory=-1|'-1' is not a size",
                "--staging=10|--staging must be at least 1MiB",
                "--read-timeout=0|--read-timeout must be 1 to 86400 seconds",
                "third|Unmatched argument"
            })
    void further_wrong_usage_is_named_and_exits_with_2(String argument, String reason) throws Exception {
        wrong_usage_is_named_and_exits_with_2(argument, reason);
    }

    // Promise M6
    @Test
    @Execution(CONCURRENT)
    void memory_that_cannot_fit_is_refused_with_what_would() throws Exception {
        assertThat(fixture.clairfs("mount", source, point, "--memory", "1PiB").complainedWith(2))
                .matches(
                        "clairfs: --memory 1073741824MiB does not fit beside heap and buffers: the (machine has|control group"
                                + " leaves) [0-9]+MiB; give --memory [0-9]+MiB or less; see 'clairfs mount --help'");
        assertThat(fixture.clairfs("mount", source, point, "--staging", "1PiB").complainedWith(2))
                .matches("clairfs: --staging 1073741824MiB does not fit: the (machine has|control group leaves)"
                        + " [0-9]+MiB; give less; see 'clairfs mount --help'");
    }

    @Test
    @Execution(CONCURRENT)
    void no_arguments_is_wrong_usage() throws Exception {
        assertThat(fixture.clairfs("mount").complainedWith(2)).contains("Missing required parameters");
        assertThat(fixture.clairfs("fly").complainedWith(2)).contains("Unmatched argument");
    }

    @Test
    @Execution(CONCURRENT)
    void dataset_without_images_mounts_and_refuses_jobs_with_the_reason() throws Exception {
        Path texts = fixture.newDirectory("texts");
        Files.createDirectory(texts.resolve("c"));
        Files.writeString(texts.resolve("c/1.txt"), "text");
        LiveMount mount = fixture.mountAt(point, texts);
        mount.awaitReady();
        String reason = "class directory c has no images: imagefolder refuses an empty class;"
                + " remove it, or use --index-rule sorted";
        assertThat(mount.point().resolve("c/1.txt")).hasContent("text");
        assertThat(mount.status().path("index_error").asString()).isEqualTo(reason);
        assertThat(mount.read("status")).contains(reason);
        assertThat(fixture.clairfs("job", "start", point, "seed=1").complainedWith(1))
                .endsWith(reason);
    }

    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void empty_dataset_mounts_and_refuses_jobs_with_the_reason() throws Exception {
        LiveMount mount = fixture.mountAt(point, fixture.newDirectory("empty"));
        mount.awaitReady();
        assertThat(point).isEmptyDirectory();
        assertThat(fixture.clairfs("job", "start", point, "seed=1").complainedWith(1))
                .contains("no class directories in the source");
    }

    @Test
    @Execution(CONCURRENT)
    void umount_of_what_is_not_mounted() throws Exception {
        assertThat(fixture.clairfs("umount", point).complainedWith(1)).endsWith(point + " is not a clairfs mount");
        assertThat(fixture.clairfs("umount", point.resolve("missing")).complainedWith(1))
                .endsWith("is not a clairfs mount");
    }

    // Promise E3
    @Test
    @Execution(CONCURRENT)
    void there_is_no_fuse_device() throws Exception {
        Requirements.namespaces();
        String withoutDevice = "mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3"
                + " && mknod -m 666 /dev/urandom c 1 9 && exec \"$@\"";
        List<String> command = new ArrayList<>(List.of("unshare", "-m", "sh", "-c", withoutDevice, "sh"));
        command.addAll(Clairfs.command("mount", source.toString(), point.toString()));
        assertThat(Ended.run(command, fixture.environment()).complainedWith(1))
                .startsWith("clairfs: there is no /dev/fuse: load the kernel module (modprobe fuse)");
    }

    // Promise E3
    @Test
    @Execution(CONCURRENT)
    void there_is_no_fusermount() throws Exception {
        Path programs = fixture.newDirectory("programs");
        Files.createSymbolicLink(programs.resolve("setsid"), Path.of("/usr/bin/setsid"));
        List<String> command = new ArrayList<>(List.of("env", "PATH=" + programs));
        command.addAll(Clairfs.command("mount", source.toString(), point.toString()));
        assertThat(Ended.run(command, fixture.environment()).complainedWith(1))
                .isEqualTo("clairfs: fusermount is not on the PATH: install the package 'fuse'");
        assertThat(point).isEmptyDirectory();
    }

    // Promise L3
    @Test
    @Execution(CONCURRENT)
    void fusermount_that_is_removed_later_keeps_no_daemon_of_root_from_ending_cleanly() throws Exception {
        Requirements.root();
        Path programs = fixture.newDirectory("programs");
        Files.createSymbolicLink(programs.resolve("setsid"), Path.of("/usr/bin/setsid"));
        Path fusermount = Files.createSymbolicLink(
                programs.resolve("fusermount"),
                Path.of(Ended.run(List.of("sh", "-c", "command -v fusermount"), java.util.Map.of())
                        .succeeded()
                        .strip()));
        List<String> command = new ArrayList<>(List.of("env", "PATH=" + programs));
        command.addAll(Clairfs.command("mount", "--restarts", "0", source.toString(), point.toString()));
        Ended.run(command, fixture.environment()).succeeded();
        Files.delete(fusermount);
        LiveMount mount = new LiveMount(point);
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        ProcessHandle watchdog = mount.watchdog(); // its shell is on no PATH
        assertThat(watchdog.parent()).contains(daemon);
        daemon.destroy();
        ProcessEnd.await(daemon, 120);
        assertThat(fixture.mounts()).isEmpty();
    }
}
