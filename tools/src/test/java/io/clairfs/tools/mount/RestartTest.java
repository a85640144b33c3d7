package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A daemon that is killed (-9) is started again and goes on with the mount: PyTorch and a plain reader notice nothing but a wait.
 *
 * <p>{@code -Dclairfs.restart.kills=N} sets how often it is killed. {@code -Dclairfs.restart.seed=N} repeats a run, apart from timing. The trainer
 * reads on until it is told to stop, so it reads whenever a daemon is killed, however long that takes.
 */
@Timeout(7200)
final class RestartTest extends RestartFixture {
    private static final int USUAL_KILLS = 3;

    /** Of the job, far more than are read. */
    private static final int EPOCHS_PER_KILL = 500;

    private static final int LONGEST_LIFE_MS = 3_000;
    private static final int KILLS_PER_UPGRADE = 10;

    private Process train(LiveMount mount, Path stop) throws IOException {
        return fixture.start(
                "trainer",
                fixture.pythonCommand(
                        "unaware_trainer.py",
                        mount.point().resolve("train"),
                        dataset.resolve("train"),
                        SEED,
                        stop,
                        4,
                        0.05));
    }

    private Process read(LiveMount mount, Path stop) throws IOException {
        return fixture.start(
                "reader",
                fixture.pythonCommand(
                        "unaware_reader.py", mount.point().resolve("val"), dataset.resolve("val"), SEED, stop));
    }

    /** Until the daemon has seen the trainer in the job's order beyond where the one before saw it last. The trainer reads on meanwhile. */
    private static void awaitFollowed(LiveMount mount, JsonNode before) throws Exception {
        JsonNode then = before.at("/jobs/0");
        Waiting.until("followed again", () -> {
            try {
                JsonNode job = mount.status().at("/jobs/0");
                return job.path("in_sync").asBoolean() && reads(job) > reads(then);
            } catch (IOException notYet) {
                return false;
            }
        });
    }

    private static long reads(JsonNode job) {
        return (long) SAMPLES * job.path("epoch").asInt() + job.path("position").asInt();
    }

    private JsonNode said(String name) throws IOException {
        String error = Files.readString(fixture.directory().resolve(name + ".err"), UTF_8);
        assertThat(error).as("what the %s complained of", name).isEmpty();
        return new JsonMapper().readTree(Files.readString(fixture.said(name), UTF_8));
    }

