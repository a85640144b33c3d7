package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Two nodes that train in a view, and one on which no rank reads: it makes their samples. Each has a network of its own. */
@Timeout(600)
final class OffloadGroupTest {
    private static final int TRAINERS = 2;
    private static final int MAKER = 2;
    private static final int SAMPLES = 600;
    private static final String VIEW = "decode,shorter=120";

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    private static Path source;
    private static Path shown;
    private static long shownBytes;

    @BeforeAll
    static void makeImages(@TempDir Path directory) throws Exception {
        source = Files.createDirectory(directory.resolve("source"));
        shown = Files.createDirectory(directory.resolve("shown"));
        shownBytes = ShownImages.make(source, shown, VIEW, SAMPLES, 400, 300);
    }

    /** The trainers have so much memory for samples, the maker next to none: it is nobody's home. */
    private NodeGroup group(long trainersMemory, String... more) throws IOException, InterruptedException {
        NodeNetwork network = fixture.network(TRAINERS + 1, 1_000_000_000L);
        return NodeGroup.of(fixture, shown, SAMPLES, source, network, node -> {
                    List<String> options =
                            new ArrayList<>(List.of("--view", VIEW, "--staging", "1MiB", "--loaders", "4", "--memory"));
                    options.add(node == MAKER ? "1KiB" : trainersMemory + "B");
                    options.addAll(List.of(more));
                    return options;
                })
                .mount(TRAINERS + 1);
    }

    private static List<RankTrainer> trainers(NodeGroup group, Training training) throws IOException {
        List<RankTrainer> trainers = new ArrayList<>();
        for (int node = 0; node < TRAINERS; node++) {
            Path point = group.nodes().get(node).point();
            trainers.add(group.trainer("rank_reader.py", training, point, node, TRAINERS));
        }
        return trainers;
    }

    private static long made(NodeGroup group, int node, String what) throws IOException {
        return group.nodes().get(node).status().at("/view/" + what).asLong();
    }

    // Promise V7
    @Tag("exhaustive")
    @Test
    void nodeWithoutRanks_makesMostOfWhatTheTrainersRead() throws Exception {
        NodeGroup group = group(2 * shownBytes);
        Training training = new Training("offloaded", 5, 2, 8, 5);
        group.startOffloaded(training, TRAINERS, MAKER);
        for (int node = 0; node < TRAINERS; node++) {
            group.nodes()
                    .get(node)
                    .await("filled", s -> s.at("/tiers/0/samples").asInt() >= SAMPLES / TRAINERS);
        }
        List<RankTrainer> trainers = trainers(group, training);
        group.begin(training);
        for (RankTrainer trainer : trainers) {
            double _ = trainer.finished();
        }
        long here = made(group, 0, "made") + made(group, 1, "made");
        long elsewhere = made(group, 0, "made_elsewhere") + made(group, 1, "made_elsewhere");
        System.out.println("made by the trainers' nodes: " + here + ", for them: " + elsewhere);
        long failed = made(group, 0, "makers_failed") + made(group, 1, "makers_failed");
        assertThat(elsewhere)
                .as("most, unless it was late, as it may be on a busy machine: %d times", failed)
                .isGreaterThan(failed == 0 ? here : 0);
        assertThat(made(group, MAKER, "made_for_peers")).isPositive();
        assertThat(made(group, MAKER, "made_elsewhere")).isZero();
    }

    // Promise V7
    // Promise V8
    @Tag("exhaustive")
    @Test
    void whereTheSourcesFilesAreKept_theyAreMadeForTheTrainersToo() throws Exception {
        NodeGroup group = group(2 * shownBytes, "--view-cache", "raw");
        Training training = new Training("raw", 5, 2, 8, 5);
        group.startOffloaded(training, TRAINERS, MAKER);
        List<RankTrainer> trainers = trainers(group, training);
        group.begin(training);
        for (RankTrainer trainer : trainers) {
            double _ = trainer.finished();
        }
        long elsewhere = made(group, 0, "made_elsewhere") + made(group, 1, "made_elsewhere");
        System.out.println("made by the trainers' nodes: " + (made(group, 0, "made") + made(group, 1, "made"))
                + ", for them: " + elsewhere);
        assertThat(elsewhere).isPositive();
        for (LiveMount node : group.nodes()) {
            assertThat(node.status().at("/view/kept").asString()).isEqualTo("raw");
            assertThat(node.lines("errors")).allMatch(line -> line.contains("the secret in"));
        }
        long keptBytes = 0;
        for (int node = 0; node < TRAINERS; node++) {
            keptBytes +=
                    group.nodes().get(node).status().at("/tiers/0/used_bytes").asLong();
        }
        assertThat(keptBytes)
                .as("the files take less room than what is made of them")
                .isBetween(1L, shownBytes - 1);
    }

