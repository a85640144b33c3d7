package io.clairfs.cache.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.spec.Samplers;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Samples that move with their readers: when, and what it saves. Nodes of one rank each; samples of one size. */
final class FollowReadersTest {
    private static final int SAMPLES = 8_000;
    private static final int EPOCHS = 30;
    private static final long SIZE = 1_000;

    private final Planner planner = new Planner(PlanLimits.DEFAULT);

    /** Orders that were computed before, as planners ask for them in any order. */
    private static EpochOrder[] orders(String line, int nodes) throws InvalidSpecException {
        Sampler sampler = Samplers.create(SAMPLES, Keys.parse(line + " seed=7 world=" + nodes));
        EpochOrder[] orders = new EpochOrder[EPOCHS];
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            orders[epoch] = sampler.epoch(epoch);
        }
        return orders;
    }

    private static PlanRequest request(EpochOrder[] orders, int first, int end, int nodes, double datasets) {
        Need need = new Need(epoch -> orders[epoch], first, end, PlanCases.oneRankPerNode(nodes));
        long capacity = (long) Math.ceil(datasets * SAMPLES / nodes) * SIZE;
        return new PlanRequest(
                SAMPLES, _ -> SIZE, List.of(need), PlanCases.sameNodes(nodes, capacity), PlanCases.SLOW_SOURCE);
    }

    private boolean shouldMove(String line, int nodes, double datasets) throws InvalidSpecException {
        return planner.plan(request(orders(line, nodes), 0, EPOCHS, nodes, datasets), PlacementPolicy.CLAIRFS)
                .shouldMove();
    }

    /** Nodes whose caches hold what the plans of the epochs say, each sample fetched ahead or when it is read. */
    private final class Cluster {
        private final EpochOrder[] orders;
        private final int nodes;
        private final double datasets;
        private final List<BitSet> held = new ArrayList<>();
        private long fromSource;
        private long fromPeers;
        private long lost;
        private int mostHeld;

        Cluster(EpochOrder[] orders, int nodes, double datasets) {
            this.orders = orders;
            this.nodes = nodes;
            this.datasets = datasets;
            for (int node = 0; node < nodes; node++) {
                held.add(new BitSet());
            }
        }

        private Placement follow(int epoch) throws InvalidSpecException {
            return planner.follow(request(orders, epoch, Math.min(EPOCHS, epoch + 2), nodes, datasets));
        }

        void run() throws InvalidSpecException {
            Placement plan = follow(0);
            for (int epoch = 0; epoch < EPOCHS; epoch++) {
                for (int node = 0; node < nodes; node++) {
                    for (int step = 0; step < orders[epoch].length(node); step++) {
                        fetch(node, orders[epoch].sample(node, step), plan);
                    }
                }
                for (int node = 0; node < nodes; node++) {
                    for (int sample : plan.fillOrder(node, 0)) {
                        fetch(node, sample, plan);
                    }
                    mostHeld = Math.max(mostHeld, held.get(node).cardinality());
                }
                if (epoch + 1 < EPOCHS) {
                    plan = follow(epoch + 1);
                    release(plan);
                }
            }
        }

        private void fetch(int node, int sample, Placement plan) {
            if (!held.get(node).get(sample)) {
                boolean isHeld = held.stream().anyMatch(each -> each.get(sample));
                fromPeers += isHeld ? 1 : 0;
                fromSource += isHeld ? 0 : 1;
                held.get(node).set(sample, plan.storageClass(node, sample) != Placement.NONE);
            }
        }

        private void release(Placement plan) {
            for (int node = 0; node < nodes; node++) {
                BitSet mine = held.get(node);
                for (int sample = mine.nextSetBit(0); sample >= 0; sample = mine.nextSetBit(sample + 1)) {
                    if (plan.storageClass(node, sample) == Placement.NONE) {
                        int leaving = sample;
                        mine.clear(sample);
                        lost += held.stream().anyMatch(each -> each.get(leaving)) ? 0 : 1;
                    }
                }
            }
        }
    }

    /** Those sent to another node, Q (1 - 1/M), but for those that come back at once: a plan keeps what the node reads in the next epoch. */
    @ParameterizedTest
    @CsvSource({"4, 0", "4, 0.1", "4, 0.3", "16, 0.1", "16, 0.3"})
    void partialLocal_remoteReadsAreTheExchangedSamples(int nodes, String exchange) throws InvalidSpecException {
        double q = Double.parseDouble(exchange);
        double expected = q * (1 - 1.0 / nodes) * (1 - q / nodes);
        double datasets = 1 + q;
        EpochOrder[] orders = orders("sampler=partial-local exchange=" + exchange, nodes);
        Cluster cluster = new Cluster(orders, nodes, datasets);
        cluster.run();
        double moving = cluster.fromPeers / ((double) SAMPLES * (EPOCHS - 1));
        double staying = staysRemote(orders, nodes, datasets);
        double copies = new SmallCluster(SAMPLES, EPOCHS, nodes, datasets, epoch -> orders[epoch])
                .homesAndNextUse()
                .remote();
        System.out.printf(
                "M=%d, Q=%s, room for %.1f S: remote %.4f if samples move; with homes that stay %.4f, by next use %.4f%n",
                nodes, exchange, datasets, moving, staying, copies);
        assertThat(moving).isEqualTo(expected, within(0.003));
        assertThat(cluster.fromSource).isEqualTo(SAMPLES);
        assertThat(cluster.lost).isZero();
        assertThat(cluster.mostHeld).isLessThanOrEqualTo((int) Math.ceil(datasets * SAMPLES / nodes));
        if (expected > 0) {
            assertThat(staying).isGreaterThan(1.5 * moving);
        }
        assertThat(shouldMove("sampler=partial-local exchange=" + exchange, nodes, datasets))
                .isEqualTo(moving < 0.9 * copies);
    }

    @ParameterizedTest
    @CsvSource({"4, 0.1", "4, 0.3", "16, 0.1", "16, 0.3"})
    void nodesWithRoomForTheirPartsOnly_letSamplesMove(int nodes, String exchange) throws InvalidSpecException {
        assertThat(shouldMove("sampler=partial-local exchange=" + exchange, nodes, 1))
                .isTrue();
    }

    /** The share of remote reads by the homes of the whole job alone. */
    private double staysRemote(EpochOrder[] orders, int nodes, double datasets) throws InvalidSpecException {
        Placement placement = planner.plan(request(orders, 0, EPOCHS, nodes, datasets), PlacementPolicy.CLAIRFS);
        long remote = 0;
        for (int epoch = 1; epoch < EPOCHS; epoch++) {
            for (int node = 0; node < nodes; node++) {
                for (int step = 0; step < orders[epoch].length(node); step++) {
                    remote += placement.home(orders[epoch].sample(node, step)) == node ? 0 : 1;
                }
            }
        }
        return remote / ((double) SAMPLES * (EPOCHS - 1));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sampler=partial-local exchange=1",
                "sampler=torch-distributed",
                "sampler=accelerate batch=8",
                "sampler=numpy-generator",
                "sampler=torch-distributed shuffle=false"
            })
    void fullShuffles_keepHomesThatStay(String line) throws InvalidSpecException {
        for (int nodes : new int[] {1, 2, 4, 16}) {
            for (double datasets : new double[] {0.3, 1, 1.3, 2.5}) {
                assertThat(shouldMove(line, nodes, datasets))
                        .as(line + " on " + nodes + " nodes with room for " + datasets)
                        .isFalse();
            }
        }
    }

    @Test
    void nodesWithoutRoomForTheirParts_keepHomesThatStay() throws InvalidSpecException {
        assertThat(shouldMove("sampler=partial-local exchange=0.1", 4, 0.8)).isFalse();
        assertThat(shouldMove("sampler=partial-local exchange=0.1", 4, 1.0)).isTrue();
    }

    @Test
    void nodesWithRoomForAllTheyEverRead_keepHomesThatStay() throws InvalidSpecException {
        assertThat(shouldMove("sampler=partial-local exchange=0.1", 4, 4)).isFalse();
    }

    @Test
    void follow_isTheSameOnEveryNodeAndInEveryRun() throws InvalidSpecException {
        EpochOrder[] orders = orders("sampler=partial-local exchange=0.2", 4);
        PlanRequest request = request(orders, 5, 7, 4, 1.2);
        Placement one = planner.follow(request);
        Placement other = new Planner(PlanLimits.DEFAULT.withThreads(1)).follow(request);
        for (int sample = 0; sample < SAMPLES; sample++) {
            assertThat(one.home(sample)).isEqualTo(other.home(sample));
        }
        for (int node = 0; node < 4; node++) {
            for (int step = 0; step < orders[5].length(node); step++) {
                assertThat(one.home(orders[5].sample(node, step))).isEqualTo(node);
                assertThat(one.storageClass(node, orders[5].sample(node, step))).isZero();
                assertThat(one.storageClass(node, orders[6].sample(node, step)))
                        .as("what comes for the next epoch")
                        .isZero();
            }
        }
    }

    /** Chance decides, in the same way in each epoch, so a sample that stays with its reader is not evicted for another. */
    @Test
    void follow_withoutRoomForAll_keepsSamplesThatStay() throws InvalidSpecException {
        EpochOrder[] orders = orders("sampler=partial-local exchange=0.5", 4);
        Placement placement = planner.follow(request(orders, 3, 5, 4, 0.8));
        int[] readers = new int[SAMPLES];
        Arrays.fill(readers, Placement.NONE);
        for (int node = 0; node < 4; node++) {
            for (int step = 0; step < orders[4].length(node); step++) {
                readers[orders[4].sample(node, step)] = node;
            }
        }
        int kept = 0;
        for (int node = 0; node < 4; node++) {
            for (int step = 0; step < orders[3].length(node); step++) {
                int sample = orders[3].sample(node, step);
                kept += placement.home(sample) == node ? 1 : 0;
                if (readers[sample] == node) {
                    assertThat(placement.home(sample)).isEqualTo(node);
                }
            }
        }
        assertThat(kept).isEqualTo((int) (0.8 * SAMPLES));
    }
}
