package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A daemon that is killed (-9) is started again and goes on with the mount: PyTorch and a plain reader notice nothing but a wait.
 *
 * <p>{@code -Dclairfs.restart.kills=N} sets how often it is killed. {@code -Dclairfs.restart.seed=N} repeats a run, apart from timing.
 */
@Timeout(7200)
final class RestartTest {
    private static final int USUAL_KILLS = 3;
    private static final int SAMPLES = 600;
    private static final int VALIDATION = 20;
    private static final int SAMPLE_BYTES = 50_000;
    private static final long DATASET = (long) (SAMPLES + VALIDATION) * SAMPLE_BYTES;
    private static final int SEED = 11;
    private static final int BATCH = 16;
    private static final int EPOCHS_PER_KILL = 3;

    /** Read after the last kill at least in part, to see whether the trainer is followed. */
    private static final int LAST_EPOCHS = 6;

    private static final int LONGEST_LIFE_MS = 3_000;
    private static final int KILLS_PER_UPGRADE = 10;

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNamespaces();

    private Path dataset;
    private String metrics;

    private void makeDataset() throws IOException {
        dataset = fixture.newDirectory("data");
        Images.make(dataset.resolve("train/cat"), SAMPLES / 2, SAMPLE_BYTES);
        Images.make(dataset.resolve("train/dog"), SAMPLES / 2, SAMPLE_BYTES);
        Images.make(dataset.resolve("val/cat"), VALIDATION, SAMPLE_BYTES);
    }

    private LiveMount mount(Path source, int restarts) throws Exception {
        metrics = "127.0.0.1:" + TestPorts.free(1);
        Path ssd = fixture.newDirectory("ssd");
        LiveMount mount = fixture.mount(
                source,
                "--memory",
                "4MiB",
                "--staging",
                "8MiB",
                "--ssd",
                ssd + ":" + 2 * DATASET,
                "--ssd-reserve",
                "1MiB",
                "--metrics",
                metrics,
                "--restarts",
                Integer.toString(restarts));
        mount.awaitReady();
        if (restarts > 0) {
            mount.awaitSupervisor();
        }
        return mount;
    }

    private Process train(LiveMount mount, int epochs) throws IOException {
        return fixture.start(
                "trainer",
                fixture.pythonCommand(
                        "unaware_trainer.py",
                        mount.point().resolve("train"),
                        dataset.resolve("train"),
                        SEED,
                        epochs,
                        4,
                        0.05));
    }

    private Process read(LiveMount mount, Path stop) throws IOException {
        return fixture.start(
                "reader",
                fixture.pythonCommand(
                        "unaware_reader.py", mount.point().resolve("val"), dataset.resolve("val"), SEED, stop));
    }

    /** Kills the daemon and waits for the one that takes over. Returns its process. */
    private long killAndAwaitNext(LiveMount mount, long pid) throws Exception {
        ProcessHandle.of(pid).orElseThrow().destroyForcibly();
        return mount.awaitNext(pid);
    }

