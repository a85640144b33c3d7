package io.clairfs.tools.mount;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Everything that is there in a round of a random test: a source that fails, the mounts that show it, their disks and peers, the machine, and readers. */
final class StressWorld implements AutoCloseable {
    static final int READ_TIMEOUT_S = 5;

    private final MountFixture fixture;
    private final StressReport report;
    private final Parts parts = new Parts();
    private final StressMachine machine;
    private final StressSource source;
    private final StressReads reads;
    private final List<StressDisk> disks = new ArrayList<>();
    private final List<StressNode> nodes = new ArrayList<>();
    private final @Nullable StressPeers peers;

    /**
     * What there is; every seed of a few in a row has something else.
     *
     * @param nodes two or more are a group
     * @param process whether a process stands between the source and the nodes
     * @param liar whether a peer lies
     */
    record Arrangement(int nodes, boolean process, boolean liar) {
        static Arrangement of(long seed) {
            return new Arrangement(1 + (int) (seed & 1), (seed & 2) == 0, (seed & 4) == 0);
        }

        Arrangement withNodes(int count) {
            return new Arrangement(count, process, liar);
        }
    }

    StressWorld(MountFixture fixture, StressReport report, Arrangement arrangement, Random random) throws Exception {
        this.fixture = fixture;
        this.report = report;
        try {
            machine = part(new StressMachine(fixture, report));
            source = part(new StressSource(fixture, random, arrangement.process()));
            peers = arrangement.nodes() == 1
                    ? null
                    : part(new StressPeers(
                            fixture, source.dataset(), source.paths().size(), random.nextLong()));
            reads = part(new StressReads(fixture, report, source));
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
        StressDisk disk = part(StressDisk.of(fixture, report, random));
        disks.add(disk);
        List<String> options = new ArrayList<>(List.of(
                "--index-rule",
                "sorted",
                "--read-timeout",
                Integer.toString(READ_TIMEOUT_S),
                "--memory",
                (1 << random.nextInt(21)) + "B",
                "--staging",
                (1 + random.nextInt(4)) + "MiB",
                "--loaders",
                Integer.toString(2 + random.nextInt(7))));
        if (peers != null) {
            options.addAll(peers.options(node));
        }
        nodes.add(StressNode.mount(fixture, source, machine, () -> {
            List<String> all = new ArrayList<>(options);
            all.addAll(disk.options());
            return all;
        }));
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

    List<StressNode> nodes() {
        return nodes;
    }

    StressDisk disk(int node) {
        return disks.get(node);
    }

    /** Null where there is one node only. */
    @Nullable
    StressPeers peers() {
        return peers;
    }

    /** With all faults over, every file that did not change must be readable again soon, on every node. Then unmounts; what is left is reported. */
    void end(String when) throws Exception {
        source.lift();
        if (peers != null) {
            peers.beHonest();
        }
        reads.awaitRoom(0);
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
        source.count(report);
        if (peers != null) {
            peers.count(report);
        }
        disks.forEach(disk -> disk.putInFront(report));
        close();
        report.leftMounted(fixture.mounts());
    }

    /** Ends what is not a mount of ours; those the fixture ends. */
    @Override
    public void close() throws IOException {
        parts.close();
    }
}
