package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;

/**
 * A fault strikes a node of a group of four, or the network between the nodes, during training. The other trainers go on, get the right
 * bytes, and wait for each read no longer than promised. Each test restores the group.
 */
@Timeout(600)
final class PeerFaultTest {
    private static final int NODES = 4;
    private static final int LAST = NODES - 1;
    private static final int SAMPLES = 200;
    private static final int SAMPLE_BYTES = 30_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final int BATCH = 4;
    private static final double COMPUTE_MS = 60;
    private static final long SOURCE_BYTES_PER_SECOND = 30_000_000;

    /** The promise is 2 s for peers, beyond the time of the source. A read that takes longer than this hangs, even on a busy machine. */
    private static final double LONGEST_READ_S = 60;

    @RegisterExtension
    private static final MountFixture FIXTURE = MountFixture.withNetworks();

    /** Groups that no test uses now. Two tests run at the same time, each with its own group. */
    private static final BlockingQueue<Nodes> FREE = new LinkedBlockingQueue<>();

    private static final int GROUPS = 2;
    private static final List<SlowMount> SOURCES = Collections.synchronizedList(new ArrayList<>());

    private record Nodes(NodeNetwork network, NodeGroup group) {}

    private NodeNetwork network;
    private NodeGroup group;

    @BeforeAll
    static void mountAll() throws Exception {
        Path dataset = NodeGroup.makeSamples(FIXTURE, SAMPLES, SAMPLE_BYTES);
        try (ExecutorService atOnce = Executors.newFixedThreadPool(GROUPS)) {
            Callable<Nodes> one = () -> make(dataset);
            for (Future<Nodes> made : atOnce.invokeAll(Collections.nCopies(GROUPS, one))) {
                FREE.add(made.get());
            }
        }
    }

    private static Nodes make(Path dataset) throws Exception {
        SlowMount source = SlowMount.mount(
                dataset,
                FIXTURE.newDirectory("slow"),
                new SlowSourceSpec(SOURCE_BYTES_PER_SECOND, Duration.ofMillis(2)));
        SOURCES.add(source);
        NodeNetwork network = FIXTURE.network(NODES, 10 * SOURCE_BYTES_PER_SECOND);
        NodeGroup group =
                NodeGroup.of(FIXTURE, dataset, SAMPLES, source.point(), network, NodeGroup.Storage.memory(DATASET / 3));
        return new Nodes(network, group.mount(NODES));
    }

    @AfterAll
    static void closeSources() {
        FREE.clear();
        SOURCES.forEach(SlowMount::close);
        SOURCES.clear();
    }

    @BeforeEach
    void takeAGroup() throws Exception {
        Nodes free = FREE.take();
        network = free.network;
        group = free.group;
        group.awaitWhole();
    }

    @AfterEach
    void giveItBack() {
        FREE.add(new Nodes(network, group));
    }

    // Promise G4, G7
    @Test
    @Execution(CONCURRENT)
    void a_node_is_killed_and_comes_back() throws Exception {
        List<RankTrainer> trainers = train("kill", 0, NODES);
        signal("KILL");
        RankTrainer victim = trainers.removeLast();
        victim.process().destroyForcibly().waitFor();
        more(trainers, 3);
        group.awaitGone(LAST, group.nodes().subList(0, LAST));

        group.again(LAST);
        group.awaitWhole();
        trainers.addAll(train("kill", LAST, NODES));
        more(trainers, 2);
        finish("node killed and back", trainers, trainers.size());
    }

    // Promise G4, G7
    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void a_node_is_stopped_and_goes_on() throws Exception {
        List<RankTrainer> trainers = train("stop", 0, NODES);
        signal("STOP");
        try {
            more(trainers.subList(0, LAST), 4);
        } finally {
            signal("CONT");
        }
        more(trainers, 2);
        finish("node stopped", trainers, LAST);
    }

    // Promise G4, G7
    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void a_node_is_cut_off() throws Exception {
        List<RankTrainer> trainers = train("cut", 0, NODES);
        network.cut(LAST);
        try {
            more(trainers, 4);
        } finally {
            network.mend(LAST);
        }
        more(trainers, 2);
        finish("node cut off", trainers, trainers.size());
    }

    // Promise G4, G7
    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void the_group_is_split_in_halves_that_meet_again() throws Exception {
        List<RankTrainer> trainers = train("split", 0, NODES);
        network.split(NODES / 2);
        try {
            for (LiveMount node : group.nodes()) {
                node.await(
                        "in a half of two nodes",
                        s -> s.at("/group/nodes").size() == 2,
                        NodeGroup.MEMBERSHIP_PATIENCE_S);
            }
            more(trainers, 1);
        } finally {
            network.join();
        }
        group.awaitWhole();
        more(trainers, 1);
        finish("group split in halves", trainers, trainers.size());
    }

    // Promise G4, G7
    @Tag("exhaustive")
    @Test
    @Execution(CONCURRENT)
    void a_node_joins_late() throws Exception {
        FIXTURE.clairfs("umount", group.nodes().get(LAST).point()).succeeded();
        group.awaitGone(LAST, group.nodes().subList(0, LAST));
        List<RankTrainer> trainers = train("late", 0, LAST);
        more(trainers, 1);
        group.again(LAST);
        trainers.addAll(train("late", LAST, NODES));
        group.awaitWhole();
        more(trainers, 2);
        finish("node joined late", trainers, trainers.size());
    }

    /** Starts the job and a trainer on each of these nodes, and waits until all of them are past their first epoch. */
    private List<RankTrainer> train(String job, int from, int to) throws Exception {
        List<RankTrainer> trainers = new ArrayList<>();
        Training training = new Training(job, 4, Training.NO_END, BATCH, COMPUTE_MS);
        for (int node = from; node < to; node++) {
            group.start(training, node);
        }
        for (int node = from; node < to; node++) {
            trainers.add(group.plain(training, node));
        }
        more(trainers, 1);
        return trainers;
    }

    private static void more(List<RankTrainer> trainers, int epochs) throws Exception {
        for (RankTrainer trainer : trainers) {
            trainer.awaitMore(epochs);
        }
    }

    /** Ends the trainers. The bound applies to the first {@code bounded} ones; those on a stopped node wait until it goes on. */
    private void finish(String what, List<RankTrainer> trainers, int bounded) throws Exception {
        double longest = 0;
        for (RankTrainer trainer : trainers) {
            double took = trainer.finish();
            longest = trainers.indexOf(trainer) < bounded ? Math.max(longest, took) : longest;
        }
        System.out.printf("%s: longest read %.2f s%n", what, longest);
        for (LiveMount node : group.nodes()) {
            assertThat(node.status().at("/reads/errors").asInt()).isZero();
            node.job("stop=" + trainers.getFirst().name().split("-", 2)[0]);
        }
        assertThat(longest).as("longest read").isLessThan(LONGEST_READ_S);
    }

    private void signal(String signal) throws Exception {
        long pid = group.pids().get(LAST);
        Ended.run(List.of("kill", "-" + signal, Long.toString(pid)), Map.of()).succeeded();
    }
}