    /** Until the daemon has seen the trainer in the job's order beyond where the one before saw it last. */
    private static void awaitFollowed(LiveMount mount, JsonNode before) throws Exception {
        JsonNode then = before.at("/jobs/0");
        Waiting.until("followed again", () -> {
            try {
                JsonNode job = mount.status().at("/jobs/0");
                return job.path("done").asBoolean() || (job.path("in_sync").asBoolean() && reads(job) > reads(then));
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
        int epochs = EPOCHS_PER_KILL * kills + LAST_EPOCHS;
        Path stop = fixture.directory().resolve("stop");
        SlowSourceSpec slow = new SlowSourceSpec(200_000_000, Duration.ofMillis(1));
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), slow)) {
            LiveMount mount = mount(source.point(), 1_000);
            mount.job("subset=train seed=" + SEED + " epochs=" + epochs + " batch=" + BATCH + " workers=4");
            Process reader = read(mount, stop);
            Process trainer = train(mount, epochs);
            awaitKept(mount, SEED);
            long pid = mount.pid();
            int killed = 0;
            int upgraded = 0;
            long passedOver = 0;
            double longestUnfollowed = 0;
            while ((killed < kills || upgraded < killed / KILLS_PER_UPGRADE) && trainer.isAlive()) {
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
                    "followed through an epoch, or to the end",
                    s -> s.at("/jobs/0/done").asBoolean()
                            || (s.at("/jobs/0/epoch").asInt() >= epoch + 2
                                    && s.at("/jobs/0/in_sync").asBoolean()));
            assertThat(trainer.waitFor()).as("the trainer's end").isZero();
            Files.createFile(stop);
            assertThat(reader.waitFor()).as("the reader's end").isZero();

            assertThat(said("trainer").path("right").asInt()).isEqualTo(epochs * SAMPLES);
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
            try (InputStream scraped =
                    URI.create("http://" + metrics + "/metrics").toURL().openStream()) {
                assertThat(new String(scraped.readAllBytes(), UTF_8)).contains("clairfs_dataset_samples");
            }
            JsonNode status = mount.status();
            assertThat(status.at("/reads/errors").asInt()).isZero();
            fixture.clairfs("umount", mount.point()).succeeded();
            assertThat(fixture.mounts()).containsExactly(source.point());
            assertThat(fixture.processes()).isEmpty();
        }
    }

    /** The exit code of a program that reads a sample, and what it complained of. */
    private Ended cat(LiveMount mount, int sample) throws IOException, InterruptedException {
        return Ended.run(List.of("cat", mount.point() + "/train/cat/" + sample + ".jpg"), Map.of("LC_ALL", "C"));
    }

    // Promise D6
    @Test
    void daemonsOfOnePathOnHostsWithOneHome_areStartedAgainEachWithItsOwn() throws Exception {
        Path point = fixture.newDirectory("point");
        String state = point.toString().substring(1).replace('/', '-') + "@";
        String kept = point.toString().substring(1).replace("-", "%2D").replace('/', '-') + "@";
        Path home = fixture.directory().resolve("clairfs");
        List<OtherHost> hosts = List.of(OtherHost.make(fixture, "host1"), OtherHost.make(fixture, "host2"));
        for (OtherHost host : hosts) {
            Path source = fixture.newDirectory("source");
            Files.writeString(source.resolve("file"), "of " + host.name());
            host.clairfs("mount", source, point, "--memory", "64MiB", "--restarts", "3")
                    .succeeded();
            Waiting.until("there is a supervisor", () -> {
                String upgrade = host.read(point.resolve(".clairfs/upgrade"));
                return upgrade != null && !upgrade.isEmpty();
            });
        }
        for (OtherHost host : hosts) {
            long killed = host.daemon(point);
            host.run(List.of("kill", "-9", Long.toString(killed))).succeeded();
            Waiting.until("another daemon answers", () -> {
                long now = host.daemon(point);
                return now != 0 && now != killed;
            });
            assertThat(host.read(point.resolve("file"))).isEqualTo("of " + host.name());
            assertThat(home.resolve(state + host.name() + ".log")).exists();
        }

        hosts.getFirst().clairfs("umount", point).succeeded();
        assertThat(home.resolve(kept + "host1.restart")).doesNotExist();
        assertThat(home.resolve(kept + "host2.restart/restart")).exists();
        hosts.getLast().clairfs("umount", point).succeeded();
        assertThat(home.resolve(kept + "host2.restart")).doesNotExist();
    }

