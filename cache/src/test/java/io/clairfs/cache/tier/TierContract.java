package io.clairfs.cache.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What every tier promises, whatever it is made of. */
public abstract class TierContract {
    /** The most that a tier may count for a sample beside its bytes. */
    private static final int OVERHEAD = 64;

    /** An empty tier that takes samples of {@code tree}. */
    public abstract Tier tier(long capacityBytes, DatasetTree tree) throws Exception;

    public static boolean keep(Tier tier, DatasetTree tree, int file) {
        SampleBuffer sample = FakeTree.sample(tree, file);
        try {
            return tier.keep(file, sample);
        } finally {
            sample.release();
        }
    }

    /** Whether the sample comes out; fails when it comes out wrong. */
    public static boolean comesOut(Tier tier, DatasetTree tree, int file) {
        SampleBuffer sample = tier.get(file);
        if (sample == null) {
            return false;
        }
        try {
            assertThat(FakeTree.isRight(tree, file, sample))
                    .as("bytes of " + file)
                    .isTrue();
        } finally {
            sample.release();
        }
        return true;
    }

    @Test
    void newTier_isEmptyAndTakesSamples() throws Exception {
        DatasetTree tree = FakeTree.of(100, 200);
        try (Tier tier = tier(10_000, tree)) {
            int file = FakeTree.number(tree, 0);
            assertThat(tier.name()).isNotEmpty();
            assertThat(tier.isWritable()).isTrue();
            assertThat(tier.contains(file)).isFalse();
            assertThat(tier.get(file)).isNull();
            assertThat(tier.samples()).isZero();
            assertThat(tier.usedBytes()).isZero();
            assertThat(tier.capacityBytes()).isEqualTo(10_000);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }

    @Test
    void keep_thenGet_givesTheSameBytesAgainAndAgain() throws Exception {
        DatasetTree tree = FakeTree.of(100, 200, 300);
        try (Tier tier = tier(10_000, tree)) {
            for (int i = 0; i < 3; i++) {
                assertThat(keep(tier, tree, FakeTree.number(tree, i))).isTrue();
            }
            for (int round = 0; round < 2; round++) {
                for (int i = 0; i < 3; i++) {
                    assertThat(tier.contains(FakeTree.number(tree, i))).isTrue();
                    assertThat(comesOut(tier, tree, FakeTree.number(tree, i))).isTrue();
                }
            }
            assertThat(tier.samples()).isEqualTo(3);
            assertThat(tier.usedBytes()).isBetween(600L, 600L + 3 * OVERHEAD);
        }
    }

    @Test
    void keep_sampleThatIsThere_keepsItOnce() throws Exception {
        DatasetTree tree = FakeTree.of(100);
        int file = FakeTree.number(tree, 0);
        try (Tier tier = tier(10_000, tree)) {
            assertThat(keep(tier, tree, file)).isTrue();
            long used = tier.usedBytes();
            assertThat(keep(tier, tree, file)).isTrue();
            assertThat(tier.usedBytes()).isEqualTo(used);
            assertThat(tier.samples()).isEqualTo(1);
        }
    }

    @Test
    void keep_leavesTheCallerItsReference() throws Exception {
        DatasetTree tree = FakeTree.of(100, 20_000);
        try (Tier tier = tier(10_000, tree)) {
            for (int i = 0; i < 2; i++) {
                int file = FakeTree.number(tree, i);
                SampleBuffer sample = FakeTree.sample(tree, file);
                assertThat(tier.keep(file, sample)).isEqualTo(i == 0);
                tier.evict(file);
                assertThat(FakeTree.isRight(tree, file, sample)).isTrue();
                sample.release();
                assertThat(sample.tryRetain()).as("somebody still holds it").isFalse();
            }
        }
    }

    @Test
    void sampleTakenOut_staysReadableUntilReleased() throws Exception {
        DatasetTree tree = FakeTree.of(100, 200);
        int evicted = FakeTree.number(tree, 0);
        int closed = FakeTree.number(tree, 1);
        SampleBuffer first;
        SampleBuffer second;
        try (Tier tier = tier(10_000, tree)) {
            keep(tier, tree, evicted);
            keep(tier, tree, closed);
            first = tier.get(evicted);
            second = tier.get(closed);
            assertThat(first).isNotNull();
            assertThat(second).isNotNull();
            tier.evict(evicted);
            assertThat(FakeTree.isRight(tree, evicted, first)).isTrue();
        }
        assertThat(FakeTree.isRight(tree, closed, second)).isTrue();
        first.release();
        second.release();
        assertThat(first.tryRetain()).isFalse();
        assertThat(second.tryRetain()).isFalse();
    }

    @Test
    void evict_forgetsAndGivesTheRoomBack() throws Exception {
        DatasetTree tree = FakeTree.of(100, 200);
        try (Tier tier = tier(10_000, tree)) {
            int gone = FakeTree.number(tree, 0);
            int stays = FakeTree.number(tree, 1);
            keep(tier, tree, gone);
            keep(tier, tree, stays);
            tier.evict(gone);
            tier.evict(gone);
            assertThat(tier.contains(gone)).isFalse();
            assertThat(tier.get(gone)).isNull();
            assertThat(comesOut(tier, tree, stays)).isTrue();
            assertThat(tier.samples()).isEqualTo(1);
            tier.evict(stays);
            assertThat(tier.usedBytes()).isZero();
            assertThat(keep(tier, tree, gone)).isTrue();
            assertThat(comesOut(tier, tree, gone)).isTrue();
        }
    }

    @Test
    void fullTier_refusesAndKeepsWhatItHas_untilSomethingIsEvicted() throws Exception {
        DatasetTree tree = FakeTree.of(100, i -> 10_000);
        try (Tier tier = tier(300_000, tree)) {
            int kept = 0;
            while (keep(tier, tree, FakeTree.number(tree, kept))) {
                kept++;
            }
            assertThat(kept).isBetween(28, 30);
            assertThat(tier.usedBytes()).isLessThanOrEqualTo(300_000);
            for (int i = 0; i < kept; i++) {
                assertThat(comesOut(tier, tree, FakeTree.number(tree, i))).isTrue();
            }
            for (int i = 0; i < kept; i++) {
                tier.evict(FakeTree.number(tree, (i * 7) % kept));
                assertThat(keep(tier, tree, FakeTree.number(tree, kept + i)))
                        .as("in place of " + i)
                        .isTrue();
            }
            for (int i = 0; i < kept; i++) {
                assertThat(comesOut(tier, tree, FakeTree.number(tree, kept + i)))
                        .isTrue();
            }
            assertThat(tier.samples()).isEqualTo(kept);
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }

    @Test
    void sampleLargerThanTheTier_isRefused() throws Exception {
        DatasetTree tree = FakeTree.of(100_001);
        int file = FakeTree.number(tree, 0);
        try (Tier tier = tier(100_000, tree)) {
            assertThat(keep(tier, tree, file)).isFalse();
            assertThat(tier.contains(file)).isFalse();
            assertThat(tier.usedBytes()).isZero();
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
        }
    }

    @Test
    void sampleThatIsMostOfTheTier_isKept() throws Exception {
        DatasetTree tree = FakeTree.of(8_000_000, 1_900_000, 100_000);
        try (Tier tier = tier(10_000_000, tree)) {
            for (int i = 0; i < 2; i++) {
                assertThat(keep(tier, tree, FakeTree.number(tree, i))).isTrue();
                assertThat(comesOut(tier, tree, FakeTree.number(tree, i))).isTrue();
            }
        }
    }

    @Test
    void emptySample_isKeptLikeAnyOther() throws Exception {
        DatasetTree tree = FakeTree.of(0, 0, 10);
        try (Tier tier = tier(10_000, tree)) {
            for (int i = 0; i < 3; i++) {
                assertThat(keep(tier, tree, FakeTree.number(tree, i))).isTrue();
            }
            for (int i = 0; i < 3; i++) {
                assertThat(comesOut(tier, tree, FakeTree.number(tree, i))).isTrue();
            }
            assertThat(tier.samples()).isEqualTo(3);
        }
    }

    @Test
    void closedTier_hasNothingAndTakesNothing() throws Exception {
        DatasetTree tree = FakeTree.of(100, 200);
        Tier tier = tier(10_000, tree);
        int file = FakeTree.number(tree, 0);
        keep(tier, tree, file);
        tier.close();
        tier.close();
        assertThat(tier.get(file)).isNull();
        assertThat(keep(tier, tree, FakeTree.number(tree, 1))).isFalse();
        tier.evict(file);
    }

    @Test
    void sameSampleFromManyThreads_isKeptOnceAndAllAreTold() throws Exception {
        DatasetTree tree = FakeTree.of(100_000);
        int file = FakeTree.number(tree, 0);
        try (Tier tier = tier(10_000_000, tree);
                ExecutorService threads = Executors.newFixedThreadPool(8)) {
            for (int round = 0; round < 20; round++) {
                List<Future<Boolean>> kept = new ArrayList<>();
                for (int t = 0; t < 8; t++) {
                    kept.add(threads.submit(() -> keep(tier, tree, file)));
                }
                for (Future<Boolean> each : kept) {
                    assertThat(each.get()).isTrue();
                }
                assertThat(tier.samples()).isEqualTo(1);
                tier.evict(file);
            }
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {21, 22, 23})
    void manyThreads_neverAWrongByteNorMoreThanItsRoom(long seed) throws Exception {
        DatasetTree tree = FakeTree.of(200, i -> i * 97L);
        long capacity = 1_000_000;
        try (Tier tier = tier(capacity, tree);
                ExecutorService threads = Executors.newFixedThreadPool(6)) {
            List<Future<?>> all = new ArrayList<>();
            for (int t = 0; t < 6; t++) {
                Random random = new Random(seed * 31 + t);
                all.add(threads.submit(() -> {
                    for (int i = 0; i < 3_000; i++) {
                        int file = FakeTree.number(tree, random.nextInt(200));
                        int what = random.nextInt(10);
                        if (what < 4) {
                            comesOut(tier, tree, file);
                        } else if (what < 8) {
                            keep(tier, tree, file);
                        } else {
                            tier.evict(file);
                        }
                        assertThat(tier.usedBytes()).isBetween(0L, capacity);
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
            assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
            int count = 0;
            for (int i = 0; i < 200; i++) {
                count += comesOut(tier, tree, FakeTree.number(tree, i)) ? 1 : 0;
            }
            assertThat(tier.samples()).isEqualTo(count).isPositive();
            for (int i = 0; i < 200; i++) {
                tier.evict(FakeTree.number(tree, i));
            }
            assertThat(tier.usedBytes()).isZero();
        }
    }
}
