package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/**
 * Daemons are killed (-9) at random moments. The next mount at the same place works, over the same SSD.
 *
 * <p>{@code -Dclairfs.kill.rounds=N} sets the number of rounds. {@code -Dclairfs.kill.seed=N} repeats a run, apart from timing.
 */
@Timeout(3600)
final class KillTest {
    private static final int USUAL_ROUNDS = 3;
    private static final int SAMPLES = 150;
    private static final int SAMPLE_BYTES = 20_000;
    private static final int LONGEST_LIFE_MS = 4_000;
    private static final long END_S = 60;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path source;
    private Path point;
    private Path ssd;

    private void makeSource() throws IOException {
        source = fixture.newDirectory("source");
        point = fixture.newDirectory("point");
        ssd = fixture.newDirectory("ssd");
        Images.make(source.resolve("cat"), SAMPLES, SAMPLE_BYTES);
    }

    private LiveMount mount() throws IOException, InterruptedException {
        return fixture.mountAt(
                point,
                source,
                "--memory",
                "1MiB",
                "--staging",
                "1MiB",
                "--ssd",
                ssd + ":8MiB",
                "--ssd-reserve",
                "1MiB");
    }

    /** Runs a daemon from mount to umount. Any part may fail. */
    private void live(int round, boolean job) {
        try {
            LiveMount mount = mount();
            if (job) {
                mount.job("seed=" + round + " epochs=3 batch=8");
                fixture.start("reader" + round, fixture.pythonCommand("reader.py", point, "train", 3, source));
                TimeUnit.MILLISECONDS.sleep(LONGEST_LIFE_MS / 4);
            }
            Ended _ = fixture.clairfs("umount", point);
        } catch (IOException | AssertionError killed) {
            System.out.println("round " + round + ": killed while mounting or before its job was taken");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void killAll() {
        for (ProcessHandle process : fixture.processes()) {
            process.destroyForcibly();
        }
    }

    /** Kills all daemons and waits for their end, whatever their threads wait for. */
    private void awaitTheirEnd() throws Exception {
        Waiting.until("all that was killed is gone", () -> {
            killAll();
            return fixture.processes().isEmpty();
        });
    }

    // Promise L5, T2
    @Test
    void killedAtAnyMoment_isMountedAgainAndLeavesNothing() throws Exception {
        int rounds = Integer.getInteger("clairfs.kill.rounds", USUAL_ROUNDS);
        makeSource();
        long seed = Long.getLong("clairfs.kill.seed", 1);
        System.out.println("kill: seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < rounds; round++) {
            int of = round;
            boolean job = random.nextInt(4) > 0;
            CompletableFuture<Void> life = CompletableFuture.runAsync(() -> live(of, job));
            TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_LIFE_MS));
            while (!life.isDone()) { // the mount command may start another process after the check
                killAll();
                TimeUnit.MILLISECONDS.sleep(50);
            }
            life.get(END_S, TimeUnit.SECONDS);
            awaitTheirEnd();

            LiveMount again = mount();
            again.awaitReady();
            again.job("seed=1 epochs=1");
            for (int i = 0; i < SAMPLES; i++) {
                assertThat(Files.mismatch(point.resolve("cat/" + i + ".jpg"), source.resolve("cat/" + i + ".jpg")))
                        .as("round " + round + " of seed " + seed)
                        .isEqualTo(-1);
            }
            JsonNode status =
                    again.await("filled", s -> s.at("/tiers/1/samples").asInt() > 0);
            assertThat(status.at("/reads/errors").asInt()).isZero();
            assertThat(fixture.mounts()).hasSize(2);
            fixture.clairfs("umount", point).succeeded();
            assertThat(fixture.mounts()).isEmpty();
            assertThat(fixture.processes()).isEmpty();
            assertThat(point).isEmptyDirectory();
        }
    }
}
