package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What commands that need no mount say of input that they cannot use: one line with the remedy. */
@Timeout(600)
final class CommandErrorsTest {
    private static final String SCENARIO = "nopfs-imagenet-1k";

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private String complaint(int code, Object... arguments) throws IOException, InterruptedException {
        return fixture.clairfs(arguments).complainedWith(code);
    }

    @Test
    void files_that_cannot_be_read_or_written_are_told_before_the_work() throws Exception {
        Path directory = fixture.newDirectory("files");
        Path none = directory.resolve("none/file");
        Path config = Files.writeString(directory.resolve("config"), "mount: {memory: lots}");
        Path threads = Files.writeString(directory.resolve("threads"), "model: {memory: {threads: 2000}}");
        Path picture = Files.write(directory.resolve("picture"), new byte[] {(byte) 0xff, (byte) 0xd8});

        assertThat(complaint(1, "simulate", SCENARIO, "--report", none))
                .contains("cannot be written: there is no directory " + none.getParent());
        assertThat(complaint(1, "calibrate", directory, "--write", directory)).contains("is a directory: name a file");
        assertThat(complaint(1, "simulate", directory)).contains("is a directory: name a file");
        assertThat(complaint(1, "simulate", picture)).contains("not UTF-8");
        assertThat(complaint(1, "simulate", SCENARIO, "--policy", "clairfs", "--calibration", threads))
                .contains("threads");
        assertThat(complaint(1, "order", "--from", directory)).contains("is a directory: name a file, or -");
        assertThat(complaint(2, "doctor", directory, directory, "--config", config))
                .contains("memory: ")
                .contains("lots");
    }

    @Test
    void options_that_mean_nothing_are_refused() throws Exception {
        Path directory = fixture.newDirectory("files");
        assertThat(complaint(2, "bench", "read", directory, "--threads", "0")).contains("--threads must be 1 to 64");
        assertThat(complaint(2, "bench", "untold", directory, "--rounds", "0")).contains("--rounds must be at least 1");
        assertThat(complaint(2, "bench", "sharing", directory, "--rounds", "0"))
                .contains("--rounds must be at least 1");
        assertThat(complaint(2, "bench", "told", directory, "--large", "--sizes", "1MB"))
                .contains("--large has cases of its own");
        assertThat(complaint(2, "report", directory, "--step", "1")).contains("--step goes with --calibration");
        assertThat(complaint(2, "order", "--samples", "3", "--out", directory.resolve("x"), "--dataset", directory))
                .contains("go with --stats");
        assertThat(directory.toFile().list()).as("what was begun").isEmpty();
    }

    @Test
    void an_order_that_cannot_be_written_whole_or_computed_is_no_success() throws Exception {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" > /dev/full", "sh"));
        command.addAll(List.of(Clairfs.command("order", "--samples", "100000").toArray(String[]::new)));
        assertThat(Ended.run(command, fixture.environment()).complainedWith(1))
                .contains("standard output cannot be written");
        List<String> model = new ArrayList<>(command.subList(0, 4));
        model.addAll(List.of(Clairfs.command("completion").toArray(String[]::new)));
        assertThat(Ended.run(model, fixture.environment()).complainedWith(1))
                .contains("standard output cannot be written");
        model.set(2, "exec \"$@\" >&-"); // whoever closes it wants none
        Ended unheard = Ended.run(model, fixture.environment());
        assertThat(unheard.exit()).as("%s", unheard).isZero();
        command.set(2, "\"$@\" | head -n 1");
        Ended head = Ended.run(command, fixture.environment());
        assertThat(head.succeeded().lines()).hasSize(1);
        assertThat(head.err()).as("of a reader that has enough").isEmpty();
        assertThat(complaint(1, "order", "--samples", "2147483639")).contains("needs more memory than the");
    }

    @Test
    void a_source_behind_a_link_with_files_of_others_is_measured() throws Exception {
        Path source = fixture.newDirectory("source");
        for (int i = 0; i < 100; i++) {
            Files.write(source.resolve("f" + i), new byte[1000]);
        }
        try (Stream<Path> all = Files.list(source)) {
            for (Path each : all.limit(10).toList()) {
                Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("---------"));
            }
        }
        Files.createDirectory(
                source.resolve("lost+found"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("---------")));
        Path link = Files.createSymbolicLink(fixture.directory().resolve("link"), source);
        Path written = fixture.directory().resolve("measured");

        fixture.clairfs("calibrate", link, "--seconds", "0.01", "--write", written)
                .succeeded();

        assertThat(Files.readString(written, StandardCharsets.UTF_8)).contains("source:", "read:");
    }
}
