package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** The follower uses inotify's reports, and is less exact where inotify fails. The trainer's bytes are right either way. */
@Timeout(600)
@Tag("alone")
final class FollowingTest {
    private static final int CLASSES = 30;
    private static final int SAMPLES = 600;
    private static final int PIECE = 100;
    private static final int LARGEST = 20_000;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSource() throws IOException {
        Path source = fixture.newDirectory("source");
        Random random = new Random(4);
        for (int c = 0; c < CLASSES; c++) {
            Files.createDirectory(source.resolve("c" + c));
        }
        for (int i = 0; i < SAMPLES; i++) {
            byte[] content = new byte[random.nextInt(1, LARGEST)];
            random.nextBytes(content);
            Files.write(source.resolve("c" + i % CLASSES + "/s" + i + ".jpg"), content);
        }
        return source;
    }

    private void read(LiveMount mount, Path source, int epoch, int from, int count, int pauseUs)
            throws IOException, InterruptedException {
        String equal = fixture.python("read_in_order.py", mount.point(), source, "train", epoch, count, pauseUs, from);
        assertThat(equal.strip()).isEqualTo(String.valueOf(count));
    }

    /** Reads the first epochs, no faster than samples are staged. */
    private void readAsStaged(LiveMount mount, Path source, int epochs) throws IOException, InterruptedException {
        readAll(epochs, fixture.python("reader.py", mount.point(), "train", epochs, source));
    }

    /** The same, and no further ahead of the position in the status than so many samples. */
    private void readAsFollowed(LiveMount mount, Path source, int epochs, int ahead)
            throws IOException, InterruptedException {
        readAll(epochs, fixture.python("reader.py", mount.point(), "train", epochs, source, ahead));
    }

    private static void readAll(int epochs, String said) {
        assertThat(said.lines()).hasSize(epochs * SAMPLES);
    }

    @Test
    void inSyncReader_isServedFromThePageCacheAcrossEpochs() throws Exception {
        Path source = makeSource();
        LiveMount mount = fixture.mount(source, "--staging", "2MiB");
        mount.awaitReady();
        mount.job("seed=3 epochs=2 batch=8");
        mount.await("staged", s -> s.path("jobs").path(0).path("staged_ahead").asInt() > 50);
        readAsFollowed(mount, source, 2, 32);
        // A sample may be read before the thread that has brought it counts it.
        JsonNode status = mount.await(
                "done",
                s -> s.path("jobs").path(0).path("done").asBoolean()
                        && s.path("fetched").path("source").path("count").asLong() >= SAMPLES);
        assertThat(status.path("jobs").path(0).path("in_sync").asBoolean()).isTrue();
        assertThat(status.path("jobs").path(0).path("deviations").asLong()).isLessThan(2L * SAMPLES / 10);
        assertThat(status.path("reads").path("opened").asLong()).isEqualTo(2L * SAMPLES);
        assertThat(status.path("reads").path("upcalls").asLong()).isLessThan(2L * SAMPLES / 4);
        assertThat(status.path("fetched").path("source").path("count").asLong()).isEqualTo(SAMPLES);
    }

    // Promise M3
    @Test
    void noWatchesLeft_samplesAreStillStagedAndTheReaderIsStillFollowed() throws Exception {
        Path source = makeSource();
        try (KernelSetting _ = KernelSetting.set(KernelSetting.WATCHES, 3)) {
            LiveMount mount = fixture.mount(source, "--staging", "2MiB");
            mount.awaitReady();
            mount.job("seed=3 epochs=2 batch=8");
            mount.await(
                    "staged", s -> s.path("jobs").path(0).path("staged_ahead").asInt() > 50);
            assertThat(mount.read("errors")).contains("cannot be watched").contains("max_user_watches");
            assertThat(mount.status().at("/reads/unwatched_directories").asInt())
                    .isPositive();
            readAsStaged(mount, source, 1);
            JsonNode status = awaitSecondHalf(mount);
            assertThat(status.path("reads").path("requests").asLong()).isLessThan(SAMPLES / 2);
        }
    }

    // Promise R5, M3
    @Test
    void reportsOverflow_isCountedAndTheReaderIsFoundAgain() throws Exception {
        Path source = makeSource();
        LiveMount mount;
        try (KernelSetting _ = KernelSetting.set(KernelSetting.QUEUE, 8)) {
            mount = fixture.mount(source, "--staging", "2MiB");
        }
        mount.awaitReady();
        mount.job("seed=3 epochs=50 batch=8");
        mount.await("staged", s -> s.path("jobs").path(0).path("staged_ahead").asInt() > 50);
        int done = 0;
        while (mount.status().path("reads").path("reports_lost").asLong() == 0) {
            done = readOn(mount, source, done, 0);
        }
        JsonNode job;
        do { // a busy machine may lose reports again, so the reader goes on until it is found
            done = readOn(mount, source, done, 20_000);
            job = mount.status().path("jobs").path(0);
        } while (!job.path("in_sync").asBoolean() || Math.abs(positionInAll(job) - done) > PIECE);
    }

    /** Reads the next piece. Returns the number of samples read so far. Fails at the end of the job. */
    private int readOn(LiveMount mount, Path source, int done, int pauseUs) throws IOException, InterruptedException {
        read(mount, source, done / SAMPLES, done % SAMPLES, PIECE, pauseUs);
        return done + PIECE;
    }

    private static JsonNode awaitSecondHalf(LiveMount mount) throws IOException, InterruptedException {
        return mount.await("followed", s -> positionInAll(s.path("jobs").path(0)) > SAMPLES / 2);
    }

    private static int positionInAll(JsonNode job) {
        return job.path("epoch").asInt() * SAMPLES + job.path("position").asInt();
    }

    // Promise M3
    @Test
    void noQueueLeft_theMountIsThereAndSaysSo() throws Exception {
        Path source = makeSource();
        LiveMount mount;
        try (KernelSetting _ = KernelSetting.set(KernelSetting.INSTANCES, 0)) {
            mount = fixture.mount(source, "--staging", "2MiB");
        }
        mount.awaitReady();
        mount.job("seed=3 epochs=2 batch=8");
        mount.await("staged", s -> s.path("jobs").path(0).path("staged_ahead").asInt() > 50);
        assertThat(mount.read("errors")).contains("reads cannot be watched").contains("max_user_instances");
        assertThat(mount.status().at("/reads/unwatched_directories").asInt()).isEqualTo(CLASSES);
        readAsStaged(mount, source, 1);
        JsonNode status = awaitSecondHalf(mount);
        assertThat(status.path("reads").path("requests").asLong()).isLessThan(SAMPLES / 2);
    }

    // Promise R5
    @Test
    void secondReaderInNameOrder_isToldAndBothGetRightBytes() throws Exception {
        Path source = makeSource();
        LiveMount mount = fixture.mount(source, "--staging", "2MiB");
        mount.awaitReady();
        mount.job("seed=3 epochs=2 batch=8");
        Process extra = fixture.start(
                "extra",
                java.util.List.of(
                        "/bin/sh", "-c", "cd " + mount.point() + " && for i in 1 2; do cat */* | wc -c; done"));
        read(mount, source, 0, 0, SAMPLES, 1000);
        assertThat(extra.waitFor()).isZero();
        mount.await(
                "told of the other reader",
                s -> s.path("jobs").path(0).path("deviations").asLong() > SAMPLES / 2);
        read(mount, source, 1, 0, 300, 1000);
    }
}