    // Promise V7
    @Test
    void makerThatIsKilledInTheMiddleOfAnEpoch_costsNoByte() throws Exception {
        NodeGroup group = group(shownBytes / 8);
        Training training = new Training("killed", 7, Training.NO_END, 8, 5);
        group.startOffloaded(training, TRAINERS, MAKER);
        List<RankTrainer> trainers = trainers(group, training);
        group.begin(training);
        for (int node = 0; node < TRAINERS; node++) {
            group.nodes()
                    .get(node)
                    .await("given samples", s -> s.at("/view/made_elsewhere").asLong() > SAMPLES / 20);
        }
        ProcessHandle.of(group.pids().get(MAKER)).orElseThrow().destroyForcibly();
        long madeBefore = made(group, 0, "made");
        for (RankTrainer trainer : trainers) {
            trainer.awaitMore(2);
        }
        for (RankTrainer trainer : trainers) {
            double _ = trainer.finish();
        }
        assertThat(made(group, 0, "made")).isGreaterThan(madeBefore);
        for (int node = 0; node < TRAINERS; node++) {
            assertThat(group.nodes().get(node).status().at("/reads/errors").asLong())
                    .isZero();
        }
    }

    // Promise V8
    @Tag("exhaustive")
    @Test
    void auto_isDecidedOnceTheDatasetIsListed_andShowsTheSame() throws Exception {
        for (long memory : new long[] {2 * shownBytes, 1L << 20}) {
            LiveMount mount = fixture.mount(
                    source, "--view", VIEW, "--view-cache", "auto", "--index-rule", "sorted", "--memory", memory + "B");
            String kept = mount.await(
                            "decided", s -> !s.at("/view/kept").asString().equals("undecided"))
                    .at("/view/kept")
                    .asString();
            if (memory > shownBytes) {
                assertThat(kept).as("there is room for all").isEqualTo("made");
            }
            mount.job("name=auto seed=3 epochs=2 batch=8");
            for (int i = 0; i < SAMPLES; i += 7) {
                String name = "s%05d".formatted(i);
                assertThat(mount.point().resolve(name)).hasSameBinaryContentAs(shown.resolve(name));
            }
            assertThat(mount.lines("errors")).isEmpty();
        }
    }

    // Promise V7
    @Tag("exhaustive")
    @Test
    void nodeWithRanks_makesNothingForOthers() throws Exception {
        NodeGroup group = group(shownBytes / 8);
        Training training = new Training("busy", 7, 1, 8, 5);
        group.nodes().get(MAKER).job(training.line() + " world=3 ranks=2");
        group.nodes().get(0).job(training.line() + " world=3 ranks=0");
        group.nodes().get(1).job(training.line() + " world=3 ranks=1");
        for (LiveMount node : group.nodes()) {
            node.await(
                    "without a peer that makes samples",
                    s -> s.path("peers")
                            .valueStream()
                            .allMatch(peer -> peer.path("spare_threads").asInt() == 0));
        }
        long before = made(group, MAKER, "made_for_peers");
        List<RankTrainer> trainers = new ArrayList<>();
        for (int node = 0; node < group.nodes().size(); node++) {
            trainers.add(group.trainer(
                    "rank_reader.py", training, group.nodes().get(node).point(), node, 3));
        }
        group.begin(training);
        for (RankTrainer trainer : trainers) {
            double _ = trainer.finished();
        }
        assertThat(made(group, MAKER, "made_for_peers")).isEqualTo(before);
    }
}
