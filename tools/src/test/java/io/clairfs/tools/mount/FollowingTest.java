package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A trainer is followed by what inotify reports, and less closely where inotify fails; its bytes are right either way. */
@Timeout(180)
final class FollowingTest {
    private static final int CLASSES = 30;
    private static final int SAMPLES = 600;
    private static final int LARGEST = 20_000;
    private static final Path WATCHES = Path.of("/proc/sys/fs/inotify/max_user_watches");
    private static final Path QUEUE = Path.of("/proc/sys/fs/inotify/max_queued_events");

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

    /** A setting of the kernel for the time of a block. */
    private record Setting(Path file, String before) implements AutoCloseable {
        static Setting set(Path file, int value) throws IOException, InterruptedException {
            Requirements.root();
            Setting setting = new Setting(file, value(file));
            Files.writeString(file, value + "\n");
            return setting;
        }

        /** A file of this kind gives its value to a single read only. */
        private static String value(Path file) throws IOException {
            try (InputStream in = Files.newInputStream(file)) {
                byte[] text = new byte[64];
                return new String(text, 0, in.read(text), US_ASCII);
            }
        }

        @Override
        public void close() throws IOException {
            Files.writeString(file, before);
            assertThat(value(file)).isEqualTo(before);
        }
    }

    @Test
    void inSyncReader_isServedFromThePageCacheAcrossEpochs() throws Exception {
        Path source = makeSource();
        LiveMount mount = fixture.mount(source, "--staging", "2MiB");
        mount.awaitReady();
        mount.job("seed=3 epochs=2 batch=8");
        mount.await("staged", s -> s.path("jobs").path(0).path("staged_ahead").asInt() > 50);
        read(mount, source, 0, 0, SAMPLES, 1000);
        read(mount, source, 1, 0, SAMPLES, 1000);
        JsonNode status =
                mount.await("done", s -> s.path("jobs").path(0).path("done").asBoolean());
        assertThat(status.path("jobs").path(0).path("in_sync").asBoolean()).isTrue();
        assertThat(status.path("jobs").path(0).path("deviations").asLong()).isLessThan(2L * SAMPLES / 10);
        assertThat(status.path("reads").path("opened").asLong()).isEqualTo(2L * SAMPLES);
        assertThat(status.path("reads").path("upcalls").asLong()).isLessThan(2L * SAMPLES / 4);
        assertThat(status.path("fetched").path("source").path("count").asLong()).isEqualTo(SAMPLES);
    }

    @Test
    void noWatchesLeft_samplesAreStillStagedAndTheReaderIsStillFollowed() throws Exception {
        Path source = makeSource();
        try (Setting _ = Setting.set(WATCHES, 3)) {
            LiveMount mount = fixture.mount(source, "--staging", "2MiB");
            mount.awaitReady();
            mount.job("seed=3 epochs=2 batch=8");
            mount.await(
                    "staged", s -> s.path("jobs").path(0).path("staged_ahead").asInt() > 50);
            assertThat(mount.read("errors")).contains("cannot be watched").contains("max_user_watches");
            read(mount, source, 0, 0, SAMPLES, 2000);
            JsonNode status = mount.status();
            assertThat(status.path("jobs").path(0).path("position").asInt()).isGreaterThan(SAMPLES / 2);
            assertThat(status.path("reads").path("requests").asLong()).isLessThan(SAMPLES / 2);
        }
    }

    @Test
    void reportsOverflow_isCountedAndTheReaderIsFoundAgain() throws Exception {
        Path source = makeSource();
        LiveMount mount;
        try (Setting _ = Setting.set(QUEUE, 4)) {
            mount = fixture.mount(source, "--staging", "2MiB");
        }
        mount.awaitReady();
        mount.job("seed=3 epochs=2 batch=8");
        mount.await("staged", s -> s.path("jobs").path(0).path("staged_ahead").asInt() > 50);
        read(mount, source, 0, 0, 300, 0);
        mount.await("overflowed", s -> s.path("reads").path("reports_lost").asLong() > 0);
        read(mount, source, 0, 300, 250, 20_000); // the queue is short: what a busy machine drains late is lost again
        JsonNode status =
                mount.await("found", s -> s.path("jobs").path(0).path("in_sync").asBoolean());
        assertThat(status.path("jobs").path(0).path("position").asInt()).isBetween(500, 550);
    }

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
        JsonNode status = mount.status();
        assertThat(status.path("jobs").path(0).path("deviations").asLong()).isGreaterThan(SAMPLES / 2);
        read(mount, source, 1, 0, 300, 1000);
    }
}
