package io.clairfs.cache.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Placements of small plans, computed by hand or checked against what every placement must be. */
final class PlannerTest {
    private static final int NONE = Placement.NONE;

    private static Placement plan(PlanRequest request) throws InvalidSpecException {
        return plan(request, PlacementPolicy.CLAIRFS);
    }

    private static Placement plan(PlanRequest request, PlacementPolicy policy) throws InvalidSpecException {
        return new Planner(PlanLimits.DEFAULT).plan(request, policy);
    }

    private static int[] homes(Placement placement) {
        return IntStream.range(0, placement.samples()).map(placement::home).toArray();
    }

    private static int[] classes(Placement placement, int node) {
        return IntStream.range(0, placement.samples())
                .map(sample -> placement.storageClass(node, sample))
                .toArray();
    }

    @ParameterizedTest
    @EnumSource(value = PlacementPolicy.class, mode = EnumSource.Mode.EXCLUDE, names = "CLAIRFS")
    void plan_oneNode_fillsTheFastestClassInAccessOrder(PlacementPolicy policy) throws InvalidSpecException {
        EpochSource orders = PlanCases.written(new int[][] {{4, 2, 0, 1, 3}}, new int[][] {{0, 1, 2, 3, 4}});
        Placement placement = plan(PlanCases.request(5, 10, orders, 2, PlanCases.sameNodes(1, 25, 19)), policy);
        assertThat(classes(placement, 0)).containsExactly(1, NONE, 0, NONE, 0);
        assertThat(homes(placement)).containsExactly(0, NONE, 0, NONE, 0);
        assertThat(placement.plannedBytes(0, 0)).isEqualTo(20);
        assertThat(placement.plannedBytes(0, 1)).isEqualTo(10);
        assertThat(placement.homeBytes(0)).isEqualTo(30);
        assertThat(placement.roomForCopies(0)).isZero();
    }

    @Test
    void plan_oneNode_spreadsWhatItKeepsOverTheEpochAndFillsTheFastestClassInAccessOrder() throws InvalidSpecException {
        int samples = 4000;
        EpochSource orders = PlanCases.torchDistributed(samples, 1, 5);
        Placement placement = plan(PlanCases.request(samples, 10, orders, 3, PlanCases.sameNodes(1, 10_000, 10_000)));
        int[] keptByQuarter = new int[4];
        int lastInMemory = -1;
        int firstOnSsd = samples;
        for (int step = 0; step < samples; step++) {
            int kept = placement.storageClass(0, orders.epoch(0).sample(0, step));
            keptByQuarter[4 * step / samples] += kept == NONE ? 0 : 1;
            lastInMemory = kept == 0 ? step : lastInMemory;
            firstOnSsd = kept == 1 ? Math.min(firstOnSsd, step) : firstOnSsd;
        }
        assertThat(Arrays.stream(keptByQuarter).boxed())
                .allSatisfy(kept -> assertThat(kept).isBetween(420, 580));
        assertThat(lastInMemory).isLessThan(firstOnSsd);
    }

    @Test
    void plan_oneNodeThatHoldsWhatIsReadLast_keepsThat() throws InvalidSpecException {
        EpochSource orders = PlanCases.written(new int[][] {{4, 2, 0, 1, 3}}, new int[][] {{0, 1, 2, 3, 4}});
        PlanRequest empty = PlanCases.request(5, 10, orders, 2, PlanCases.sameNodes(1, 20));
        PlanRequest request = new PlanRequest(
                5,
                empty.sizes(),
                empty.needs(),
                empty.nodes(),
                empty.model(),
                (_, sample) -> sample == 1 || sample == 3 ? 0 : Held.NOT_HELD);
        assertThat(classes(plan(request), 0)).containsExactly(NONE, 0, NONE, 0, NONE);
    }

