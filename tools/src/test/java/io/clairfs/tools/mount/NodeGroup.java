package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;

/** Daemons on loopback that share the caches for one dataset, and a trainer for each of them. */
record NodeGroup(MountFixture fixture, Path dataset, int samples, List<LiveMount> nodes) {
    private static final int FIRST_PORT = 20_000;
    private static final int LAST_PORT = 50_000;

    /** Random samples of one size in a new directory. */
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

    /** Mounts {@code source}, which shows {@code dataset}, on so many nodes and waits until all know each other. */
    static NodeGroup mount(MountFixture fixture, Path dataset, int samples, SlowMount source, int count, long cache)
            throws IOException, InterruptedException {
        int port = ThreadLocalRandom.current().nextInt(FIRST_PORT, LAST_PORT) / 10 * 10;
        List<LiveMount> nodes = new ArrayList<>();
        for (int node = 0; node < count; node++) {
            nodes.add(fixture.mount(
                    source.point(),
                    "--index-rule",
                    "sorted",
                    "--memory",
                    cache + "B",
                    "--staging",
                    "1MiB",
                    "--loaders",
                    "4",
                    "--bind",
                    "127.0.0.1:" + (port + 2 * node),
                    "--members",
                    "127.0.0.1:" + port));
        }
        for (LiveMount node : nodes) {
            node.await("among its peers", s -> s.path("peers").size() == count - 1);
        }
        return new NodeGroup(fixture, dataset, samples, nodes);
    }

    /** Starts a job of which each node reads one rank. */
    void job(String line) throws IOException {
        for (int rank = 0; rank < nodes.size(); rank++) {
            nodes.get(rank).job(line + " world=" + nodes.size() + " ranks=" + rank);
        }
    }

    /** Reads the epochs of one rank through its node, and requires that every byte is the dataset's. */
    void train(int rank, int epochs, int pauseUs) throws IOException, InterruptedException {
        int mine = samples / nodes.size();
        for (int epoch = 0; epoch < epochs; epoch++) {
            String equal = fixture.python(
                    "read_in_order.py",
                    nodes.get(rank).point(),
                    dataset,
                    "train",
                    epoch + "/" + rank,
                    mine,
                    pauseUs,
                    0);
            assertThat(equal.strip()).isEqualTo(Integer.toString(mine));
        }
    }
}
