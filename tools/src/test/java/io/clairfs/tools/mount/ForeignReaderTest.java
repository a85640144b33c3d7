package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * A foreign reader goes through all files of a mount in name order. Its reads do not count as uses, and the position of a job's trainer
 * does not change.
 */
@Timeout(600)
final class ForeignReaderTest {
    private static final int CLASSES = 10;
    private static final int LARGEST = 30_000;
    private static final int PAUSE_US = 1_000;

    /** The position at which the trainer pauses in the first epoch. */
    private static final int PAUSED_AT = 40;

    /**
     * inotify reports two closes of a file in a row as one, and the daemon closes files, too, to look for pages that the kernel has taken back: so
     * a few reads of a pass are never reported, and the trainer's position may wait for one of its own until it has read on.
     */
    private static final int REPORTED_AS_ONE = 5;

    /** No sample, and in no pass, for its name begins with a dot. */
    private static final String MARK = "c0/.mark";

    /** So many samples have room in what is staged. */
    private static final int ROOM_STAGED = 150;

    /** Commands that read all files, query their cached pages, and read their beginnings. */
    private static final List<String> PASSES = List.of("cat */* | cksum", "fincore -n */* | wc -l", "file */* | wc -l");

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSource(int samples) throws IOException {
        Path source = fixture.newDirectory("source");
        Random random = new Random(9);
        for (int c = 0; c < CLASSES; c++) {
            Files.createDirectory(source.resolve("c" + c));
        }
        Files.writeString(source.resolve(MARK), "mark");
        for (int i = 0; i < samples; i++) {
            byte[] content = new byte[random.nextInt(1, LARGEST)];
            random.nextBytes(content);
            Files.write(source.resolve("c" + i % CLASSES + "/s" + i + ".jpg"), content);
        }
        return source;
    }

    private static String shell(Path at, String command) throws IOException, InterruptedException {
        return Ended.run(List.of("/bin/sh", "-c", "cd " + at + " && " + command), Map.of("LC_ALL", "C"))
                .succeeded();
    }

    /** Reads as the trainer. */
    private void train(LiveMount mount, Path source, int epoch, int from, int to)
            throws IOException, InterruptedException {
        int count = to - from;
        String equal = fixture.python("read_in_order.py", mount.point(), source, "train", epoch, count, PAUSE_US, from);
        assertThat(equal.strip()).isEqualTo(String.valueOf(count));
    }

    /** Waits until all reads before this are reported and followed. */
    private void awaitReports(LiveMount mount) throws IOException, InterruptedException {
        assertThat(fixture.python("await_reports.py", mount.point(), MARK)).isEmpty();
    }

    /** Runs each pass to its end and waits until its reads are reported. Requires that the trainer's position has not changed. */
    private void passOver(LiveMount mount, Path source, int samples) throws IOException, InterruptedException {
        awaitReports(mount);
        JsonNode rest = mount.status();
        for (String pass : PASSES) {
            long opened = mount.status().at("/reads/opened").asLong();
            assertThat(shell(mount.point(), pass)).isEqualTo(shell(source, pass));
            awaitReports(mount);
            JsonNode after = mount.await(
                    "in sync after " + pass, s -> s.at("/jobs/0/in_sync").asBoolean());
            assertThat(after.at("/reads/opened").asLong() - opened)
                    .as("reported of " + pass)
                    .isGreaterThanOrEqualTo(samples - REPORTED_AS_ONE);
            assertThat(after.at("/jobs/0/epoch")).as(pass).isEqualTo(rest.at("/jobs/0/epoch"));
            assertThat(after.at("/jobs/0/position")).as(pass).isEqualTo(rest.at("/jobs/0/position"));
        }
    }

    // Promise R7
    @ParameterizedTest(name = "{0} samples")
    @ValueSource(ints = 150)
    void passesInNameOrder_leaveTheTrainerWhereItIs_andItGoesOnStaged(int samples) throws Exception {
        Path source = makeSource(samples);
        LiveMount mount = fixture.mount(source, "--staging", "4MiB");
        mount.awaitReady();
        mount.job("seed=3 epochs=4 batch=4");
        passOver(mount, source, samples);
        assertThat(mount.status().at("/jobs/0/position").asInt()).isZero();
        int pause = samples * PAUSED_AT / 100;
        train(mount, source, 0, 0, pause);
        passOver(mount, source, samples);
        int ahead = Math.min(samples - pause, ROOM_STAGED);
        mount.await("staged", s -> s.at("/jobs/0/staged_ahead").asInt() >= ahead);
        long upcalls = mount.status().at("/reads/upcalls").asLong();
        train(mount, source, 0, pause, samples);
        assertThat(mount.status().at("/reads/upcalls").asLong() - upcalls)
                .as("the trainer's own, of %d", samples - pause)
                .isLessThan(samples / 10);
        passOver(mount, source, samples);

        Process beside = fixture.start(
                "beside",
                List.of("/bin/sh", "-c", "cd " + mount.point() + " && cat */* | cksum && fincore -n */* | wc -l"));
        train(mount, source, 1, 0, samples);
        assertThat(beside.waitFor()).isZero();
        awaitReports(mount);
        train(mount, source, 2, 0, samples);
        // a close that was reported as one with that of the pass is given up when the trainer is far behind it
        train(mount, source, 3, 0, samples);
        JsonNode done = mount.await("done", s -> s.at("/jobs/0/done").asBoolean());
        assertThat(done.at("/jobs/0/in_sync").asBoolean()).isTrue();
        assertThat(done.at("/reads/errors").asInt()).isZero();
        assertThat(done.at("/jobs/0/deviations").asInt()).isGreaterThan(8 * samples);
    }

    @Tag("exhaustive")
    @ParameterizedTest(name = "{0} samples")
    @ValueSource(ints = 600)
    void passesOverMoreSamples_leaveTheTrainerWhereItIs(int samples) throws Exception {
        passesInNameOrder_leaveTheTrainerWhereItIs_andItGoesOnStaged(samples);
    }
}