    @Test
    void plan_slowSource_coversAllAtTheNodesThatUseThemMost() throws InvalidSpecException {
        // node 0 reads 0 and 1 always, 2 twice; node 1 reads 3 always and 2 once
        EpochSource orders = PlanCases.written(
                new int[][] {{0, 1, 2}, {3}}, new int[][] {{2, 0, 1}, {3}}, new int[][] {{0, 1}, {2, 3}});
        Placement placement = plan(PlanCases.request(4, 1, orders, 3, PlanCases.sameNodes(2, 2)));
        assertThat(homes(placement)).containsExactly(0, 0, 1, 1);
        assertThat(classes(placement, 0)).containsExactly(0, 0, NONE, NONE);
        assertThat(classes(placement, 1)).containsExactly(NONE, NONE, 0, 0);
    }

    private static PlanRequest without(PlanRequest request, Integer... gone) {
        return new PlanRequest(
                request.samples(),
                request.sizes(),
                request.needs(),
                request.nodes(),
                request.model(),
                request.held(),
                Set.of(gone));
    }

    @ParameterizedTest
    @EnumSource(PlacementPolicy.class)
    void plan_nodeHasLeft_othersTakeOverItsSamplesAndNoOtherMoves(PlacementPolicy policy) throws InvalidSpecException {
        int nodes = 8;
        int samples = 4_000;
        EpochSource orders = PlanCases.torchDistributed(samples, nodes, 5);
        long[] capacities = {(long) samples * 10 * 6 / 5 / nodes};
        PlanRequest all = PlanCases.request(samples, 10, orders, 4, PlanCases.sameNodes(nodes, capacities));
        Placement before = plan(all, policy);
        int gone = 5;
        Placement after = plan(without(all, gone), policy);
        int moved = 0;
        for (int sample = 0; sample < samples; sample++) {
            int home = after.home(sample);
            assertThat(home).isNotEqualTo(gone);
            if (before.home(sample) == gone) {
                moved += home == NONE ? 0 : 1;
            } else {
                assertThat(home).isEqualTo(before.home(sample));
            }
        }
        assertThat(after.homeBytes(gone)).isZero();
        long most = before.homeBytes(gone) / 10;
        assertThat((long) moved).isBetween(most * 9 / 10, most);
        for (int node = 0; node < nodes; node++) {
            assertThat(after.homeBytes(node)).isLessThanOrEqualTo(capacities[0]);
        }
    }

    @Test
    void plan_nodeHasLeft_itsSamplesGoToTheirReadersWhileThereIsRoom_andThoseThatNobodyReadsToNone()
            throws InvalidSpecException {
        // node 2 holds 4 to 7 and is gone; 4 and 5 are read by node 1 too, 6 by node 0, 7 by nobody else
        EpochSource orders = PlanCases.written(
                new int[][] {{0, 1}, {2, 3}, {4, 5, 6, 7}},
                new int[][] {{0, 1}, {2, 3}, {4, 5, 6, 7}},
                new int[][] {{0, 1}, {2, 3}, {4, 5, 6, 7}},
                new int[][] {{0, 6}, {4, 5}, {7, 1}});
        List<NodeStorage> nodes = List.of(
                PlanCases.sameNodes(1, 3).getFirst(),
                PlanCases.sameNodes(1, 3).getFirst(),
                PlanCases.sameNodes(1, 4).getFirst());
        PlanRequest all = PlanCases.request(8, 1, orders, 4, nodes);
        assertThat(homes(plan(all))).containsExactly(0, 0, 1, 1, 2, 2, 2, 2);
        assertThat(homes(plan(without(all, 2)))).containsExactly(0, 0, 1, 1, 1, NONE, 0, NONE);
    }

    @Test
    void plan_roomLeft_goesToFurtherCopiesByLocalUses() throws InvalidSpecException {
        EpochSource orders = PlanCases.written(
                new int[][] {{0, 1, 2}, {3}}, new int[][] {{2, 0, 1}, {3}}, new int[][] {{0, 1}, {2, 3}});
        Placement placement = plan(PlanCases.request(4, 1, orders, 3, PlanCases.sameNodes(2, 3)));
        assertThat(homes(placement)).containsExactly(0, 0, 0, 1);
        assertThat(classes(placement, 0)).containsExactly(0, 0, 0, NONE);
        assertThat(classes(placement, 1)).containsExactly(NONE, NONE, 0, 0);
        assertThat(placement.roomForCopies(1)).isEqualTo(2);
    }

