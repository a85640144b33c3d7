package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Two nodes with several links between them: one has memory for all samples and reads nothing, the other one reads them. */
final class RailGroup {
    static final int HOLDER = 0;
    static final int READER = 1;

    final NodeNetwork network;
    final NodeGroup group;
    private final int rails;

    /** {@code bytesPerSecond} are those of each link. Options that name the links are left out where {@code named} is false. */
    RailGroup(MountFixture fixture, Path dataset, int samples, Path source, boolean named, long... bytesPerSecond)
            throws IOException, InterruptedException {
        network = fixture.network(2, bytesPerSecond[0]);
        for (int rail = 1; rail < bytesPerSecond.length; rail++) {
            network.addRail(bytesPerSecond[rail]);
        }
        rails = bytesPerSecond.length;
        NodeNetwork links = network;
        group = NodeGroup.of(fixture, dataset, samples, source, links, node -> {
                    List<String> options = new ArrayList<>(List.of("--staging", "32MiB", "--loaders", "16"));
                    options.addAll(List.of("--memory", node == HOLDER ? "1GiB" : "1KiB"));
                    if (named) {
                        options.addAll(List.of(
                                "--rail",
                                IntStream.range(0, rails)
                                        .mapToObj(rail -> links.address(node, rail))
                                        .collect(Collectors.joining(","))));
                    }
                    return options;
                })
                .mount(2);
    }

    LiveMount reader() {
        return group.nodes().get(READER);
    }

    /** Starts a training of which the reader reads all. */
    RankTrainer start(Training training) throws IOException {
        group.nodes().get(HOLDER).job(training.line() + " world=1 ranks=none");
        reader().job(training.line() + " world=1 ranks=0");
        RankTrainer trainer = group.trainer("rank_reader.py", training, reader().point(), 0, 1);
        group.begin(training);
        return trainer;
    }

    /** Bytes of samples that came to the reader by each link; null where it knows of one alone. */
    long @Nullable [] received() throws IOException {
        JsonNode links = reader().status().at("/peers/0/rails");
        return links.isEmpty()
                ? null
                : links.valueStream()
                        .mapToLong(rail -> rail.path("bytes").asLong())
                        .toArray();
    }

    /** Bytes of samples that came to the reader from the holder. */
    long fromPeer() throws IOException {
        return reader().status().at("/fetched/peer/bytes").asLong();
    }
}