    // Promise D6
    @Test
    void mountsWhosePathsDifferInASlash_areStartedAgainEachWithItsOwn() throws Exception {
        Path parent = fixture.newDirectory("points");
        List<Path> points = List.of(parent.resolve("x-y"), parent.resolve("x/y"));
        List<LiveMount> mounts = new ArrayList<>();
        for (Path point : points) {
            Files.createDirectories(point);
            Path source = fixture.newDirectory("source");
            Files.writeString(source.resolve("file"), "of " + point);
            LiveMount mount = fixture.mountAt(point, source, "--memory", "64MiB", "--restarts", "3");
            mount.awaitSupervisor();
            mounts.add(mount);
        }
        assertThat(restartDirectories()).hasSize(2);
        for (LiveMount mount : mounts) {
            long _ = killAndAwaitNext(mount, mount.pid());
            assertThat(mount.point().resolve("file")).hasContent("of " + mount.point());
        }
        for (LiveMount mount : mounts) {
            fixture.clairfs("umount", mount.point()).succeeded();
        }
    }

    // Promise D3
    @Test
    void daemonOfWhichNothingWasKept_isGivenUp_andReadersGetAnErrorInsteadOfAWait() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 2);
        for (Path directory : restartDirectories()) {
            Ended.run(List.of("rm", "-r", directory.toString()), Map.of()).succeeded();
        }
        ProcessHandle.of(mount.pid()).orElseThrow().destroyForcibly();

        assertThat(cat(mount, 1).exit()).isNotZero();
        assertThat(fixture.logs()).contains("died 3 times within a minute, and is not started again");
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.processes()).isEmpty();
    }

    // Promise D1
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whereTheHomeIsFull_killedDaemonsAreStartedAgainAllTheSame(boolean fromTheBeginning) throws Exception {
        makeDataset();
        try (SmallDisk home = SmallDisk.mount(fixture, 16 << 20)) {
            Files.createSymbolicLink(fixture.directory().resolve("clairfs"), home.path());
            if (fromTheBeginning) {
                home.fillUpTo(0);
            }
            LiveMount mount = mount(dataset, 10);
            home.fillUpTo(0);
            long next = killAndAwaitNext(mount, mount.pid());
            if (!fromTheBeginning) {
                Waiting.until(
                        "it says so",
                        () -> mount.lines("errors").stream()
                                .anyMatch(line -> line.contains("is started as the one before it was")));
            }
            long _ = killAndAwaitNext(mount, next);
            assertThat(cat(mount, 1).succeeded()).isNotEmpty();
            fixture.clairfs("umount", mount.point()).succeeded();
            assertThat(fixture.processes()).isEmpty();
            assertThat(restartDirectories()).isEmpty();
        }
    }

    // Promise D1
    @Test
    void mountBesideADaemonThatIsBeingStarted_isRefused_andTheMountGoesOn() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 3);
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        daemon.destroyForcibly();

        assertThat(fixture.clairfs("mount", dataset, mount.point()).complainedWith(1))
                .contains("busy");
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        assertThat(fixture.logs()).contains("starting it again");
        fixture.clairfs("umount", mount.point()).succeeded();
    }

    // Promise D6
    @Tag("exhaustive")
    @Test
    void whatProcessesThatWereAllKilledLeft_isRemoved() throws Exception {
        makeDataset();
        LiveMount first = mount(dataset, 3);
        LiveMount second = mount(dataset, 3);
        LiveMount third = mount(dataset, 3);
        assertThat(restartDirectories()).hasSize(3);
        killAll(first);
        killAll(second);
        fixture.clairfs("umount", first.point()).succeeded();
        assertThat(restartDirectories()).hasSize(2);
        Ended.run(List.of("fusermount", "-u", "-z", second.point().toString()), Map.of())
                .succeeded();
        for (Path each : restartDirectories()) {
            Ended.run(List.of("sh", "-c", "touch -d '2 days ago' \"$0\" \"$0\"/*", each.toString()), Map.of())
                    .succeeded();
        }

        LiveMount fourth = mount(dataset, 3);
        assertThat(restartDirectories())
                .hasSize(2)
                .noneMatch(each -> each.toString().contains(second.point().getFileName() + "@"));
        long _ = killAndAwaitNext(third, third.pid());
        for (LiveMount each : List.of(third, fourth)) {
            fixture.clairfs("umount", each.point()).succeeded();
        }
        assertThat(restartDirectories()).isEmpty();
    }

    /** Kills the daemon and its supervisor, the supervisor first. */
    private static void killAll(LiveMount mount) throws Exception {
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        List<ProcessHandle> children = daemon.children().toList();
        children.forEach(ProcessHandle::destroyForcibly);
        daemon.destroyForcibly();
        Waiting.until(
                "all are gone", () -> !daemon.isAlive() && children.stream().noneMatch(ProcessHandle::isAlive));
    }

    /** Until the next daemon would know the job of this seed. */
    private void awaitKept(LiveMount mount, int seed) throws Exception {
        Waiting.until("the job is kept for the next daemon", () -> {
            for (Path each : restartDirectories()) {
                Path jobs = each.resolve("jobs");
                if (each.toString().contains(mount.point().getFileName() + "@")
                        && Files.exists(jobs)
                        && Files.readString(jobs).contains(" seed=" + seed + " ")) {
                    return true;
                }
            }
            return false;
        });
    }

    private List<Path> restartDirectories() throws IOException {
        List<Path> all = new ArrayList<>();
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(fixture.directory().resolve("clairfs"), "*.restart")) {
            found.forEach(all::add);
        }
        return all;
    }

    // Promise D3
    @Test
    void daemonThatDiesTooOften_isGivenUp_andReadersGetAnErrorInsteadOfAWait() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 1);
        cat(mount, 1).succeeded();
        ProcessHandle.of(mount.pid()).orElseThrow().destroyForcibly();
        assertThat(fixture.clairfs("status", mount.point()).succeeded())
                .as("a command waits for the next daemon")
                .contains("620 samples");
        long next = mount.pid();
        cat(mount, 2).succeeded();
        // As if it had been started again only now: on a slow machine a minute is soon over.
        Files.writeString(
                restartDirectories().getFirst().resolve("restarts"),
                Instant.now().getEpochSecond() + "\n");
        ProcessHandle.of(next).orElseThrow().destroyForcibly();

        Ended late = cat(mount, 3);
        assertThat(late.exit()).isNotZero();
        assertThat(fixture.logs()).contains("died 2 times within a minute, and is not started again");
        fixture.clairfs("umount", mount.point()).succeeded();
        assertThat(fixture.mounts()).isEmpty();
        assertThat(fixture.processes()).isEmpty();
        assertThat(mount.point()).isEmptyDirectory();
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
                from clairfs_torch import OrderSampler

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
        awaitKept(first, 3);
        killAndAwaitNext(first, first.pid());
        first.await(
                "back in the group",
                s -> s.path("peers").size() == 1
                        && s.at("/group/plan").asString().equals("made")
                        && s.at("/jobs/0/name").asString().equals("both"));
        assertThat(first.status().at("/jobs/0/ranks").asString()).isEqualTo("0");
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

    // Promise D1
    @Tag("exhaustive")
    @Test
    void ordinaryUsersDaemon_isStartedAgainToo() throws Exception {
        makeDataset();
        OtherUser user = OtherUser.arrive(fixture);
        Path point = fixture.newDirectory("point");
        user.give(point);
        user.clairfs("mount", dataset, point, "--memory", "4MiB", "--staging", "4MiB", "--restarts", "9")
                .succeeded();
        Ended reader = user.run(fixture.pythonCommand("""
                import json, os, signal, sys, time
                mount, source = sys.argv[1:]

                def status():
                    try:
                        with open(f"{mount}/.clairfs/status.json") as file:
                            return json.load(file)
                    except OSError:
                        return {}

                def daemon(other):
                    while True:
                        now = status()
                        if now.get("pid", other) != other and now["ready"]:
                            return now["pid"]
                        time.sleep(0.05)

                pid = daemon(0)
                while True:  # the supervisor starts when the dataset is listed
                    try:
                        with open(f"{mount}/.clairfs/upgrade") as file:
                            file.read()
                        break
                    except OSError:
                        time.sleep(0.05)
                for number in range(3):
                    os.kill(pid, signal.SIGKILL)
                    for name in range(30 * number, 30 * number + 30):
                        path = f"train/cat/{name}.jpg"
                        with open(f"{mount}/{path}", "rb") as through, open(f"{source}/{path}", "rb") as direct:
                            assert through.read() == direct.read(), path
                    pid = daemon(pid)
                """, point, dataset));
        Ended unmounted = user.clairfs("umount", point);
        String log = user.runAsRoot(List.of("sh", "-c", "cat '" + user.home() + "'/.local/state/clairfs/*.log"))
                .out();
        assertThat(reader.exit()).as("%s; the log: %s", reader.err(), log).isZero();
        assertThat(unmounted.exit()).as("%s; the log: %s", unmounted.err(), log).isZero();
        assertThat(fixture.processes()).isEmpty();
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
            long before = source.bytesBelow("train");
            long pid = mount.pid();
            ProcessHandle.of(pid).orElseThrow().destroyForcibly();
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

    /** A daemon that dies after it has a supervisor of its own, and before it has ended the one that started it, has two. */
    @Tag("exhaustive")
    @Test
    void deathThatAnotherSupervisorHasTakenOn_isLeftToIt() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 1_000);
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        List<ProcessHandle> supervisors = daemon.children().toList();
        assertThat(supervisors).isNotEmpty();
        try (DirectoryStream<Path> kept =
                Files.newDirectoryStream(fixture.directory().resolve("clairfs"), "*.restart")) {
            Files.createDirectory(kept.iterator().next().resolve("died." + daemon.pid()));
        }
        daemon.destroyForcibly();
        Waiting.until("its supervisor has ended", () -> supervisors.stream().noneMatch(ProcessHandle::isAlive));
        assertThat(fixture.logs()).doesNotContain("starting it again");
        assertThat(cat(mount, 1).exit()).as("nobody else holds the mount here").isNotZero();
        fixture.clairfs("umount", mount.point()).succeeded();
    }

    /** The kernel tells no shell of the end then; it looks once a second. */
    @Tag("exhaustive")
    @Test
    void withoutSetpriv_killedDaemonIsStartedAgainToo() throws Exception {
        makeDataset();
        Path programs = fixture.newDirectory("programs");
        for (String program : List.of("setsid", "fusermount")) {
            Files.createSymbolicLink(
                    programs.resolve(program),
                    Path.of(Ended.run(List.of("sh", "-c", "command -v " + program), Map.of())
                            .succeeded()
                            .strip()));
        }
        LiveMount mount = fixture.mountAt(
                command -> Stream.concat(Stream.of("env", "PATH=" + programs), Stream.of(command))
                        .toArray(String[]::new),
                fixture.newDirectory("point"),
                dataset,
                "--restarts",
                "9");
        mount.awaitSupervisor();
        killAndAwaitNext(mount, mount.pid());
        mount.awaitSupervisor();
        assertThat(cat(mount, 1).succeeded()).isNotEmpty();
        fixture.clairfs("umount", mount.point()).succeeded();
        Waiting.until("nothing is left", () -> fixture.processes().isEmpty());
        assertThat(fixture.mounts()).isEmpty();
    }

    // Promise D4
    @Test
    void mountThatIsTakenAwayWhileNoDaemonServesIt_staysAway() throws Exception {
        makeDataset();
        LiveMount mount = mount(dataset, 5);
        ProcessHandle daemon = ProcessHandle.of(mount.pid()).orElseThrow();
        daemon.destroyForcibly();
        ProcessEnd.await(daemon, 120);
        Ended.run(List.of("fusermount", "-u", "-z", mount.point().toString()), Map.of())
                .succeeded();

        Waiting.until(
                "nothing is left",
                () -> fixture.processes().isEmpty() && fixture.mounts().isEmpty());
        assertThat(mount.point()).isEmptyDirectory();
    }
}
