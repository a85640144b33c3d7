package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A silent peer costs a reader time, but never the sample: the source serves it within the reader's timeout. */
@Timeout(600)
final class PeerPatienceTest {
    private static final int READ_TIMEOUT_S = 26;

    /** Large enough for a bound of 14 s from peers, which have half of the read timeout, and too small to be read in pieces. */
    private static final int SAMPLE_BYTES = 60_000_000;

    private static final long HANDSHAKE_BYTES = 512;

    /** Several samples, because the first request may find no connection to the peer and then tests nothing. */
    private static final int SAMPLES = 4;

    /** Each sample again, for on a busy machine the connection may take as long as several reads. */
    private static final int ROUNDS = 5;

    /** So slow that any peer seems quicker, however busy the machine is: a sample takes a second. */
    private static final SlowSourceSpec SLOWER_THAN_PEERS = new SlowSourceSpec(60_000_000, Duration.ofMillis(100));

    private static final String DROP_PAGES =
            "import os, sys; os.posix_fadvise(os.open(sys.argv[1], os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)";

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    // Promise G3
    @Test
    void large_sample_of_a_silent_peer_comes_from_the_source_within_the_read_timeout() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), SLOWER_THAN_PEERS)) {
            NodeGroup group = NodeGroup.of(
                            fixture,
                            dataset,
                            1,
                            source.point(),
                            null,
                            _ -> List.of("--memory", "1MiB", "--read-timeout", Integer.toString(READ_TIMEOUT_S)))
                    .mount(1);
            LiveMount node = group.nodes().getFirst();
            try (LyingPeer silent = new LyingPeer(
                    group,
                    1,
                    256L << 20,
                    (_, _, before) -> before < HANDSHAKE_BYTES ? Relay.Fate.PASSED : Relay.Fate.KEPT)) {
                node.await(
                        "told what the other holds",
                        s -> s.path("peers")
                                .valueStream()
                                .anyMatch(peer -> peer.path("samples").asInt() == SAMPLES));
                for (int read = 0; read < ROUNDS * SAMPLES && silent.lies() == 0; read++) {
                    String name = "s" + read % SAMPLES;
                    assertThat(Files.mismatch(node.point().resolve(name), dataset.resolve(name)))
                            .isEqualTo(-1);
                    Ended.run(
                                    List.of(
                                            "python3",
                                            "-c",
                                            DROP_PAGES,
                                            node.point().resolve(name).toString()),
                                    Map.of())
                            .succeeded();
                }
                assertThat(silent.lies())
                        .as("pieces kept back by " + node.status().path("peers"))
                        .isPositive();
            }
        }
    }
}
