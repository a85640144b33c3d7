package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** The machine's date is set while a daemon runs. No wait, timeout or read depends on the date. */
@Timeout(600)
final class ClockTest {
    private static final int SAMPLES = 200;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSource() throws IOException {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("cat"), SAMPLES, 10_000);
        return source;
    }

    // Promise M1
    @Test
    void clockThatJumps_changesNothing() throws Exception {
        Path source = makeSource();
        ShiftedClock clock = ShiftedClock.of(fixture);
        long begunNs = System.nanoTime();
        LiveMount mount = fixture.mount(
                source,
                "--memory",
                "1MiB",
                "--staging",
                "8MiB",
                "--ssd",
                fixture.newDirectory("ssd") + ":8MiB",
                "--ssd-reserve",
                "1MiB",
                "--read-timeout",
                "30");
        mount.awaitReady();
        mount.job("seed=1 epochs=50 batch=8");
        int epoch = 0;
        double uptime = 0;
        for (Duration shift : List.of(
                Duration.ofHours(1),
                Duration.ofDays(-3),
                Duration.ofDays(4000),
                Duration.ofDays(-7000),
                Duration.ZERO)) {
            clock.shift(shift);
            String equal = fixture.python("read_in_order.py", mount.point(), source, "train", epoch, SAMPLES, 500, 0);
            assertThat(equal.strip()).isEqualTo(String.valueOf(SAMPLES));
            int next = ++epoch;
            // Reads that are seen when the other job has begun might count as that one's.
            JsonNode status = mount.await("followed", s -> s.at("/jobs/0/epoch").asInt() >= next);
            assertThat(status.path("uptime_seconds").asDouble())
                    .isBetween(uptime, (System.nanoTime() - begunNs) / 1e9 + 1);
            uptime = status.path("uptime_seconds").asDouble();
            assertThat(status.at("/reads/errors").asInt()).isZero();
            assertThat(status.at("/jobs/0/in_sync").asBoolean()).isTrue();
            mount.job("name=other seed=2 epochs=1");
            mount.await("planned", s -> s.at("/jobs/1/staged_ahead").asInt() > 0);
            mount.job("stop=other");
        }
        fixture.clairfs("umount", mount.point()).succeeded();
    }
}