    // Promise D1, D2, D4
    @Test
    void killedDaemon_isStartedAgain_andNoReaderGetsAnErrorOrAWrongByte() throws Exception {
        Requirements.torch();
        makeDataset();
        int kills = Integer.getInteger("clairfs.restart.kills", USUAL_KILLS);
        long seed = Long.getLong("clairfs.restart.seed", 1);
        Random random = new Random(seed);
        Path stop = fixture.directory().resolve("stop");
        SlowSourceSpec slow = new SlowSourceSpec(200_000_000, Duration.ofMillis(1));
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), slow)) {
            LiveMount mount = mount(source.point(), 1_000);
            mount.job("subset=train seed=" + SEED + " epochs=" + EPOCHS_PER_KILL * kills + " batch=" + BATCH
                    + " workers=4");
            Process reader = read(mount, stop);
            Process trainer = train(mount, stop);
            awaitKept(mount, SEED);
            long pid = mount.pid();
            int killed = 0;
            int upgraded = 0;
            long passedOver = 0;
            double longestUnfollowed = 0;
            while (killed < kills || upgraded < killed / KILLS_PER_UPGRADE) {
                assertThat(trainer.isAlive()).as("the trainer reads").isTrue();
                TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_LIFE_MS));
                JsonNode before = mount.status();
                passedOver += before.path("ssd_passed_over").asLong();
                long beganNs = System.nanoTime();
                if (killed >= KILLS_PER_UPGRADE * (upgraded + 1)) {
                    fixture.clairfs("upgrade", mount.point()).succeeded();
                    pid = mount.pid();
                    upgraded++;
                } else {
                    pid = killAndAwaitNext(mount, pid);
                    killed++;
                }
                assertThat(mount.status().at("/jobs/0/name").asString()).isEqualTo("train");
                awaitFollowed(mount, before);
                longestUnfollowed = Math.max(longestUnfollowed, (System.nanoTime() - beganNs) / 1e9);
            }
            int epoch = mount.status().at("/jobs/0/epoch").asInt();
            mount.await(
                    "followed through an epoch",
                    s -> s.at("/jobs/0/epoch").asInt() >= epoch + 2
                            && s.at("/jobs/0/in_sync").asBoolean());
            Files.createFile(stop);
            assertThat(trainer.waitFor()).as("the trainer's end").isZero();
            assertThat(reader.waitFor()).as("the reader's end").isZero();

            assertThat(said("trainer").path("right").asInt())
                    .isEqualTo(said("trainer").path("epochs").asInt() * SAMPLES)
                    .isPositive();
            System.out.printf(
                    "restarts: %d kills and %d upgrades (seed %d), longest read of the trainer %.2f s, of the reader (%d reads) %.2f s, the job followed again after at most %.2f s, its samples read from the source %.4f times, an SSD passed over %d times%n",
                    killed,
                    upgraded,
                    seed,
                    said("trainer").path("longest").asDouble(),
                    said("reader").path("reads").asInt(),
                    said("reader").path("longest").asDouble(),
                    longestUnfollowed,
                    (double) source.bytesBelow("train") / (SAMPLES * SAMPLE_BYTES),
                    passedOver);
            assertThat(killed).isPositive();
            awaitMetrics();
            JsonNode status = mount.status();
            assertThat(status.at("/reads/errors").asInt()).isZero();
            fixture.clairfs("umount", mount.point()).succeeded();
            assertThat(fixture.mounts()).containsExactly(source.point());
            assertThat(fixture.processes()).isEmpty();
        }
    }

    /** A daemon that takes over goes on with the mount first, and waits for the port of the one before it besides. */
    private void awaitMetrics() throws Exception {
        Waiting.until("the metrics are served", () -> {
            try (InputStream scraped =
                    URI.create("http://" + metrics + "/metrics").toURL().openStream()) {
                return new String(scraped.readAllBytes(), UTF_8).contains("clairfs_dataset_samples");
            } catch (ConnectException notYet) {
                return false;
            }
        });
    }

    /** Until the next daemon would know the job of this seed. */
    private void awaitKept(LiveMount mount, int seed) throws Exception {
        awaitKept(mount, "jobs", " seed=" + seed + " ");
    }

    @Tag("exhaustive")
    @Test
    void orderOfAnEpoch_isReadWhileTheNextDaemonStarts() throws Exception {
        Requirements.torch();
        makeDataset();
        LiveMount mount = mount(dataset, 9);
        mount.job("subset=train seed=" + SEED + " epochs=2");
        awaitKept(mount, SEED);
        String said = fixture.python("""
                import os, signal, sys
                mount, pid = sys.argv[1], int(sys.argv[2])
                sys.path.insert(0, f"{mount}/.clairfs/python")
                import clairfs_torch
                from clairfs_torch import OrderSampler

                clairfs_torch.RESTART_PATIENCE_S = 120.0  # for a slow machine
                sampler = OrderSampler(mount, job="train")
                before = list(sampler)
                sampler.set_epoch(1)
                os.kill(pid, signal.SIGKILL)
                after = list(sampler)
                assert sorted(before) == sorted(after) and before != after
                print(len(after))
                """, mount.point(), mount.pid());
        assertThat(said.strip()).isEqualTo(Integer.toString(SAMPLES));
    }

    /** What a reader sees who asks while the control files are being mounted anew, and looks for a process a moment later. */
    @Tag("exhaustive")
    @Test
    void orderOfAnEpoch_isReadWhenTheNextDaemonAnswersJustAfterAReadThatFailed() throws Exception {
        Requirements.torch();
        makeDataset();
        LiveMount mount = mount(dataset, 1);
        mount.job("subset=train seed=" + SEED + " epochs=2");
        String said = fixture.python("""
                import errno, sys
                mount = sys.argv[1]
                sys.path.insert(0, f"{mount}/.clairfs/python")
                import clairfs_torch
                from clairfs_torch import OrderSampler

                sampler = OrderSampler(mount, job="train")
                content = clairfs_torch._Mount._content
                missed = []

                def miss_once(self, file):
                    if file.startswith("order/") and file not in missed:
                        missed.append(file)
                        raise OSError(errno.ENOENT, "No such file or directory")
                    return content(self, file)

                clairfs_torch._Mount._content = miss_once
                sampler.set_epoch(1)
                print(len(list(sampler)), missed)
                """, mount.point());
        assertThat(said.strip()).isEqualTo(SAMPLES + " ['order/train/1/0.i64']");
    }

    // Promise D2
    @Test
    void memberOfAGroup_joinsAgain_andKnowsTheJob() throws Exception {
        makeDataset();
        NodeGroup group = NodeGroup.of(fixture, dataset, SAMPLES, dataset, null, node -> {
                    List<String> options =
                            new ArrayList<>(NodeGroup.Storage.memory(40 << 20).options(node));
                    options.addAll(List.of("--restarts", "9"));
                    return options;
                })
                .mount(2);
        for (LiveMount node : group.nodes()) {
            node.awaitSupervisor();
            node.job("name=both seed=3 world=2 epochs=5 batch=4 ranks="
                    + group.nodes().indexOf(node));
        }
        LiveMount first = group.nodes().getFirst();
        for (LiveMount node : group.nodes()) {
            node.await("planned", s -> s.at("/group/plan").asString().equals("made"));
        }
        first.job("name=later ranks=1");
        awaitKept(first, "ranks", "later 1\n");
        awaitKept(first, 3);
        killAndAwaitNext(first, first.pid());
        first.await(
                "back in the group",
                s -> s.path("peers").size() == 1
                        && s.at("/group/plan").asString().equals("made")
                        && s.at("/jobs/0/name").asString().equals("both"));
        assertThat(first.status().at("/jobs/0/ranks").asString()).isEqualTo("0");
        assertThat(first.read("job")).contains("name=later ranks=1");
        for (int i = 0; i < SAMPLES / 2; i++) {
            String name = "train/dog/" + i + ".jpg";
            assertThat(Files.mismatch(first.point().resolve(name), dataset.resolve(name)))
                    .isEqualTo(-1);
        }
        assertThat(first.status().at("/reads/errors").asInt()).isZero();
    }

    // Promise D5
    @Test
    void upgrade_replacesTheDaemon_andNoReaderGetsAnErrorOrAWrongByte() throws Exception {
        makeDataset();
        Path stop = fixture.directory().resolve("stop");
        LiveMount mount = mount(dataset, 1);
        mount.job("subset=train seed=" + SEED + " epochs=2 batch=" + BATCH);
        Process reader = read(mount, stop);
        long before = mount.pid();
        assertThatThrownBy(() -> Files.writeString(mount.control("upgrade"), "now\n", StandardOpenOption.WRITE))
                .as("no program was named")
                .isInstanceOf(IOException.class);
        assertThat(mount.lines("errors").getLast()).contains("clairfs upgrade " + mount.point());
        for (int i = 0; i < 2; i++) { // more often than it is restarted
            String said = fixture.clairfs("upgrade", mount.point()).succeeded();
            long after = mount.pid();
            assertThat(said).contains("process " + before + " was replaced by process " + after);
            assertThat(mount.status().at("/jobs/0/name").asString()).isEqualTo("train");
            before = after;
        }
        Files.createFile(stop);
        assertThat(reader.waitFor()).as("the reader's end").isZero();
        assertThat(said("reader").path("reads").asInt()).isPositive();
        assertThat(mount.status().at("/reads/errors").asInt()).isZero();
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.processes()).isEmpty();
    }

    @Tag("exhaustive")
    @Test
    void upgradeOfAMountThatIsNotRestarted_saysWhatToDo() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 0);
        assertThat(fixture.clairfs("upgrade", mount.point()).complainedWith(1))
                .contains("--restarts 0")
                .contains("clairfs umount " + mount.point());
    }

    // Promise D7
    @Test
    void whatADiskHolds_isNotReadFromTheSourceAgain_byThoseWhoReadWhileTheNextDaemonStarts() throws Exception {
        makeDataset();
        SlowSourceSpec slow = new SlowSourceSpec(200_000_000, Duration.ofMillis(1));
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), slow)) {
            LiveMount mount = mount(source.point(), 1_000);
            mount.job("subset=train seed=" + SEED + " epochs=1000 batch=" + BATCH);
            mount.await(
                    "all on the disk",
                    s -> s.path("tiers")
                            .valueStream()
                            .anyMatch(tier -> tier.path("name").asString().equals("ssd")
                                    && tier.path("samples").asInt() == SAMPLES));
            long pid = mount.pid();
            ProcessHandle killed = ProcessHandle.of(pid).orElseThrow();
            killed.destroyForcibly();
            ProcessEnd.await(killed, 120);
            long before = source.bytesBelow("train"); // what the killed one read last is in it
            for (int i = 0; i < SAMPLES / 2; i++) {
                String name = "train/dog/" + i + ".jpg";
                assertThat(Files.mismatch(mount.point().resolve(name), dataset.resolve(name)))
                        .isEqualTo(-1);
            }
            long again = (source.bytesBelow("train") - before) / SAMPLE_BYTES;
            long _ = mount.awaitNext(pid);
            boolean wasLate = fixture.logs().contains("before it is known what the disks hold"); // a very busy machine
            assertThat(again)
                    .as("read again, beside those for which the disk was too slow")
                    .isLessThanOrEqualTo(
                            wasLate
                                    ? SAMPLES
                                    : mount.status().path("ssd_passed_over").asLong());
            fixture.clairfs("umount", mount.point()).succeeded();
        }
    }
}
