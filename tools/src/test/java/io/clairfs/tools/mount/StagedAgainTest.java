package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Pages that are dropped before the trainer reads them are staged again in time. */
@Timeout(600)
final class StagedAgainTest {
    private static final int SAMPLES = 400;
    private static final int BYTES = 20_000;
    /** At least so many of all, for the kernel leaves pages that are in use in this moment. */
    private static final int DROPPED = SAMPLES * 9 / 10;

    private static final String DROP_ALL = """
            import os, sys
            for name in sorted(os.listdir(sys.argv[1])):
                if not name.startswith("."):
                    fd = os.open(os.path.join(sys.argv[1], name), os.O_RDONLY)
                    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
                    os.close(fd)
            """;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSource() throws IOException {
        Path source = fixture.newDirectory("source");
        Random random = new Random(4);
        for (int i = 0; i < SAMPLES; i++) {
            byte[] content = new byte[BYTES];
            random.nextBytes(content);
            Files.write(source.resolve(String.format("s%04d", i)), content);
        }
        return source;
    }

    /** Keeps the files open: a close would count as a read. */
    private static final String DROP_SOME = """
            import os, sys, time
            for name in sys.argv[1:]:
                fd = os.open(name, os.O_RDONLY)
                os.posix_fadvise(fd, 3 << 20, 2 << 20, os.POSIX_FADV_DONTNEED)
            print("dropped", flush=True)
            time.sleep(600)
            """;

    @Test
    void parts_of_large_samples_that_were_dropped_are_staged_again_without_the_rest() throws Exception {
        Requirements.cachedPages();
        Path source = fixture.newDirectory("source");
        int samples = 4;
        int bytes = 16 << 20;
        Random random = new Random(5);
        for (int i = 0; i < samples; i++) {
            byte[] content = new byte[bytes];
            random.nextBytes(content);
            Files.write(source.resolve("s" + i), content);
        }
        LiveMount mount = fixture.mount(source, "--index-rule", "sorted", "--memory", "1MiB", "--staging", "100MiB");
        mount.awaitReady();
        mount.job("seed=3 epochs=1 batch=1");
        JsonNode before =
                mount.await("staged", s -> s.at("/jobs/0/staged_ahead").asInt() == samples);
        List<String> drop = new ArrayList<>(List.of("python3", "-c", DROP_SOME));
        for (int i = 0; i < samples; i++) {
            drop.add(mount.point().resolve("s" + i).toString());
        }
        Process dropper = fixture.start("dropper", drop);
        Waiting.until(
                "all are dropped",
                () -> Files.readString(fixture.said("dropper")).contains("dropped"));
        mount.await("noticed", s -> s.at("/staging/lost").asInt() >= samples);
        // Of another status: one tells of the jobs before it counts what is lost.
        mount.await("staged again", s -> s.at("/jobs/0/staged_ahead").asInt() == samples);
        for (int i = 0; i < samples; i++) {
            assertThat(Files.mismatch(source.resolve("s" + i), mount.point().resolve("s" + i)))
                    .isEqualTo(-1);
        }
        JsonNode after = mount.status();
        dropper.destroyForcibly().waitFor();
        assertThat(after.at("/fetched/source/bytes").asLong()
                        - before.at("/fetched/source/bytes").asLong())
                .as("the parts, not %d bytes for each", bytes)
                .isBetween(1L << 20, (long) samples * bytes / 2);
    }

    // Promise R8
    @Test
    void dropped_pages_of_staged_samples_are_staged_again_without_the_source() throws Exception {
        Requirements.cachedPages();
        Path source = makeSource();
        LiveMount mount = fixture.mount(source, "--index-rule", "sorted");
        mount.awaitReady();
        mount.job("seed=3 epochs=2 batch=8");
        mount.await("staged", s -> s.at("/jobs/0/staged_ahead").asInt() == SAMPLES);
        JsonNode before =
                mount.await("all in memory", s -> s.at("/fetched/source/count").asInt() == SAMPLES);
        fixture.python(DROP_ALL, mount.point());
        mount.await("noticed", s -> s.at("/staging/lost").asInt() >= DROPPED);
        JsonNode after =
                mount.await("staged again", s -> s.at("/jobs/0/staged_ahead").asInt() == SAMPLES);
        assertThat(after.at("/jobs/0/position").asInt()).isZero();
        String equal = fixture.python("read_in_order.py", mount.point(), source, "train", 0, SAMPLES, 500, 0);
        assertThat(equal.strip()).isEqualTo(String.valueOf(SAMPLES));
        JsonNode read = mount.await("read", s -> s.at("/jobs/0/epoch").asInt() == 1);
        assertThat(read.at("/reads/upcalls").asInt()
                        - before.at("/reads/upcalls").asInt())
                .as("few, for the kernel may take back more")
                .isLessThan(SAMPLES / 10);
        assertThat(read.at("/fetched/source/count").asInt()).isEqualTo(SAMPLES);
    }
}
