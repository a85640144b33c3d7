package io.clairfs.cache.order.locality;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.spec.Samplers;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The invariants of locality-aware orders, and figure 6 of the paper. */
class LocalityAwareSamplerTest {
    private static final int RESUMED_EPOCH = 1;

    private static Sampler sampler(int samples, String line) throws InvalidSpecException {
        return Samplers.create(new SamplerSetting(samples, RESUMED_EPOCH, null), Keys.parse(line));
    }

    /** A line without the sampler's name, which is that of the base or the base of the locality-aware one. */
    private record Case(String base, String keys, int samples, int world, int perNode, int batch, double cached) {
        static Case random(Random random) {
            int perNode = 1 + random.nextInt(3);
            int world = perNode * (1 + random.nextInt(random.nextBoolean() ? 4 : 24));
            int samples = 1 + random.nextInt(random.nextInt(3) == 0 ? 30 : 3000);
            int batch = 1 + random.nextInt(random.nextInt(4) == 0 ? 400 : 40);
            double cached = random.nextInt(3) == 0 ? 1 : (1 + random.nextInt(100)) / 100.0;
            String[] bases = {
                "torch-distributed",
                "torch-distributed drop_last=true",
                "torch-distributed drop_last_batch=true",
                "torch-distributed even_divisible=false",
                "torch-distributed even_divisible=false drop_last_batch=true",
                "torch-distributed even_divisible=false skip_batches=2",
                "torch-distributed shuffle=false skip_samples=" + batch,
                "torch-distributed endless=true workers=2",
                "accelerate",
                "accelerate even_batches=false",
                "accelerate drop_last=true skip_batches=1",
                "accelerate split_batches=true",
                "grain",
                "grain drop_last=true",
                "dali",
                "dali shuffle_after_epoch=true",
                "dlio version=v2",
                "dlio version=v3 skip_batches=1"
            };
            String[] base = bases[random.nextInt(bases.length)].split(" ", 2);
            boolean split = base.length > 1 && base[1].contains("split");
            String keys = " seed=" + random.nextInt(1000) + " world=" + world + " batch="
                    + (split ? batch * world : batch) + (base.length > 1 ? " " + base[1] : "");
            return new Case(base[0], keys, samples, world, perNode, batch, cached);
        }

        Sampler ofBase() throws InvalidSpecException {
            return sampler(samples, "sampler=" + base + keys);
        }

        Sampler localityAware() throws InvalidSpecException {
            return sampler(
                    samples,
                    "sampler=locality-aware base=" + base + keys + " per_node=" + perNode + " cached=" + cached);
        }

        int nodes() {
            return world / perNode;
        }
    }

    private static int[] read(EpochOrder order, int rank, int first, int batch) {
        int end = (int) Math.min((long) first + batch, order.length(rank));
        return IntStream.range(first, Math.max(first, end))
                .map(step -> order.sample(rank, step))
                .toArray();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void everyStep_hasTheSamplesOfTheBase_andMovesAsFewAsPossible(long seed) throws InvalidSpecException {
        Random random = new Random(seed);
        for (int run = 0; run < 60; run++) {
            Case one = Case.random(random);
            String what = "seed " + seed + ", run " + run + ", " + one;
            Sampler base = one.ofBase();
            Sampler dealt = one.localityAware();
            for (int epoch = 0; epoch < 3; epoch++) {
                EpochOrder before = base.epoch(epoch);
                EpochOrder after = dealt.epoch(epoch);
                int longest = 0;
                for (int rank = 0; rank < one.world; rank++) {
                    assertThat(after.length(rank)).as(what).isEqualTo(before.length(rank));
                    longest = Math.max(longest, before.length(rank));
                }
                for (int first = 0; first < longest; first += one.batch) {
                    requireStep(one, before, after, first, what + ", epoch " + epoch + ", first " + first);
                }
            }
        }
    }

    private static void requireStep(Case one, EpochOrder before, EpochOrder after, int first, String what) {
        Owners owners = new Owners(one.samples, one.nodes(), one.cached);
        int[] owned = new int[one.nodes()];
        int[] reads = new int[one.nodes()];
        IntStream.Builder expected = IntStream.builder();
        IntStream.Builder actual = IntStream.builder();
        Set<Integer> transfers = new HashSet<>();
        int moved = 0;
        for (int rank = 0; rank < one.world; rank++) {
            int node = rank / one.perNode;
            for (int sample : read(before, rank, first, one.batch)) {
                expected.add(sample);
                reads[node]++;
                int owner = owners.applyAsInt(sample);
                if (owner != Owners.NONE) {
                    owned[owner]++;
                }
            }
            for (int sample : read(after, rank, first, one.batch)) {
                actual.add(sample);
                int owner = owners.applyAsInt(sample);
                if (owner != Owners.NONE && owner != node) {
                    moved++;
                    transfers.add(owner * one.nodes() + node);
                }
            }
        }
        assertThat(actual.build().sorted().toArray())
                .as(what)
                .isEqualTo(expected.build().sorted().toArray());
        int surplus = IntStream.range(0, one.nodes())
                .map(node -> Math.max(0, owned[node] - reads[node]))
                .sum();
        assertThat(moved).as(what).isEqualTo(surplus);
        assertThat(transfers.size()).as(what).isLessThan(one.nodes());
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12})
    void anOrder_dependsOnTheLineAlone(long seed) throws InvalidSpecException {
        Random random = new Random(seed);
        for (int run = 0; run < 50; run++) {
            Case one = Case.random(random);
            Sampler forwards = one.localityAware();
            int[][] orders = {all(one, forwards, 0), all(one, forwards, 1), all(one, forwards, 2)};
            Sampler backwards = one.localityAware();
            for (int epoch = 2; epoch >= 0; epoch--) {
                assertThat(all(one, backwards, epoch))
                        .as("seed %d, run %d, %s", seed, run, one)
                        .isEqualTo(orders[epoch]);
            }
        }
    }

