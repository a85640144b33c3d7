package io.clairfs.cache.order.partial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.spec.Samplers;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds for every partial local shuffling, in random worlds. */
class PartialLocalSamplerTest {
    private static final int WORLDS = 200;
    private static final int EPOCHS = 6;

    private final long seed = Long.getLong("clairfs.test.seed", 1);
    private final Random random = new Random(seed);

    /** Parameters by chance. */
    private record World(int samples, int nodes, int ranksOfNode, String exchange, long seed) {
        static World any(Random random) {
            int nodes = 1 + random.nextInt(8);
            int ranksOfNode = 1 + random.nextInt(4);
            int samples = nodes * ranksOfNode + random.nextInt(500);
            String exchange = switch (random.nextInt(4)) {
                case 0 -> "0";
                case 1 -> "1";
                default -> "0." + random.nextInt(1000);
            };
            return new World(samples, nodes, ranksOfNode, exchange, random.nextInt(1 << 20));
        }

        int world() {
            return nodes * ranksOfNode;
        }

        int sent() {
            int least = samples / nodes;
            return (int) (Double.parseDouble(exchange) * least + 0.5);
        }

        Sampler sampler() throws InvalidSpecException {
            return Samplers.create(
                    samples,
                    Keys.parse("sampler=partial-local world=" + world() + " per_node=" + ranksOfNode + " exchange="
                            + exchange + " seed=" + seed));
        }

        /** By sample, the node that reads it; every rank reads as many, each sample only on one node. */
        int[] readers(EpochOrder order) {
            int[] readers = new int[samples];
            Arrays.fill(readers, -1);
            for (int rank = 0; rank < world(); rank++) {
                assertThat(order.length(rank)).isEqualTo(Math.ceilDiv(samples, world()));
                for (int step = 0; step < order.length(rank); step++) {
                    int sample = order.sample(rank, step);
                    assertThat(readers[sample]).isIn(-1, rank / ranksOfNode);
                    readers[sample] = rank / ranksOfNode;
                }
            }
            return readers;
        }

        int size(int[] readers, int node) {
            return (int) Arrays.stream(readers).filter(each -> each == node).count();
        }
    }