    @Test
    void plan_sourceAsFastAsTheNetwork_keepsWhatEachNodeUses() throws InvalidSpecException {
        // both nodes read 0 and 1 in each epoch, and 2 is read once
        EpochSource orders = PlanCases.written(new int[][] {{0, 1, 2}, {0, 1}}, new int[][] {{1, 0}, {1, 0}});
        PlanRequest slow = PlanCases.request(3, 1000, orders, 2, PlanCases.sameNodes(2, 2000));
        PlanRequest fast =
                new PlanRequest(slow.samples(), slow.sizes(), slow.needs(), slow.nodes(), PlanCases.FAST_SOURCE);
        assertThat(homes(plan(slow))).doesNotContain(NONE);
        Placement placement = plan(fast);
        assertThat(classes(placement, 0)).containsExactly(0, 0, NONE);
        assertThat(classes(placement, 1)).containsExactly(0, 0, NONE);
    }

    @Test
    void plan_fastestClass_takesTheMostUsed() throws InvalidSpecException {
        EpochSource orders = PlanCases.written(new int[][] {{0, 1, 2, 3}}, new int[][] {{3, 2, 3, 2}});
        Placement placement = plan(PlanCases.request(4, 1, orders, 2, PlanCases.sameNodes(1, 2, 2)));
        assertThat(classes(placement, 0)).containsExactly(1, 1, 0, 0);
    }

    @Test
    void plan_ofAsManyUses_keepsWhatIsHeld() throws InvalidSpecException {
        EpochSource orders = PlanCases.written(new int[][] {{0, 1, 2, 3}, {}}, new int[][] {{}, {0, 1, 2, 3}});
        PlanRequest request = PlanCases.request(4, 1, orders, 2, PlanCases.sameNodes(2, 2));
        Placement placement = plan(new PlanRequest(
                4,
                request.sizes(),
                request.needs(),
                request.nodes(),
                request.model(),
                (node, sample) -> node == sample % 2 ? 0 : Held.NOT_HELD));
        assertThat(homes(placement)).containsExactly(0, 1, 0, 1);
    }

    @Test
    void plan_ofAsManyUses_leavesWhatIsHeldInItsClass() throws InvalidSpecException {
        EpochSource orders = PlanCases.written(new int[][] {{0, 1, 2, 3}}, new int[][] {{0, 1, 2, 3}});
        PlanRequest request = PlanCases.request(4, 1, orders, 2, PlanCases.sameNodes(1, 1, 1, 1));
        int[] held = {Held.NOT_HELD, 2, 0, 1};
        Placement placement = plan(new PlanRequest(
                4, request.sizes(), request.needs(), request.nodes(), request.model(), (_, sample) -> held[sample]));
        assertThat(classes(placement, 0)).containsExactly(NONE, 2, 0, 1);
    }

    @Test
    void plan_severalJobs_addsTheirUsesUp() throws InvalidSpecException {
        Need first = new Need(PlanCases.written(new int[][] {{0, 1}, {2}}), 0, 1, new int[] {0, 1});
        Need second = new Need(
                PlanCases.written(new int[][] {{5, 4}}, new int[][] {{4, 9}}),
                index -> index == 9 ? -1 : index - 4,
                0,
                2,
                new int[] {1});
        PlanRequest request =
                new PlanRequest(3, _ -> 1, List.of(first, second), PlanCases.sameNodes(2, 2), PlanCases.SLOW_SOURCE);
        assertThat(homes(plan(request))).containsExactly(1, 0, 1);
    }

    @Test
    void plan_ranksElsewhereAndUnusedSamples_areLeftOut() throws InvalidSpecException {
        EpochSource orders = PlanCases.written(new int[][] {{0, 1}, {2, 3}});
        PlanRequest request = new PlanRequest(
                5,
                _ -> 1,
                List.of(new Need(orders, 0, 1, new int[] {-1, 0})),
                PlanCases.sameNodes(1, 9),
                PlanCases.SLOW_SOURCE);
        assertThat(homes(plan(request))).containsExactly(NONE, NONE, 0, 0, NONE);
    }

