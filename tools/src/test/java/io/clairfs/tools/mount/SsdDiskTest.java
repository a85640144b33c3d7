package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import tools.jackson.databind.JsonNode;

/**
 * A disk fails below a working daemon. Readers get the right bytes, the failure is reported, and the disk is used again when it recovers.
 */
@Timeout(600)
final class SsdDiskTest {
    private static final int SAMPLES = 160;
    private static final int SAMPLE_BYTES = 20_000;
    private static final int IN_MEMORY = (1 << 20) / SAMPLE_BYTES;

    /** The daemon avoids a failed disk for ten seconds, perhaps more than once. */
    private static final long WELL_WITHIN_S = 120;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path source;
    private SlowMount slow;
    private LiveMount mount;
    private int epoch;

    @BeforeEach
    void makeSource() throws IOException {
        source = fixture.newDirectory("source");
        Images.make(source.resolve("cat"), SAMPLES, SAMPLE_BYTES);
        // The daemon would prefer a source as fast as the disk.
        slow = SlowMount.mount(
                source, fixture.newDirectory("slow"), new SlowSourceSpec(1 << 30, Duration.ofMillis(20)));
    }

    @AfterEach
    void endSource() throws IOException {
        slow.close();
    }

    private void mount(Path ssd) throws IOException, InterruptedException {
        mount = fixture.mount(
                slow.point(), "--memory", "1MiB", "--staging", "1MiB", "--ssd", ssd + ":8MiB", "--ssd-reserve", "1B");
        mount.awaitReady();
        mount.job("seed=1 epochs=10000 batch=8");
    }

    /** Reads the next epoch and compares every byte. */
    private void readAnEpoch() throws IOException, InterruptedException {
        String equal = fixture.python("read_in_order.py", mount.point(), source, "train", epoch++, SAMPLES, 500, 0);
        assertThat(equal.strip()).isEqualTo(String.valueOf(SAMPLES));
    }

    private static JsonNode ssd(JsonNode status) {
        return status.at("/tiers/1");
    }

    private void awaitFilled() throws IOException, InterruptedException {
        mount.await("filled", s -> ssd(s).path("samples").asInt() >= SAMPLES - IN_MEMORY);
    }

    /** Reads on until the tier holds all its planned samples and accepts more. */
    private void readUntilWell() throws IOException, InterruptedException {
        JsonNode tier;
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(WELL_WITHIN_S);
        do {
            assertThat(System.nanoTime()).as("time, at %s", ssd(mount.status())).isLessThan(deadlineNs);
            readAnEpoch();
            tier = ssd(mount.status());
        } while (!tier.path("writable").asBoolean() || tier.path("samples").asInt() < SAMPLES - IN_MEMORY);
    }