    @Test
    void everyEpoch_isAPartitionOfConstantSizes() throws InvalidSpecException {
        for (int i = 0; i < WORLDS; i++) {
            World world = World.any(random);
            Sampler sampler = world.sampler();
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                int[] readers = world.readers(sampler.epoch(epoch));
                assertThat(readers).as(world + ", test seed " + seed).doesNotContain(-1);
                for (int node = 0; node < world.nodes; node++) {
                    assertThat(world.size(readers, node))
                            .as(world + ", test seed " + seed)
                            .isEqualTo(world.samples / world.nodes + (node < world.samples % world.nodes ? 1 : 0));
                }
            }
        }
    }

    @Test
    void ranks_shareTheirNodesPartAndRepeatAtMostOneSample() throws InvalidSpecException {
        for (int i = 0; i < WORLDS; i++) {
            World world = World.any(random);
            EpochOrder order = world.sampler().epoch(random.nextInt(EPOCHS));
            BitSet read = new BitSet();
            int repeated = 0;
            for (int rank = 0; rank < world.world(); rank++) {
                int last = order.length(rank) - 1;
                boolean isPadded = last > 0 && order.sample(rank, last) == order.sample(rank, 0);
                repeated += isPadded ? 1 : 0;
                for (int step = 0; step <= last - (isPadded ? 1 : 0); step++) {
                    assertThat(read.get(order.sample(rank, step)))
                            .as(world + ", test seed " + seed)
                            .isFalse();
                    read.set(order.sample(rank, step));
                }
            }
            assertThat(read.cardinality()).isEqualTo(world.samples);
            assertThat(repeated).isEqualTo(world.world() * order.length(0) - world.samples);
        }
    }

    @Test
    void everyNode_sendsAndReceivesAsMany() throws InvalidSpecException {
        for (int i = 0; i < WORLDS; i++) {
            World world = World.any(random);
            Sampler sampler = world.sampler();
            int[] before = world.readers(sampler.epoch(0));
            for (int epoch = 1; epoch < EPOCHS; epoch++) {
                int[] now = world.readers(sampler.epoch(epoch));
                int[] gone = new int[world.nodes];
                int[] come = new int[world.nodes];
                for (int sample = 0; sample < now.length; sample++) {
                    if (now[sample] != before[sample]) {
                        gone[before[sample]]++;
                        come[now[sample]]++;
                    }
                }
                assertThat(come).as(world + ", test seed " + seed).isEqualTo(gone);
                assertThat(Arrays.stream(gone).max().orElse(0))
                        .as(world + ", test seed " + seed)
                        .isLessThanOrEqualTo(world.sent());
                before = now;
            }
        }
    }

    @Test
    void exchange_sendsExactlyTheFraction() {
        for (int i = 0; i < WORLDS; i++) {
            World world = World.any(random);
            GlobalExchange exchange = new GlobalExchange(
                    BigInteger.valueOf(world.seed), world.samples, world.nodes, Double.parseDouble(world.exchange));
            assertThat(exchange.sent()).as(world.toString()).isEqualTo(world.sent());
        }
        // Without a sample that stays by chance: of two nodes each keeps or swaps a place, so half of those sent move.
        GlobalExchange two = new GlobalExchange(BigInteger.ONE, 20_000, 2, 0.5);
        int[] parts = two.first();
        BitSet first = part(two, parts, 0);
        two.next(parts, 1);
        first.andNot(part(two, parts, 0));
        assertThat(first.cardinality()).isCloseTo(2_500, within(200)); // four standard deviations are 141
    }

    private static BitSet part(GlobalExchange exchange, int[] parts, int node) {
        BitSet part = new BitSet();
        for (int i = 0; i < exchange.length(node); i++) {
            part.set(parts[exchange.begin(node) + i]);
        }
        return part;
    }

    @Test
    void withoutExchange_thePartsStayAndTheirOrderChanges() throws InvalidSpecException {
        World world = new World(1_003, 4, 2, "0", 9);
        Sampler sampler = world.sampler();
        EpochOrder first = sampler.epoch(0);
        for (int epoch = 1; epoch < 20; epoch++) {
            EpochOrder order = sampler.epoch(epoch);
            assertThat(world.readers(order)).isEqualTo(world.readers(first));
            int same = 0;
            for (int step = 0; step < order.length(0); step++) {
                same += order.sample(0, step) == first.sample(0, step) ? 1 : 0;
            }
            assertThat(same).isLessThan(20);
        }
    }

    /** With all samples sent, the reader of the next epoch does not depend on that of this one (chi-square). */
    @Test
    void fullExchange_isUniform() throws InvalidSpecException {
        int nodes = 8;
        World world = new World(40_000, nodes, 1, "1", 5);
        Sampler sampler = world.sampler();
        int[] before = world.readers(sampler.epoch(0));
        for (int epoch = 1; epoch < 4; epoch++) {
            int[] now = world.readers(sampler.epoch(epoch));
            int[] moves = new int[nodes * nodes];
            int[] thirds = new int[nodes * 8];
            for (int sample = 0; sample < now.length; sample++) {
                moves[before[sample] * nodes + now[sample]]++;
                thirds[now[sample] * 8 + sample * 8 / now.length]++;
            }
            // 49 degrees of freedom: 85.4 is exceeded once in a thousand times.
            assertThat(chiSquare(moves, 40_000.0 / 64)).isLessThan(85.4);
            assertThat(chiSquare(thirds, 40_000.0 / 64)).isLessThan(85.4);
            before = now;
        }
    }

    private static double chiSquare(int[] counts, double expected) {
        return Arrays.stream(counts)
                .mapToDouble(count -> (count - expected) * (count - expected) / expected)
                .sum();
    }

    @Test
    void askedInAnyOrder_theEpochsAreTheSame() throws InvalidSpecException {
        for (int i = 0; i < WORLDS / 10; i++) {
            World world = World.any(random);
            Sampler jumping = world.sampler();
            for (int ask = 0; ask < 20; ask++) {
                int epoch = random.nextInt(12);
                EpochOrder expected = world.sampler().epoch(epoch);
                EpochOrder order = jumping.epoch(epoch);
                for (int rank = 0; rank < world.world(); rank++) {
                    for (int step = 0; step < order.length(rank); step++) {
                        assertThat(order.sample(rank, step))
                                .as(world + ", epoch " + epoch + ", test seed " + seed)
                                .isEqualTo(expected.sample(rank, step));
                    }
                }
            }
        }
    }

    @Test
    void orderInUse_isNotChangedByLaterEpochs() throws InvalidSpecException {
        World world = new World(100, 4, 1, "0.5", 1);
        Sampler sampler = world.sampler();
        EpochOrder first = sampler.epoch(0);
        int[] readers = world.readers(first);
        sampler.epoch(7);
        assertThat(world.readers(first)).isEqualTo(readers);
    }

    /** Section III-B of the paper: 1.1 TiB on 512 workers. */
    @Test
    void aTenthOfImageNet21k_is225MebibytesForEachOf512Workers() {
        int samples = 14_197_122;
        double bytesOfSample = 1.1 * (1L << 40) / samples;
        GlobalExchange exchange = new GlobalExchange(BigInteger.ZERO, samples, 512, 0.1);
        assertThat(exchange.sent() * bytesOfSample / (1 << 20)).isCloseTo(225, within(1.0));
        assertThat((exchange.length(0) - exchange.sent()) * bytesOfSample / (1 << 30))
                .isCloseTo(2, within(0.03));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "seed=-1",
                "exchange=1.1",
                "exchange=-0.1",
                "exchange=half",
                "exchange=",
                "world=4 per_node=3",
                "per_node=0",
                "world=101"
            })
    void wrongKeys_areRefusedWithTheReason(String keys) {
        assertThatThrownBy(() -> Samplers.create(100, Keys.parse("sampler=partial-local " + keys)))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining(keys.substring(keys.lastIndexOf(' ') + 1, keys.lastIndexOf('=') + 1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"exchange=0", "exchange=0.25", "exchange=.25", "exchange=1", "exchange=1.0", "seed=0"})
    void keys_areTaken(String keys) throws InvalidSpecException {
        Keys line = Keys.parse("sampler=partial-local world=4 batch=3 " + keys);
        assertThat(Samplers.create(100, line).epoch(1).length(3)).isEqualTo(25);
        line.requireAllUsed();
    }

    @Test
    void noSamples_isAnEmptyOrder() throws InvalidSpecException {
        Sampler sampler = Samplers.create(0, Keys.parse("sampler=partial-local world=4 exchange=0.5"));
        assertThat(sampler.epoch(3).length(2)).isZero();
    }
}
