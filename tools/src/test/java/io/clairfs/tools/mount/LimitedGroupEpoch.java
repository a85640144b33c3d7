package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A daemon with default options in a batch job: its control group has the limit of a group above it, which it shares with the trainer, and
 * the dataset is larger than the limit. {@code .ci/long-run memory} runs it, because it takes a minute.
 */
@Timeout(900)
final class LimitedGroupEpoch {
    private static final long LIMIT = 2L << 30;
    private static final int FILES = 128;
    private static final int FILE_BYTES = 4 << 20;

    /** The number of names of each file. Each name is a sample of its own. */
    private static final int NAMES = 9;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSource() throws IOException {
        Path source = fixture.newDirectory("source");
        Random random = new Random(1);
        byte[] content = new byte[FILE_BYTES];
        for (int name = 0; name < NAMES; name++) {
            Files.createDirectories(source.resolve("c" + name));
        }
        for (int file = 0; file < FILES; file++) {
            random.nextBytes(content);
            Path first = Files.write(source.resolve("c0/" + file + "-0.jpg"), content);
            for (int name = 1; name < NAMES; name++) {
                Files.createLink(source.resolve("c" + name + "/" + file + "-" + name + ".jpg"), first);
            }
        }
        return source;
    }

    @Test
    void daemonWithDefaultOptions_staysAliveBesideItsTrainer_inANestedGroup() throws Exception {
        Requirements.torch();
        Path source = makeSource();
        Path point = fixture.newDirectory("mnt");
        try (MemoryGroup job = MemoryGroup.create();
                MemoryGroup step = job.nested()) {
            job.limit(LIMIT);
            Ended.run(step.inside(Clairfs.command("mount", source.toString(), point.toString())), fixture.environment())
                    .succeeded();
            LiveMount mount = new LiveMount(point);
            JsonNode ready = mount.awaitReady();
            System.out.printf(
                    Locale.ROOT,
                    "limit %d MiB: memory %d MiB, staging %d MiB%n",
                    LIMIT >> 20,
                    ready.at("/tiers/0/capacity_bytes").asLong() >> 20,
                    ready.at("/staging/capacity_bytes").asLong() >> 20);
            mount.job("seed=5 epochs=2 batch=8 workers=2");
            List<String> trainer = fixture.pythonCommand("limited_trainer.py", point, source, 5, 8, 2);
            JsonNode read = new JsonMapper()
                    .readTree(Ended.run(step.inside(trainer), fixture.environment())
                            .succeeded());
            JsonNode status = mount.status();
            System.out.printf(
                    Locale.ROOT,
                    "%d of %d samples right, %d MB in %.1f s; the group's peak %d MiB, killed %d; source reads %d; daemon's samples off the heap %d MiB, heap %d MiB%n",
                    read.path("right").asInt(),
                    FILES * NAMES,
                    read.path("bytes").asLong() / 1_000_000,
                    read.path("seconds").asDouble(),
                    job.peakBytes() >> 20,
                    job.killed() + step.killed(),
                    status.at("/fetched/source/count").asInt(),
                    status.at("/process/native_bytes").asLong() >> 20,
                    status.at("/process/heap_bytes").asLong() >> 20);
            assertThat(read.path("right").asInt()).isEqualTo(FILES * NAMES);
            assertThat(read.path("bytes").asLong())
                    .isEqualTo((long) FILES * NAMES * FILE_BYTES)
                    .isGreaterThan(4L << 30);
            assertThat(status.at("/jobs/0/epoch").asInt()).isEqualTo(1);
            assertThat(job.killed() + step.killed()).isZero();
            assertThat(mount.lines("errors")).isEmpty();
            fixture.clairfs("umount", point).succeeded();
        }
    }
}
