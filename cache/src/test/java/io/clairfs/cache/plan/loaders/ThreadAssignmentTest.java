package io.clairfs.cache.plan.loaders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.plan.loaders.RankLoad.Pending;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.Place;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lobster's thread assignment: hand-computed cases, and all assignments of small ones. */
final class ThreadAssignmentTest {
    private static final Place PEER = new Place.Peer(0);
    private static final double THRESHOLD = 1e-6;

    /** A second for each request to the source, a tenth for a peer, a hundredth for a local one. */
    private static final FetchCosts COSTS = (place, _) -> switch (place) {
        case Place.Source() -> 1.0;
        case Place.Peer _ -> 0.1;
        case Place.Local(int _) -> 0.01;
    };

    private static RankLoad load(int source, int peer, int local, double until) {
        return new RankLoad(
                List.of(
                        new Pending(Place.SOURCE, source, source * 1000L),
                        new Pending(PEER, peer, peer * 1000L),
                        new Pending(new Place.Local(0), local, local * 1000L)),
                until);
    }

    private static int[] assign(int threads, RankLoad... ranks) {
        return ThreadAssignment.assign(List.of(ranks), COSTS, Map.of(), threads, THRESHOLD);
    }

    @Test
    void assign_equalRanks_getEqualShares() {
        assertThat(assign(8, load(10, 10, 10, 3), load(10, 10, 10, 3))).containsExactly(4, 4);
    }

    @Test
    void assign_asManyRequestsButFromASlowerPlace_getsMoreThreads() {
        // 30 s against 3 s of one thread's work: 10 of 11 threads make both end after 3 s
        assertThat(assign(11, load(30, 0, 0, 3), load(0, 30, 0, 3))).containsExactly(10, 1);
    }

    @Test
    void assign_rankNeededSooner_getsMoreThreads() {
        // 12 s of work each, needed in 2 s and in 6 s
        assertThat(assign(8, load(12, 0, 0, 2), load(12, 0, 0, 6))).containsExactly(6, 2);
    }

    @Test
    void assign_rankWithAnythingPending_getsOneAtLeast() {
        assertThat(assign(4, load(1000, 0, 0, 1), load(0, 0, 1, 1), load(0, 0, 0, 1)))
                .containsExactly(3, 1, 0);
    }

    @Test
    void assign_fewerThreadsThanRanks_servesTheLatest() {
        assertThat(assign(2, load(1, 0, 0, 5), load(9, 0, 0, 5), load(1, 0, 0, -20)))
                .containsExactly(0, 1, 1);
        assertThat(assign(0, load(1, 0, 0, 5))).containsExactly(0);
    }

    @Test
    void assign_placeThatNeverAnswers_givesAllThreads() {
        RankLoad[] ranks = {load(9, 0, 0, 5), load(9, 0, 0, 5), load(9, 0, 0, 5)};
        int[] threads =
                ThreadAssignment.assign(List.of(ranks), (_, _) -> Double.POSITIVE_INFINITY, Map.of(), 7, THRESHOLD);
        assertThat(Arrays.stream(threads).sum()).isEqualTo(7);
        assertThat(Arrays.stream(threads).min().orElseThrow()).isPositive();
    }

    @Test
    void assign_nothingPending_givesNothing() {
        assertThat(assign(4, load(0, 0, 0, 1), load(0, 0, 0, 1))).containsExactly(0, 0);
        assertThat(assign(4)).isEmpty();
    }

    @Test
    void assign_latestRankIsHopeless_narrowsTheGapOfTheOthers() {
        // the first cannot be helped: with 1 request it is 9 s late or more; the others share what is left
        assertThat(assign(6, load(1, 0, 0, -9), load(20, 0, 0, 30), load(20, 0, 0, 30)))
                .satisfies(threads -> assertThat(threads[1]).isEqualTo(threads[2]));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void assign_randomLoads_latestRankIsAsEarlyAsInAnyAssignment(long seed) {
        Random random = new Random(seed);
        for (int run = 0; run < 200; run++) {
            int threads = 3 + random.nextInt(12);
            RankLoad[] ranks = new RankLoad[2 + random.nextInt(2)];
            for (int i = 0; i < ranks.length; i++) {
                ranks[i] =
                        load(1 + random.nextInt(20), random.nextInt(50), random.nextInt(50), random.nextDouble() * 4);
            }
            int[] assigned = assign(threads, ranks);
            assertThat(Arrays.stream(assigned).sum()).isEqualTo(threads);
            assertThat(Arrays.stream(assigned).min().orElseThrow()).isPositive();
            double best = Double.POSITIVE_INFINITY;
            for (int[] other : all(threads, ranks.length)) {
                best = Math.min(best, latest(ranks, other));
            }
            assertThat(latest(ranks, assigned))
                    .as("seed %d, run %d: %s", seed, run, Arrays.toString(assigned))
                    .isEqualTo(best, within(1e-9));
        }
    }

    private static double latest(RankLoad[] ranks, int[] threads) {
        double latest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < ranks.length; i++) {
            latest = Math.max(latest, threadSeconds(ranks[i]) / threads[i] - ranks[i].secondsUntilNeeded());
        }
        return latest;
    }

    private static double threadSeconds(RankLoad rank) {
        return rank.pending().stream()
                .mapToDouble(each -> each.requests() * COSTS.fetchSeconds(each.place(), 0))
                .sum();
    }

    static List<int[]> all(int threads, int ranks) {
        List<int[]> all = new ArrayList<>();
        if (ranks == 1) {
            all.add(new int[] {threads});
            return all;
        }
        for (int first = 1; first <= threads - ranks + 1; first++) {
            for (int[] rest : all(threads - first, ranks - 1)) {
                int[] whole = new int[ranks];
                whole[0] = first;
                System.arraycopy(rest, 0, whole, 1, rest.length);
                all.add(whole);
            }
        }
        return all;
    }
}
