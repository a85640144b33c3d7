package io.clairfs.cache.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Held;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import io.clairfs.cache.testing.RandomSeeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Placements of many and large plans, checked against what every placement must be. */
final class PlannerInvariantsTest extends PlannerFixture {
    /** One of many plans: sizes, capacities, jobs and prices at random. */
    private static PlanRequest random(Random random) throws InvalidSpecException {
        int samples = 1 + random.nextInt(60);
        int nodes = 1 + random.nextInt(5);
        boolean oneSize = random.nextBoolean();
        long[] sizes = random.longs(samples, 0, 100).toArray();
        List<NodeStorage> storage = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            StorageClass memory = StorageClass.memory(random.nextInt(1500));
            StorageClass ssd = PlanCases.ssd(random.nextInt(3000), random.nextBoolean() ? 0 : random.nextInt(60));
            storage.add(
                    switch (random.nextInt(4)) {
                        case 0 -> NodeStorage.of();
                        case 1 -> NodeStorage.of(memory);
                        default -> NodeStorage.of(memory, ssd);
                    });
        }
        List<Need> needs = new ArrayList<>();
        for (int job = random.nextInt(3); job >= 0; job--) {
            int world = 1 + random.nextInt(6);
            int[] nodeOfRank = random.ints(world, -1, nodes).toArray();
            int first = random.nextInt(4);
            int end = random.nextInt(8) == 0 ? Need.NO_KNOWN_END : first + random.nextInt(12);
            needs.add(new Need(PlanCases.torchDistributed(samples, world, random.nextInt()), first, end, nodeOfRank));
        }
        PerformanceModel model = random.nextBoolean() ? PlanCases.SLOW_SOURCE : PlanCases.FAST_SOURCE;
        if (random.nextBoolean()) {
            model = model.withLatencies(random.nextDouble() * 1e-6, random.nextDouble() * 1e-6);
        }
        int held = random.nextInt(7) + 1;
        return new PlanRequest(
                samples,
                oneSize ? _ -> 50 : sample -> sizes[sample],
                needs,
                storage,
                model,
                (node, sample) -> (sample + node) % held == 1 ? 0 : Held.NOT_HELD);
    }

    @ParameterizedTest
    @RandomSeeds({11, 12, 13, 14, 15})
    void plan_randomRequests_keepsWithinCapacityAndHomesAreKept(long seed) throws InvalidSpecException {
        Random random = new Random(seed);
        for (int run = 0; run < 150; run++) {
            PlanRequest request = random(random);
            for (PlacementPolicy policy : PlacementPolicy.values()) {
                String what = "seed " + seed + ", run " + run + ", " + policy;
                Placement placement = plan(request, policy);
                for (int node = 0; node < request.nodes().size(); node++) {
                    requireConsistent(request, placement, node, what);
                }
                Placement again = new Planner(PlanLimits.DEFAULT.withThreads(1)).plan(request, policy);
                assertThat(homes(again)).as(what).isEqualTo(homes(placement));
                for (int node = request.nodes().size() - 1; node >= 0; node--) {
                    assertThat(classes(again, node)).as(what).isEqualTo(classes(placement, node));
                }
            }
        }
    }

    private static void requireConsistent(PlanRequest request, Placement placement, int node, String what) {
        List<StorageClass> classes = request.nodes().get(node).classes();
        long[] bytes = new long[classes.size()];
        long homeBytes = 0;
        for (int sample = 0; sample < request.samples(); sample++) {
            int storageClass = placement.storageClass(node, sample);
            if (storageClass != NONE) {
                bytes[storageClass] +=
                        classes.get(storageClass).bytesOf(request.sizes().bytes(sample));
                assertThat(placement.home(sample)).as(what).isNotEqualTo(NONE);
            }
            if (placement.home(sample) == node) {
                homeBytes += request.nodes().get(node).bytesOf(request.sizes().bytes(sample));
                assertThat(storageClass).as(what + ": home of " + sample).isNotEqualTo(NONE);
            }
        }
        assertThat(placement.homeBytes(node)).as(what).isEqualTo(homeBytes);
        for (int each = 0; each < bytes.length; each++) {
            assertThat(placement.plannedBytes(node, each)).as(what).isEqualTo(bytes[each]);
            assertThat(bytes[each])
                    .as(what)
                    .isLessThanOrEqualTo(classes.get(each).capacityBytes());
        }
    }

    @ParameterizedTest
    @RandomSeeds({21, 22, 23})
    void plan_slowSource_coversAsManyAsFit(long seed) throws InvalidSpecException {
        Random random = new Random(seed);
        for (int run = 0; run < 100; run++) {
            int samples = 1 + random.nextInt(80);
            int nodes = 1 + random.nextInt(6);
            List<NodeStorage> storage = new ArrayList<>();
            int slots = 0;
            for (int node = 0; node < nodes; node++) {
                int here = random.nextInt(30);
                slots += here;
                storage.add(NodeStorage.of(StorageClass.memory(here * 10L + random.nextInt(10))));
            }
            EpochSource orders = PlanCases.torchDistributed(samples, nodes, random.nextInt());
            Placement placement = plan(PlanCases.request(samples, 10, orders, 5, storage));
            assertThat(IntStream.of(homes(placement))
                            .filter(home -> home != NONE)
                            .count())
                    .as("seed %d, run %d", seed, run)
                    .isEqualTo(Math.min(samples, slots));
        }
    }

    @ParameterizedTest
    @RandomSeeds({31, 32, 33})
    void plan_tinyRequests_isNearTheBestOfAllPlacements(long seed) throws InvalidSpecException {
        Random random = new Random(seed);
        double worst = 1;
        for (int run = 0; run < 60; run++) {
            int samples = 2 + random.nextInt(4);
            EpochSource orders = PlanCases.torchDistributed(samples, 2, random.nextInt());
            PlanRequest slow = PlanCases.request(
                    samples, 1000, orders, 1 + random.nextInt(8), PlanCases.sameNodes(2, 1000L * random.nextInt(4)));
            PlanRequest request = random.nextBoolean()
                    ? slow
                    : new PlanRequest(samples, slow.sizes(), slow.needs(), slow.nodes(), PlanCases.FAST_SOURCE);
            Placement placement = plan(request);
            int[] kept = new int[2];
            for (int node = 0; node < 2; node++) {
                for (int sample = 0; sample < samples; sample++) {
                    kept[node] |= placement.storageClass(node, sample) == NONE ? 0 : 1 << sample;
                }
            }
            double best = 0;
            int slots = (int) (request.nodes().getFirst().classes().getFirst().capacityBytes() / 1000);
            for (int first = 0; first < 1 << samples; first++) {
                for (int second = 0; second < 1 << samples; second++) {
                    if (Integer.bitCount(first) <= slots && Integer.bitCount(second) <= slots) {
                        best = Math.max(best, saved(request, first, second));
                    }
                }
            }
            double share = best == 0 ? 1 : saved(request, kept[0], kept[1]) / best;
            assertThat(share).as("seed %d, run %d", seed, run).isGreaterThan(0.9);
            worst = Math.min(worst, share);
        }
        System.out.printf("seed %d: at worst %.3f of the best saving%n", seed, worst);
    }

    /** Seconds that copies save against reading all from the source, by the model. */
    private static double saved(PlanRequest request, int first, int second) throws InvalidSpecException {
        StorageClass memory = request.nodes().getFirst().classes().getFirst();
        double source = request.model().fetchFromSource(1000, 2);
        double elsewhere = Math.min(source, request.model().fetchFromPeer(1000, memory));
        double local = request.model().fetchFromLocal(1000, memory);
        Need need = request.needs().getFirst();
        double saved = 0;
        for (int epoch = 0; epoch < need.endEpoch(); epoch++) {
            EpochOrder order = need.orders().epoch(epoch);
            for (int rank = 0; rank < 2; rank++) {
                for (int step = 0; step < order.length(rank); step++) {
                    int bit = 1 << order.sample(rank, step);
                    int here = rank == 0 ? first : second;
                    if ((here & bit) != 0) {
                        saved += source - local;
                    } else if (((first | second) & bit) != 0) {
                        saved += source - elsewhere;
                    }
                }
            }
        }
        return saved;
    }

    @Test
    void plan_narrowTable_looksFewerEpochsAhead() throws InvalidSpecException {
        PlanRequest request =
                PlanCases.request(1000, 1, PlanCases.torchDistributed(1000, 8, 3), 40, PlanCases.sameNodes(8, 200));
        Placement near = new Planner(new PlanLimits(4, 128, 32, 1_000_000, 2)).plan(request, PlacementPolicy.CLAIRFS);
        assertThat(homes(near)).doesNotContain(NONE);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 300, 1024})
    void plan_manyNodes_coversAll(int world) throws InvalidSpecException {
        PlanRequest request = PlanCases.request(
                10_000, 1, PlanCases.torchDistributed(10_000, world, 3), 3, PlanCases.sameNodes(world, 10_000 / 200));
        Placement placement = plan(request);
        assertThat(homes(placement)).doesNotContain(NONE);
        requireConsistent(request, placement, world - 1, "world " + world);
    }

    @Test
    void plan_samplesOfManySizes_wastesLittleOnWhatTheyTakeBesideTheirBytes() throws InvalidSpecException {
        Random random = new Random(5);
        long[] sizes = random.longs(20_000, 500, 1_500).toArray();
        List<NodeStorage> nodes = List.of(NodeStorage.of(StorageClass.memory(2_000_000), StorageClass.ssd(8_000_000)));
        Need need = new Need(PlanCases.torchDistributed(sizes.length, 1, 3), 0, 3, new int[] {0});
        Placement placement = plan(
                new PlanRequest(sizes.length, sample -> sizes[sample], List.of(need), nodes, PlanCases.SLOW_SOURCE));
        assertThat(placement.plannedBytes(0, 0)).isBetween(1_990_000L, 2_000_000L);
        assertThat(placement.plannedBytes(0, 1)).isBetween(7_920_000L, 8_000_000L);
    }
}
