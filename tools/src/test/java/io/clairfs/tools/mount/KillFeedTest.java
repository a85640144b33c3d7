package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Feeders and their trainers are killed (-9) at random moments. A trainer goes on with another feeder, a feeder ends with its trainer, and nothing is left
 * of either.
 *
 * <p>{@code -Dclairfs.kill.rounds=N} sets the number of rounds. {@code -Dclairfs.kill.seed=N} repeats a run, apart from timing. With
 * {@code -Dclairfs.kill.device=cuda:0} the batches lie on that GPU.
 */
@Timeout(3600)
final class KillFeedTest {
    private static final int USUAL_ROUNDS = 4;
    private static final int SAMPLES = 60;
    private static final int SAMPLE_BYTES = 20_000;
    private static final int LONGEST_LIFE_MS = 1_500;
    private static final long END_S = 150;
    private static final @Nullable String DEVICE = System.getProperty("clairfs.kill.device");
    private static final int MEASURED_AT_REST_MIB = 32;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private Path source;
    private LiveMount mount;

    private Process startTrainer(int round, Path stop) throws IOException {
        String script = """
                import os
                with feed(job="kill", decode="raw,dtype=uint8,shape=20000", threads=2, slots=3, hold=2%s) as f:
                    epoch = 0
                    while not os.path.exists("%s"):
                        f.set_epoch(epoch %% 5)
                        read = []
                        for batch, labels, indices in f:
                            for one, index in zip(%s, indices):
                                with open("%%s/cat/%%d.jpg" %% (root, index_of[index]), "rb") as original:
                                    assert one.tobytes() == original.read(), index
                            read += [int(index) for index in indices]
                        with open("%%s/.clairfs/order/kill/%%d/0.i64" %% (mount, epoch %% 5), "rb") as order:
                            assert read == list(numpy.frombuffer(order.read(), "<i8")), (epoch, read)
                        epoch += 1
                print("done")
                """.formatted(
                DEVICE == null ? "" : ", device='" + DEVICE + "'", stop, DEVICE == null ? "batch" : "batch.numpy()");
        String names = """
                with open(mount + "/.clairfs/index") as index:
                    index_of = [int(line.split("/")[1].split(".")[0]) for line in index]
                """;
        List<String> command =
                new ArrayList<>(fixture.pythonCommand("feed_trainer.py", mount.point(), source, names + script));
        command.addAll(Clairfs.command());
        return fixture.start("trainer" + round, command);
    }

    /** The feeder's process: the trainer has the command of the feeder among its arguments. */
    private Optional<ProcessHandle> feeder() {
        long daemon;
        try {
            daemon = mount.pid();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return fixture.processes().stream()
                .filter(process -> process.pid() != daemon
                        && process.info().command().orElse("").endsWith("/java"))
                .findFirst();
    }

    // The feeder's promise of docs/FEEDER.md
    @Test
    void killedAtAnyMoment_theOtherSideGoesOnOrEndsAndNothingIsLeft() throws Exception {
        int rounds = Integer.getInteger("clairfs.kill.rounds", USUAL_ROUNDS);
        long seed = Long.getLong("clairfs.kill.seed", 1);
        System.out.println("kill: seed " + seed);
        Random random = new Random(seed);
        source = fixture.newDirectory("source");
        Images.make(source.resolve("cat"), SAMPLES, SAMPLE_BYTES);
        mount = fixture.mount(source);
        mount.awaitReady();
        mount.job("name=kill seed=5 epochs=5 batch=7");
        List<String> shared = shared();
        int usedMib = deviceMemoryMib();
        for (int round = 0; round < rounds; round++) {
            String what = "round " + round + " of seed " + seed;
            Path stop = fixture.directory().resolve("stop" + round);
            Process trainer = startTrainer(round, stop);
            TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_LIFE_MS));
            boolean killTrainer = random.nextBoolean();
            if (killTrainer) {
                trainer.destroyForcibly();
            } else {
                Waiting.until("there is a feeder", () -> feeder().isPresent());
                feeder().ifPresent(ProcessHandle::destroyForcibly);
            }
            Files.writeString(stop, "");
            assertThat(trainer.waitFor(END_S, TimeUnit.SECONDS)).as(what).isTrue();
            if (!killTrainer) {
                assertThat(trainer.exitValue())
                        .as(what + ": " + Files.readString(fixture.directory().resolve("trainer" + round + ".err")))
                        .isZero();
            }
            Waiting.until("the feeder is gone", () -> feeder().isEmpty());
            assertThat(shared()).as(what).isEqualTo(shared);
            Path one = Path.of("cat/" + round % SAMPLES + ".jpg");
            assertThat(Files.mismatch(mount.point().resolve(one), source.resolve(one)))
                    .as(what)
                    .isEqualTo(-1);
        }
        assertThat(mount.status().at("/reads/errors").asInt()).isZero();
        Waiting.until("the GPU's memory is free again", () -> deviceMemoryMib() <= usedMib + MEASURED_AT_REST_MIB);
        if (DEVICE != null) {
            System.out.println("the GPU has " + deviceMemoryMib() + " MiB in use, as against " + usedMib + " at first");
        }
    }

    /** In use on the GPU, MiB; 0 where none is asked for. */
    private static int deviceMemoryMib() {
        if (DEVICE == null) {
            return 0;
        }
        try {
            String said = Ended.run(
                            List.of(
                                    "nvidia-smi",
                                    "-i",
                                    "0",
                                    "--query-gpu=memory.used",
                                    "--format=csv,noheader,nounits"),
                            Map.of())
                    .succeeded();
            return Integer.parseInt(said.strip());
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static List<String> shared() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
            return files.map(Path::toString)
                    .filter(name -> name.contains("clairfs"))
                    .sorted()
                    .toList();
        }
    }
}