    private List<Path> segments(Path root, String end) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            return new ArrayList<>(
                    all.filter(file -> file.toString().endsWith(end)).sorted().toList());
        }
    }

    /** Waits until the tier has counted a failure of this kind, and the errors have all these words. */
    private JsonNode awaitTold(String kind, String... words) throws Exception {
        JsonNode status = mount.await("noticed", s -> ssd(s).path(kind).asLong() > 0);
        Waiting.until("told", () -> {
            String errors = mount.read("errors");
            return Stream.of(words).allMatch(errors::contains);
        });
        return status;
    }

    private static void assertNoReaderNoticed(JsonNode status) {
        assertThat(status.at("/reads/errors").asLong()).isZero();
    }

    // Promise T1
    @Test
    @Execution(CONCURRENT)
    void bitsThatFlip_areNoticedSampleBySampleAndReplaced() throws Exception {
        Path disk = fixture.newDirectory("ssd");
        mount(disk);
        awaitFilled();
        readAnEpoch();
        for (Path data : segments(disk, ".data")) {
            try (RandomAccessFile bytes = new RandomAccessFile(data.toFile(), "rw")) {
                for (long at = 11; at < bytes.length(); at += 3L * SAMPLE_BYTES) {
                    bytes.seek(at);
                    int was = bytes.read();
                    bytes.seek(at);
                    bytes.write(was ^ 0x10);
                }
            }
        }
        readAnEpoch();
        JsonNode status = awaitTold("checksum_failures", "of the SSD cache is damaged; it is read from the source");
        assertThat(status.path("checksum_failures").asLong()).isPositive();
        readUntilWell();
        assertNoReaderNoticed(mount.status());
    }

    // Promise T6
    @Test
    @Execution(CONCURRENT)
    void filesThatAreCutOrGone_costTheSourceAndNobodyElse() throws Exception {
        Path disk = fixture.newDirectory("ssd");
        mount(disk);
        awaitFilled();
        readAnEpoch();
        boolean cut = true;
        for (Path data : segments(disk, ".data")) {
            try (RandomAccessFile bytes = new RandomAccessFile(data.toFile(), "rw")) {
                bytes.setLength(cut ? 0 : bytes.length() / 2);
            }
            if (!cut) {
                Files.delete(data);
                Files.createDirectory(data);
            }
            cut = !cut;
        }
        for (Path index : segments(disk, ".index")) {
            Files.delete(index);
        }
        readAnEpoch();
        JsonNode _ = awaitTold("read_failures", "cannot read a sample from the SSD cache");
        readUntilWell();
        assertNoReaderNoticed(mount.status());
    }

    // Promise T6
    @Test
    @Execution(CONCURRENT)
    void diskThatAnswersWithErrors_costsTheSourceAndNobodyElse() throws Exception {
        Path disk = fixture.newDirectory("ssd");
        mount(disk);
        awaitFilled();
        fixture.clairfs("umount", mount.point()).succeeded();

        epoch = 0;
        try (FaultyMount failing = FaultyMount.mount(disk, fixture.newDirectory("failing"), FaultyMount.FAST)) {
            mount(failing.point()); // read-only, too
            mount.await(
                    "what is on the disk is found", s -> ssd(s).path("samples").asInt() >= SAMPLES - IN_MEMORY);
            readAnEpoch();
            assertThat(mount.status().at("/fetched/ssd/count").asLong()).isPositive();
            failing.inject(FaultSpec.of(FaultKind.EIO));
            readAnEpoch();
            JsonNode _ = awaitTold("read_failures", "cannot read a sample from the SSD cache");
            readAnEpoch();
            assertNoReaderNoticed(mount.status());
            fixture.clairfs("umount", mount.point()).succeeded();
        }
    }

    // Promise T3
    @Test
    @Execution(CONCURRENT)
    void diskThatIsFull_givesWhatItHasAndIsUsedAgainWhenThereIsRoom() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(fixture, 8 << 20)) {
            disk.fillUpTo(40L * SAMPLE_BYTES);
            mount(disk.path().resolve("ssd"));
            readAnEpoch();
            mount.await("filled in part", s -> ssd(s).path("samples").asInt() > 10);
            Waiting.until(
                    "told that the disk is full", () -> mount.read("errors").contains("its disk has no more room"));
            assertThat(ssd(mount.status()).path("samples").asInt()).isLessThanOrEqualTo(40);
            disk.fillUpTo(0);
            mount.await("not written to", s -> !ssd(s).path("writable").asBoolean());
            readAnEpoch();
            disk.empty();
            readUntilWell();
            assertNoReaderNoticed(mount.status());
            fixture.clairfs("umount", mount.point()).succeeded();
        }
    }

    // Promise T3
    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void diskThatFailsToWrite_isToldOfAndUsedAgainWhenItIsWell() throws Exception {
        Path disk = fixture.newDirectory("ssd");
        mount(disk);
        awaitFilled();
        limitFiles("1");
        cutAll(disk);
        readAnEpoch();
        JsonNode _ = awaitTold("write_failures", "cannot write to the SSD cache", "trying again later");
        readAnEpoch();
        limitFiles("unlimited");
        readUntilWell();
        assertNoReaderNoticed(mount.status());
    }

    // Promise T3
    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void diskThatIsReadOnly_givesWhatItHasAndIsUsedAgainAfterwards() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(fixture, 16 << 20)) {
            mount(disk.path().resolve("ssd"));
            awaitFilled();
            fixture.clairfs("umount", mount.point()).succeeded();
            Path oldest = segments(disk.path(), ".data").getFirst();
            try (RandomAccessFile bytes = new RandomAccessFile(oldest.toFile(), "rw")) {
                bytes.setLength(0); // so that the tier has something to write
            }
            assertThat(disk.tryReadOnly()).isTrue();
            epoch = 0;
            mount(disk.path().resolve("ssd"));
            readAnEpoch();
            JsonNode status = awaitTold("write_failures", "cannot write to the SSD cache");
            assertThat(status.at("/fetched/ssd/count").asLong()).isPositive();
            disk.writable();
            readUntilWell();
            assertNoReaderNoticed(mount.status());
            fixture.clairfs("umount", mount.point()).succeeded();
        }
    }

    /** Limits the size of the daemon's files: larger writes fail with EFBIG, in place of a disk that fails on demand. */
    private void limitFiles(String bytes) throws IOException, InterruptedException {
        Ended.run(List.of("prlimit", "--pid", "" + mount.pid(), "--fsize=" + bytes + ":unlimited"), Map.of())
                .succeeded();
    }

    /** Cuts all files, so that the tier has something to write. */
    private void cutAll(Path disk) throws IOException {
        for (Path data : segments(disk, ".data")) {
            try (RandomAccessFile bytes = new RandomAccessFile(data.toFile(), "rw")) {
                bytes.setLength(0);
            }
        }
    }
}
