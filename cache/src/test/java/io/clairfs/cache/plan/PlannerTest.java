package io.clairfs.cache.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Held;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Placements of small plans, computed by hand. */
final class PlannerTest extends PlannerFixture {
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
}
