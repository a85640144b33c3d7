package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Daemons that share their caches for one dataset, each in its own network or all on loopback.
 *
 * @param source shows {@code dataset}
 * @param network null for loopback
 * @param storage the options of each node for its caches, loaders and staging buffer
 */
record NodeGroup(
        MountFixture fixture,
        Path dataset,
        int samples,
        Path source,
        @Nullable NodeNetwork network,
        int port,
        Path secret,
        Storage storage,
        List<LiveMount> nodes,
        List<Long> pids) {
    /** The group removes a silent node after 20 s, and separated halves look for each other every 15 s. */
    static final long MEMBERSHIP_PATIENCE_S = 150;

    /** The staging buffer of {@link Storage#memory}. */
    static final long STAGING_BYTES = 1 << 20;

    /** Two ports for each node, and some for further members. */
    private static final int PORTS = 20;

    /** Options of a node's mount. */
    @FunctionalInterface
    interface Storage {
        List<String> options(int node) throws IOException;

        /** Options with {@code bytes} of memory, and little else. */
        static Storage memory(long bytes) {
            return _ -> List.of("--memory", bytes + "B", "--staging", STAGING_BYTES + "B", "--loaders", "4");
        }
    }

    /** Makes random samples of one size in a new directory. */
    static Path makeSamples(MountFixture fixture, int samples, int bytes) throws IOException {
        Path directory = fixture.newDirectory("dataset");
        Random random = new Random(3);
        byte[] content = new byte[bytes];
        for (int i = 0; i < samples; i++) {
            random.nextBytes(content);
            Files.write(directory.resolve("s" + i), content);
        }
        return directory;
    }

    /** Makes a group without nodes. Its nodes will be on loopback, or each in its own network of {@code network}. */
    static NodeGroup of(
            MountFixture fixture,
            Path dataset,
            int samples,
            Path source,
            @Nullable NodeNetwork network,
            Storage storage)
            throws IOException {
        Path secret = fixture.newDirectory("secret").resolve("secret");
        Files.writeString(secret, "only the nodes of this test know it", UTF_8);
        int port = TestPorts.free(PORTS);
        return new NodeGroup(
                fixture,
                dataset,
                samples,
                source,
                network,
                port,
                secret,
                storage,
                new ArrayList<>(),
                new ArrayList<>());
    }

    /** The address of a node in the group. */
    String bind(int node) {
        return network == null ? "127.0.0.1:" + (port + 2 * node) : network.address(node) + ":" + port;
    }

    /** Mounts {@code more} nodes and waits until all nodes know each other. */
    NodeGroup mount(int more) throws IOException, InterruptedException {
        for (int i = 0; i < more; i++) {
            nodes.add(mountAt(fixture.newDirectory("mnt"), nodes.size()));
            pids.add(nodes.getLast().pid());
        }
        awaitWhole();
        return this;
    }

    /** Remounts a node that is gone, at the same place. */
    void again(int node) throws IOException, InterruptedException {
        nodes.set(node, mountAt(nodes.get(node).point(), node));
        pids.set(node, nodes.get(node).pid());
    }

    private LiveMount mountAt(Path point, int node) throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(storage.options(node));
        options.addAll(List.of("--index-rule", "sorted", "--bind", bind(node)));
        options.addAll(List.of("--members", bind(0) + "," + bind(1), "--secret-file", secret.toString()));
        return fixture.mountAt(
                command -> network == null ? command : network.inside(node, command),
                point,
                source,
                options.toArray(String[]::new));
    }

    /** Waits until every node has every other node among its peers, alive. If that fails, tells what each daemon does and what it logged. */
    void awaitWhole() throws IOException, InterruptedException {
        try {
            for (LiveMount node : nodes) {
                node.await(
                        "with " + (nodes.size() - 1) + " peers that answer",
                        s -> s.path("peers")
                                        .valueStream()
                                        .filter(peer -> peer.path("alive").asBoolean())
                                        .count()
                                == nodes.size() - 1,
                        MEMBERSHIP_PATIENCE_S);
            }
        } catch (AssertionError e) {
            for (LiveMount node : nodes) {
                System.out.println(node.point() + "\n" + node.status().path("group") + "\n" + node.threads());
            }
            System.out.println(fixture.logs());
            throw e;
        }
    }

    /**
     * Samples that nodes read from the source although a peer should have had them, for the peer was slow: on a busy machine some are, and rightly
     * the source is asked. Each is read there at most once more than by nodes whose peers are quick.
     */
    long peersPassedOver() throws IOException, InterruptedException {
        long sum = 0;
        for (LiveMount node : nodes) {
            sum += node.status().path("peers_passed_over").asLong();
        }
        return sum;
    }

    /** Waits until these nodes no longer count the node as alive. */
    void awaitGone(int gone, List<LiveMount> others) throws IOException, InterruptedException {
        for (LiveMount node : others) {
            node.await(
                    "without " + bind(gone),
                    s -> s.path("peers")
                            .valueStream()
                            .noneMatch(peer -> peer.path("name").asString().equals(bind(gone))
                                    && peer.path("alive").asBoolean()),
                    MEMBERSHIP_PATIENCE_S);
        }
    }

    /** Starts a job of which each node reads one rank, told to the first node alone, and waits until every node has its part of the plan. */
    void startPlanned(String line) throws IOException, InterruptedException {
        nodes.getFirst().job(line + " world=" + nodes.size() + " ranks=0");
        for (int rank = 1; rank < nodes.size(); rank++) {
            nodes.get(rank).job("ranks=" + rank);
        }
        for (LiveMount node : nodes) {
            node.await(
                    "with a plan",
                    s -> s.at("/group/plan").asString().equals("made")
                            && !s.path("jobs").isEmpty());
        }
    }

    /** Starts a job on the first {@code trainers} nodes, each of which reads a rank; {@code maker} reads none and makes their samples. */
    void startOffloaded(Training training, int trainers, int maker) throws IOException, InterruptedException {
        String line = training.line() + " world=" + trainers;
        nodes.get(maker).job(line + " ranks=none");
        for (LiveMount node : nodes.subList(0, trainers)) {
            node.await(
                    "with a peer that makes samples",
                    s -> s.path("peers")
                            .valueStream()
                            .anyMatch(peer -> peer.path("name").asString().equals(bind(maker))
                                    && peer.path("spare_threads").asInt() > 0));
        }
        for (int node = 0; node < trainers; node++) {
            nodes.get(node).job(line + " ranks=" + node);
        }
    }

    /** Starts a job of which each node reads one rank. Waiting trainers begin. */
    void start(Training training) throws IOException {
        for (int node = 0; node < nodes.size(); node++) {
            tell(training, node);
        }
        begin(training);
    }

    /** Writes a job on one node. The node reads the rank of its own number. */
    void start(Training training, int node) throws IOException {
        tell(training, node);
        begin(training);
    }

    private void tell(Training training, int node) throws IOException {
        nodes.get(node).job(training.line() + " world=" + nodes.size() + " ranks=" + node);
    }

    /** Lets the trainers begin. */
    void begin(Training training) throws IOException {
        if (!Files.exists(go(training))) {
            Files.createFile(go(training));
        }
    }

    private Path go(Training training) {
        return fixture.directory().resolve(training.job() + ".go");
    }

    /** Starts a plain reader of the rank that a node reads. */
    RankTrainer plain(Training training, int node) throws IOException {
        return trainer("rank_reader.py", training, nodes.get(node).point(), node, nodes.size());
    }

    /** Starts a PyTorch DataLoader of the rank that a node reads. */
    RankTrainer torch(Training training, int node) throws IOException {
        return trainer("rank_torch.py", training, nodes.get(node).point(), node, nodes.size());
    }

    /** Starts a PyTorch DataLoader of a rank that reads the source itself. */
    RankTrainer direct(Training training, int rank, int world) throws IOException {
        return trainer("rank_torch.py", training, source, rank, world);
    }

    /** Starts a reader of one rank of so many, in the network of the node of that number. */
    RankTrainer trainer(String script, Training training, Path root, int rank, int world) throws IOException {
        String name = training.job() + "-" + rank;
        Path stop = fixture.directory().resolve(name + ".stop");
        List<String> command = fixture.pythonCommand(
                script,
                root,
                dataset,
                training.job(),
                rank,
                world,
                training.epochs(),
                training.batch(),
                training.computeMs(),
                stop,
                go(training),
                training.seed());
        if (network != null) {
            command = List.of(network.inside(rank, command.toArray(String[]::new)));
        }
        return new RankTrainer(name, fixture.start(name, command), fixture.said(name), stop);
    }
}
