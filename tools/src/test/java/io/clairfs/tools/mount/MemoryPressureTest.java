package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A daemon under a scheduler's memory limit: the kernel reclaims pushed pages, and no read is wrong. */
@Timeout(600)
final class MemoryPressureTest {
    private static final int SAMPLES = 500;
    private static final int SAMPLE_BYTES = 100_000;
    private static final long ALL = (long) SAMPLES * SAMPLE_BYTES;

    /** The pause of a slow trainer after each sample. */
    private static final int PAUSE_US = 5_000;

    private static final long TAKEN_BACK = ALL * 3 / 10;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path makeSource() throws IOException {
        Path source = fixture.newDirectory("source");
        Images.make(source.resolve("cat"), SAMPLES, SAMPLE_BYTES);
        return source;
    }

    // Promise M2
    @Test
    void pushedPagesCountForTheDaemon_andWhatTheKernelTakesBackComesAgain() throws Exception {
        Path source = makeSource();
        Path point = fixture.newDirectory("mnt");
        fixture.environment("JDK_JAVA_OPTIONS", "-Xmx64m -Xms64m -XX:+AlwaysPreTouch");
        try (MemoryGroup group = MemoryGroup.create()) {
            String[] command = {
                "mount",
                source.toString(),
                point.toString(),
                "--memory",
                "1MiB",
                "--staging",
                "128MiB",
                "--loaders",
                "4"
            };
            Ended.run(group.inside(Clairfs.command(command)), fixture.environment())
                    .succeeded();
            LiveMount mount = new LiveMount(point);
            mount.awaitReady();
            long before = group.pageCacheBytes();
            mount.job("seed=1 epochs=100 batch=8");
            mount.await("staged", s -> s.at("/staging/samples").asInt() == SAMPLES);
            // The kernel may have taken some back meanwhile, which the daemon pushes again.
            Waiting.until("what is pushed counts for the daemon", () -> group.pageCacheBytes() - before > ALL * 9 / 10);
            System.out.println("pushed " + ALL + " bytes; page cache of the daemon's group grew by "
                    + (group.pageCacheBytes() - before));

            squeeze(group);
            String equal = fixture.python("read_in_order.py", point, source, "train", 0, SAMPLES, PAUSE_US, 0);
            assertThat(equal.strip()).isEqualTo(String.valueOf(SAMPLES));
            JsonNode status = mount.status();
            long asked = status.at("/reads/upcalls").asLong();
            long lost = status.at("/staging/lost").asLong();
            System.out.println("with " + TAKEN_BACK + " bytes less: " + lost + " samples were staged again, " + asked
                    + " of " + status.at("/reads/opened") + " files asked the daemon");
            assertThat(lost + asked).isPositive();
            assertThat(status.at("/reads/errors").asInt()).isZero();
            assertThat(group.killed()).isZero();
            fixture.clairfs("umount", point).succeeded();
        }
    }

    /** The kernel may need more than one attempt to reclaim so much. */
    private static void squeeze(MemoryGroup group) throws IOException, InterruptedException {
        for (int tries = 1; !group.squeeze(group.usedBytes() - TAKEN_BACK); tries++) {
            assertThat(tries).as("attempts").isLessThan(10);
        }
    }
}
