package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** fio, an independent tool, writes files with checksums to the source and verifies them through the mount. */
@Timeout(600)
final class FioTest {
    private static final List<String> BLOCKS = List.of("512", "1000", "4096", "13331", "262144");
    private static final int FILE_BYTES = 8 << 20;

    @RegisterExtension
    static final MountFixture FIXTURE = new MountFixture();

    private static Path source;
    private static LiveMount mount;

    @BeforeAll
    static void writeWithChecksums() throws IOException, InterruptedException {
        Requirements.fio();
        source = FIXTURE.newDirectory("source");
        for (String block : BLOCKS) {
            fio(source, block, "--rw=write", "--ioengine=psync", "--do_verify=0")
                    .succeeded();
        }
        mount = FIXTURE.mount(source, "--index-rule", "sorted");
        mount.awaitReady();
    }

    @AfterAll
    static void noReaderNoticedAnything() throws IOException {
        if (mount != null) {
            assertThat(mount.status().at("/reads/errors").asInt()).isZero();
        }
    }

    private static Ended fio(Path directory, String block, String... options) throws IOException, InterruptedException {
        long bytes = FILE_BYTES / Long.parseLong(block) * Long.parseLong(block);
        List<String> command = new ArrayList<>(List.of(
                "fio",
                "--name=verify",
                "--filename=" + directory.resolve("blocks-" + block),
                "--size=" + bytes,
                "--bs=" + block,
                "--verify=crc32c",
                "--verify_state_save=0",
                "--verify_fatal=1",
                "--allow_file_create=1",
                "--output-format=terse"));
        command.addAll(List.of(options));
        return Ended.run(command, Map.of());
    }

    // Promise R2
    @ParameterizedTest
    @CsvSource({
        "512, psync, read, 0",
        "512, psync, randread, 0",
        "1000, psync, randread, 0",
        "1000, mmap, read, 0",
        "4096, mmap, randread, 0",
        "4096, psync, randread, 1",
        "4096, libaio, randread, 1",
        "4096, io_uring, randread, 0",
        "13331, psync, randread, 0",
        "13331, pvsync2, read, 0",
        "262144, libaio, randread, 1",
        "262144, mmap, read, 0"
    })
    void every_block_is_verified(String block, String engine, String order, String direct) throws Exception {
        Ended ended = fio(
                mount.point(),
                block,
                "--readonly",
                "--rw=" + order,
                "--ioengine=" + engine,
                "--direct=" + direct,
                "--iodepth=4");
        if (ended.exit() != 0 && (ended.err() + ended.out()).contains("io_uring")) {
            System.out.println("skipped: io_uring is not allowed here");
            Assumptions.abort("io_uring is not allowed here");
        }
        ended.succeeded();
    }

    @Test
    void a_wrong_byte_would_be_noticed() throws Exception {
        Path copy = FIXTURE.newDirectory("copy");
        Files.copy(source.resolve("blocks-4096"), copy.resolve("blocks-4096"));
        try (RandomAccessFile bytes =
                new RandomAccessFile(copy.resolve("blocks-4096").toFile(), "rw")) {
            bytes.seek(1_000_000);
            int was = bytes.read();
            bytes.seek(1_000_000);
            bytes.write(was ^ 1);
        }
        LiveMount wrong = FIXTURE.mount(copy, "--index-rule", "sorted");
        assertThat(fio(wrong.point(), "4096", "--readonly", "--rw=read", "--ioengine=psync")
                        .exit())
                .isNotZero();
    }
}