    private static int[] all(Case one, Sampler sampler, int epoch) throws InvalidSpecException {
        EpochOrder order = sampler.epoch(epoch);
        return IntStream.range(0, one.world)
                .flatMap(rank -> IntStream.of(read(order, rank, 0, order.length(rank))))
                .toArray();
    }

    @Test
    void oneNode_readsTheBaseOrder() throws InvalidSpecException {
        String keys = " seed=3 world=4 batch=8";
        EpochOrder base = sampler(100, "sampler=torch-distributed" + keys).epoch(2);
        EpochOrder dealt = sampler(100, "sampler=locality-aware per_node=4 cached=0.5" + keys)
                .epoch(2);
        for (int rank = 0; rank < 4; rank++) {
            assertThat(read(dealt, rank, 0, 25)).isEqualTo(read(base, rank, 0, 25));
        }
    }

    /** Samples that no node owns fill the deficits, so that none is moved where they suffice. */
    @Test
    void samplesWithoutOwner_takeTheImbalance() throws InvalidSpecException {
        int samples = 64_000;
        Sampler dealt = sampler(samples, "sampler=locality-aware world=16 batch=64 cached=0.6 seed=1");
        double[] moved = movedShares(dealt.epoch(0), new Owners(samples, 16, 0.6), 16, 64);
        assertThat(Arrays.stream(moved).average().orElseThrow()).isLessThan(0.0005);
    }

    /** Yang and Cong, figure 6: the share of a global batch that is moved, median of an epoch of ImageNet-1k. */
    @ParameterizedTest
    @CsvSource({
        "32, 16, 6.9",
        "32, 64, 6.9",
        "32, 256, 6.9",
        "64, 16, 4.8",
        "64, 64, 4.8",
        "64, 256, 4.8",
        "128, 16, 3.4",
        "128, 64, 3.4",
        "128, 256, 3.4"
    })
    void movedShareOfAStep_isThatOfFigure6(int batch, int nodes, double published) throws InvalidSpecException {
        int samples = 1_281_167;
        Sampler dealt = sampler(
                samples,
                "sampler=locality-aware seed=6 drop_last=true drop_last_batch=true batch=" + batch + " world=" + nodes);
        double[] moved = movedShares(dealt.epoch(0), new Owners(samples, nodes, 1), nodes, batch);
        Arrays.sort(moved);
        double median = 100 * (moved[(moved.length - 1) / 2] + moved[moved.length / 2]) / 2;
        System.out.printf("batch %d, %d nodes: %.2f %%, published %.1f %%%n", batch, nodes, median, published);
        assertThat(median).isCloseTo(published, offset(0.3));
    }

    private static double[] movedShares(EpochOrder order, Owners owners, int nodes, int batch) {
        double[] moved = new double[order.length(0) / batch];
        for (int node = 0; node < nodes; node++) {
            for (int position = 0; position < moved.length * batch; position++) {
                int owner = owners.applyAsInt(order.sample(node, position));
                if (owner != node && owner != Owners.NONE) {
                    moved[position / batch] += 1.0 / nodes / batch;
                }
            }
        }
        return moved;
    }
}
