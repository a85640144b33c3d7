package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A peer sends wrong answers, or none. The trainers of the other nodes get the right bytes, and wait no longer than promised. The peer is
 * an ordinary member that announces every sample and is the home of nearly half of them.
 */
@Timeout(600)
final class PeerWireTest {
    private static final int NODES = 2;
    private static final int SAMPLES = 240;
    private static final int SAMPLE_BYTES = 30_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final int EPOCHS = 3;
    private static final int BATCH = 4;
    private static final double COMPUTE_MS = 20;
    private static final long SEED = 20_261_122;

    /** The promise is 2 s for peers, beyond the time of the source. A read that takes longer than this hangs, even on a busy machine. */
    private static final double LONGEST_READ_S = 60;

    /** Of the pieces that a peer sends, the first is changed and then one of so many. */
    private static final int ONE_OF = 20;

    /** The handshake is unchanged: another test covers strangers. */
    private static final long HANDSHAKE_BYTES = 512;

    @RegisterExtension
    private static final MountFixture FIXTURE = new MountFixture();

    /** Slower than the peers on any machine, or they would not be asked. */
    private static final SlowSourceSpec SOURCE = new SlowSourceSpec(100_000_000, Duration.ofMillis(100));

    private static SlowMount source;
    private static NodeGroup group;
    private final Random random = new Random(SEED);

    @BeforeAll
    static void mountAll() throws Exception {
        Path dataset = NodeGroup.makeSamples(FIXTURE, SAMPLES, SAMPLE_BYTES);
        source = SlowMount.mount(dataset, FIXTURE.newDirectory("slow"), SOURCE);
        group = NodeGroup.of(
                        FIXTURE, dataset, SAMPLES, source.point(), null, NodeGroup.Storage.memory(DATASET * 3 / 10))
                .mount(NODES);
    }

    @AfterAll
    static void closeSource() {
        source.close();
    }

    // Promise G2, G7
    @Test
    void bits_that_flip_on_the_wire() throws Exception {
        AtomicInteger pieces = new AtomicInteger();
        trainBeside("flipped bits", 0, (piece, length, before) -> {
            if (before < HANDSHAKE_BYTES || pieces.getAndIncrement() % ONE_OF > 0) {
                return Relay.Fate.PASSED;
            }
            piece[random.nextInt(length)] ^= (byte) (1 << random.nextInt(8));
            return Relay.Fate.CHANGED;
        });
    }

    // Promise G2, G7
    @Tag("exhaustive")
    @Test
    void garbage_instead_of_answers() throws Exception {
        trainBeside("garbage", 1, (piece, length, before) -> {
            if (before < HANDSHAKE_BYTES) {
                return Relay.Fate.PASSED;
            }
            byte[] garbage = new byte[length];
            random.nextBytes(garbage);
            System.arraycopy(garbage, 0, piece, 0, length);
            return Relay.Fate.CHANGED;
        });
    }

    // Promise G3, G7
    @Test
    void silence() throws Exception {
        trainBeside("silent peer", 2, (_, _, before) -> before < HANDSHAKE_BYTES ? Relay.Fate.PASSED : Relay.Fate.KEPT);
    }

    private static void trainBeside(String what, int place, Relay.Deed deed) throws Exception {
        String job = "train" + place;
        String name = "liar-" + (NODES + place); // that of the test before may still be listed
        try (LyingPeer liar = new LyingPeer(group, NODES + place, DATASET * 6 / 10, deed)) {
            for (LiveMount node : group.nodes()) {
                node.await(
                        "told what the third node holds",
                        s -> s.path("peers")
                                .valueStream()
                                .anyMatch(peer -> peer.path("name").asString().equals(name)
                                        && peer.path("samples").asInt() == SAMPLES));
            }
            Training training = new Training(job, 6, EPOCHS, BATCH, COMPUTE_MS);
            group.start(training);
            List<RankTrainer> trainers = new ArrayList<>();
            for (int rank = 0; rank < NODES; rank++) {
                trainers.add(group.plain(training, rank));
            }
            double longest = 0;
            for (RankTrainer trainer : trainers) {
                longest = Math.max(longest, trainer.finished());
            }
            System.out.printf("%s: %d times, longest read %.2f s%n", what, liar.lies(), longest);
            for (LiveMount node : group.nodes()) {
                assertThat(node.status().at("/reads/errors").asInt()).isZero();
                node.job("stop=" + job);
            }
            assertThat(liar.lies()).as("pieces changed or kept back").isPositive();
            assertThat(longest).as("longest read").isLessThan(LONGEST_READ_S);
        }
    }
}