    @Test
    void plan_nopfs_keepsTheMostFrequentOfEachNode() throws InvalidSpecException {
        EpochSource orders = PlanCases.written(
                new int[][] {{0, 1, 2}, {1, 3, 0}}, new int[][] {{1, 2, 3}, {0, 1, 3}}, new int[][] {{1, 0}, {1, 3}});
        Placement placement =
                plan(PlanCases.request(4, 1, orders, 3, PlanCases.sameNodes(2, 2)), PlacementPolicy.NOPFS);
        assertThat(classes(placement, 0)).containsExactly(0, 0, NONE, NONE);
        assertThat(classes(placement, 1)).containsExactly(NONE, 0, NONE, 0);
        assertThat(homes(placement)).containsExactly(0, 0, NONE, 1);
    }

    @Test
    void plan_lobster_leavesSamplesWithTheirFirstReader() throws InvalidSpecException {
        EpochSource orders = PlanCases.written(new int[][] {{0, 1, 2}, {3}}, new int[][] {{3}, {0, 1, 2}});
        Placement placement =
                plan(PlanCases.request(4, 1, orders, 2, PlanCases.sameNodes(2, 2)), PlacementPolicy.LOBSTER);
        assertThat(homes(placement)).containsExactly(0, 0, NONE, 1);
        assertThat(classes(placement, 1)).containsExactly(0, NONE, NONE, 0);
    }

    @Test
    void plan_refusedEpoch_isTold() {
        EpochSource refuses = epoch -> {
            if (epoch == 1) {
                throw new InvalidSpecException("no such epoch");
            }
            return EpochOrder.of(new int[] {0});
        };
        for (int threads = 1; threads <= 2; threads++) {
            Planner planner = new Planner(PlanLimits.DEFAULT.withThreads(threads));
            PlanRequest request = PlanCases.request(1, 1, refuses, 3, PlanCases.sameNodes(1, 1));
            assertThatThrownBy(() -> planner.plan(request, PlacementPolicy.CLAIRFS))
                    .isInstanceOf(InvalidSpecException.class)
                    .hasMessage("no such epoch");
        }
    }

    @Test
    void onlyFor_answersForThatNode() throws InvalidSpecException {
        EpochSource orders = PlanCases.written(new int[][] {{0}, {1}});
        Placement whole = plan(PlanCases.request(2, 1, orders, 1, PlanCases.sameNodes(2, 1)));
        Placement mine = whole.onlyFor(1);
        assertThat(classes(mine, 1)).containsExactly(NONE, 0);
        assertThat(homes(mine)).isEqualTo(homes(whole));
        assertThatThrownBy(() -> mine.storageClass(0, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void requests_thatCannotBe_areRefused() {
        EpochSource orders = PlanCases.written(new int[][] {{0}});
        assertThatIllegalArgumentException().isThrownBy(() -> new Need(orders, 2, 1, new int[] {0}));
        assertThatIllegalArgumentException().isThrownBy(() -> new Need(orders, 0, 1, new int[0]));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PlanRequest(
                        1,
                        _ -> 1,
                        List.of(new Need(orders, 0, 1, new int[] {1})),
                        PlanCases.sameNodes(1, 1),
                        PlanCases.SLOW_SOURCE));
        assertThatIllegalArgumentException().isThrownBy(() -> PlanLimits.DEFAULT.withThreads(3));
    }

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
    void plan_samplesOfOneSize_fillsEverySlotThatTheirEntriesLeave() throws InvalidSpecException {
        EpochSource orders = PlanCases.torchDistributed(100, 2, 3);
        List<NodeStorage> nodes =
                Collections.nCopies(2, NodeStorage.of(StorageClass.memory(105), PlanCases.ssd(20 * (10 + 7) + 16, 7)));
        Placement placement = plan(PlanCases.request(100, 10, orders, 3, nodes));
        for (int node = 0; node < 2; node++) {
            assertThat(placement.plannedBytes(node, 0)).isEqualTo(100);
            assertThat(placement.plannedBytes(node, 1)).isEqualTo(20 * 17);
        }
        assertThat(Arrays.stream(homes(placement)).filter(home -> home != NONE)).hasSize(60);
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
