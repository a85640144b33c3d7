package io.clairfs.tools.mount;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The jobs of a random test, and the trainers that read in their order. */
final class StressJobs {
    private static final String[] SAMPLERS = {
        "torch-distributed", "torch-randperm", "numpy-legacy", "python-random", "sequential"
    };
    private static final int EPOCHS = 50;

    private final StressReport report;
    private final StressReads reads;
    private final StressCrowd crowd;
    private final Random random;
    private final Map<StressNode, Follower> followers = new HashMap<>();

    /** A trainer that reads in the order of a job. */
    private record Follower(List<String> index, List<String> order, int[] position) {}

    StressJobs(StressReport report, StressReads reads, StressCrowd crowd, Random random) {
        this.crowd = crowd;
        this.report = report;
        this.reads = reads;
        this.random = random;
    }

    void start(StressNode node) throws Exception {
        String name = "job" + random.nextInt(3);
        String sampler = SAMPLERS[random.nextInt(SAMPLERS.length)];
        String line = "name=" + name + " seed=" + random.nextInt(1000) + " sampler=" + sampler + " epochs=" + EPOCHS
                + " batch=" + (1 + random.nextInt(8));
        Follower follower = node.control(() -> {
            try {
                node.mount().job(line);
            } catch (IOException e) {
                throw new IOException(line + ": " + node.mount().lines("errors").getLast(), e);
            }
            return new Follower(node.mount().lines("index"), node.mount().order(name, 0, 0), new int[1]);
        });
        // A thread of the crowd is the trainer of the first epoch. This test reads parts of it, too.
        crowd.follow(
                node,
                follower.order().stream()
                        .map(sample -> follower.index().get(Integer.parseInt(sample)))
                        .toList());
        followers.put(node, follower);
        report.fault("job started", 1);
    }

    void startWrong(String when, StressNode node) throws Exception {
        boolean taken = node.control(() -> {
            try {
                node.mount().job("seed=1 colour=blue");
                return true;
            } catch (IOException refused) {
                return false;
            }
        });
        if (taken) {
            report.failure(when + ": a wrong job was taken");
        }
        report.fault("wrong job line", 1);
    }

    void stop(StressNode node, Random which) throws Exception {
        List<String> running = node.control(() -> node.mount().lines("job"));
        if (!running.isEmpty()) {
            String name = running.get(which.nextInt(running.size())).replaceAll("^.*name=([^ ]*).*$", "$1");
            node.control(() -> {
                node.mount().job("stop=" + name);
                return name;
            });
            report.fault("job stopped", 1);
        }
    }

    /** Reads on in the order of the node's job, or of a job that was stopped meanwhile. */
    void follow(String when, StressNode node) throws Exception {
        Follower follower = followers.get(node);
        if (follower == null) {
            return;
        }
        for (int i = 3 + random.nextInt(15);
                i > 0 && follower.position()[0] < follower.order().size();
                i--) {
            int sample = Integer.parseInt(follower.order().get(follower.position()[0]++));
            reads.whole(when, node, follower.index().get(sample));
        }
    }

    /** Forgets the node's jobs, because its daemon ends. */
    void forget(StressNode node) {
        followers.remove(node);
    }
}
