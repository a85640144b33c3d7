package io.clairfs.tools.mount;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Everything in a round of a random test: a failing source, its mounts, their disks and peers, the machine, and readers. */
final class StressWorld implements AutoCloseable {
    static final int READ_TIMEOUT_S = 5;

    /** The {@code --memory} of a node is 1 to 2<sup>MEMORY - 1</sup> bytes. */
    private static final int MEMORY = 21;

    /** The same for a node with a disk: smaller, so that something is left for the disk. */
    private static final int MEMORY_BESIDE_DISK = 17;

    private final MountFixture fixture;
    private final StressReport report;
    private final Parts parts = new Parts();
    private final StressMachine machine;
    private final StressSource source;
    private final StressReads reads;
    private final StressCrowd crowd;
    private final boolean disksUsed;
    private final List<StressDisk> disks = new ArrayList<>();
    private final List<StressNode> nodes = new ArrayList<>();
    private final @Nullable StressPeers peers;

    /**
     * The parts of a world. Consecutive seeds differ in them.
     *
     * @param nodes two or more are a group
     * @param process whether a process stands between the source and the nodes
     * @param liar whether a peer lies
     * @param disks whether every node has an SSD
     */
    record Arrangement(int nodes, boolean process, boolean liar, boolean disks) {
        /** An arrangement in which every fault can strike. */
        static final Arrangement ALL = new Arrangement(2, true, true, true);

        static Arrangement of(long seed) {
            return new Arrangement(1 + (int) (seed & 1), (seed & 2) == 0, (seed & 4) == 0, false);
        }
    }

    StressWorld(MountFixture fixture, StressReport report, Arrangement arrangement, Random random) throws Exception {
        this.fixture = fixture;
        this.report = report;
        disksUsed = arrangement.disks();
        try {
            fixture.guard();
            machine = part(new StressMachine(fixture, report, random));
            source = part(new StressSource(fixture, random, arrangement.process()));
            peers = arrangement.nodes() == 1
                    ? null
                    : part(new StressPeers(
                            fixture, source.dataset(), source.paths().size(), random.nextLong()));
            StressJudge judge = new StressJudge(source.truth(), source.faults(), report, READ_TIMEOUT_S);
            reads = part(new StressReads(fixture, report, source, judge));
            crowd = part(new StressCrowd(fixture, report, source, judge));
            for (int node = 0; node < arrangement.nodes(); node++) {
                mount(node, random);
            }
            if (peers != null && arrangement.liar()) {
                peers.joinAsLiar();
            }
        } catch (Exception | AssertionError e) {
            close();
            throw e;
        }
    }

    private <T extends AutoCloseable> T part(T part) {
        return parts.add(part);
    }

    private void mount(int node, Random random) throws Exception {
        StressDisk disk = part(StressDisk.of(fixture, report, random, disksUsed));
        disks.add(disk);
        List<String> options = new ArrayList<>(List.of(
                "--index-rule",
                "sorted",
                "--read-timeout",
                Integer.toString(READ_TIMEOUT_S),
                "--memory",
                (1 << random.nextInt(disksUsed ? MEMORY_BESIDE_DISK : MEMORY)) + "B",
                "--staging",
                (1 + random.nextInt(4)) + "MiB",
                "--loaders",
                Integer.toString(2 + random.nextInt(7))));
        if (peers != null) {
            options.addAll(peers.options(node));
        }
        boolean isLasting = disksUsed && node == 0;
        nodes.add(StressNode.mount(
                fixture,
                source,
                machine,
                crowd,
                () -> {
                    List<String> all = new ArrayList<>(options);
                    all.addAll(disk.options());
                    return all;
                },
                isLasting ? Clairfs::compiledAsForUsers : UnaryOperator.identity()));
    }

    StressMachine machine() {
        return machine;
    }

    StressSource source() {
        return source;
    }

    StressReads reads() {
        return reads;
    }

    StressCrowd crowd() {
        return crowd;
    }

    /** Reports the strikes of faults and the requests to the daemons so far. */
    void count() throws Exception {
        source.count(report);
        if (peers != null) {
            peers.count(report);
        }
        disks.forEach(disk -> disk.count(report));
        for (StressNode node : nodes) {
            crowd.ends(node);
        }
    }

    List<StressNode> nodes() {
        return nodes;
    }

    StressDisk disk(int node) {
        return disks.get(node);
    }

    /** The peers. Null if there is only one node. */
    @Nullable
    StressPeers peers() {
        return peers;
    }

    /**
     * Ends the faults of the source and the peers. Then every unchanged file must be readable soon, on every node. Unmounts, and reports
     * what is left.
     */
    void end(String when) throws Exception {
        source.lift();
        source.links().remove();
        if (peers != null) {
            peers.beHonest();
        }
        reads.awaitRoom(0);
        crowd.end();
        count();
        for (StressNode node : nodes) {
            reads.requireAllReadable(when, node);
        }
        for (StressNode node : nodes) {
            JsonNode status = node.control(() -> node.mount().status());
            report.noticed("damaged samples", status.path("checksum_failures").asLong());
            report.noticed(
                    "overflows of reports", status.at("/reads/reports_lost").asLong());
            node.umount();
        }
        if (!source.links().untouched()) {
            report.failure(when + ": a planted link was followed");
        }
        disks.forEach(disk -> disk.putInFront(report));
        close();
        report.leftMounted(fixture.mounts());
    }

    /** Ends everything except the clairfs mounts, which the fixture ends. */
    @Override
    public void close() throws IOException {
        parts.close();
    }
}
