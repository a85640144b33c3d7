package io.clairfs.cache.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the memory tier promises: the contract of tiers, and what it does with samples that nobody planned. */
final class MemoryTierTest extends TierContract {
    @Override
    public Tier tier(long capacityBytes, DatasetTree tree) {
        return new MemoryTier(capacityBytes);
    }

    private static SampleBuffer sample(int file, long size) {
        SampleBuffer buffer = SampleBuffer.allocate(size);
        buffer.bytes().fill((byte) file);
        return buffer;
    }

    @Test
    void keep_fullTier_refusesAndKeepsWhatItHas() {
        MemoryTier tier = new MemoryTier(100);
        SampleBuffer first = sample(1, 60);
        SampleBuffer second = sample(2, 60);
        assertThat(tier.keep(1, first)).isTrue();
        assertThat(tier.keep(2, second)).isFalse();
        assertThat(tier.contains(1)).isTrue();
        assertThat(tier.usedBytes()).isEqualTo(60);
        first.release();
        second.release();
    }

    @Test
    void keepRecent_makesRoom() {
        MemoryTier tier = new MemoryTier(100);
        for (int file = 0; file < 10; file++) {
            SampleBuffer buffer = sample(file, 40);
            assertThat(tier.keepRecent(file, buffer)).isTrue();
            buffer.release();
            assertThat(tier.usedBytes()).isLessThanOrEqualTo(100);
        }
        assertThat(tier.samples()).isBetween(1, 2);
    }

    @Test
    void closed_sampleTakenOutStaysReadableUntilReleased() {
        MemoryTier tier = new MemoryTier(100);
        SampleBuffer buffer = sample(7, 50);
        tier.keep(7, buffer);
        buffer.release();
        SampleBuffer held = tier.get(7);
        assertThat(held).isNotNull();
        tier.close();
        assertThat(tier.get(7)).isNull();
        assertThat(held.bytes().get(ValueLayout.JAVA_BYTE, 49)).isEqualTo((byte) 7);
        held.release();
        assertThat(held.tryRetain()).isFalse();
    }

    @Test
    void sameSampleTwice_isKeptOnce() {
        MemoryTier tier = new MemoryTier(200);
        SampleBuffer first = sample(1, 60);
        SampleBuffer second = sample(1, 60);
        assertThat(tier.keep(1, first)).isTrue();
        assertThat(tier.keep(1, second)).as("it is here").isTrue();
        assertThat(tier.usedBytes()).isEqualTo(60);
        assertThat(tier.samples()).isEqualTo(1);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {11, 12, 13})
    void pinsAndRecentsFromManyThreads_neverAWrongByteNorMoreThanItsRoom(long seed) throws Exception {
        MemoryTier tier = new MemoryTier(10_000);
        List<Future<?>> readers = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (int t = 0; t < 4; t++) {
                Random random = new Random(seed * 31 + t);
                readers.add(threads.submit(() -> {
                    for (int i = 0; i < 20_000; i++) {
                        int file = random.nextInt(100);
                        SampleBuffer held = tier.get(file);
                        if (held == null) {
                            held = sample(file, 100 + file);
                            if (random.nextBoolean()) {
                                tier.keep(file, held);
                            } else {
                                assertThat(tier.keepRecent(file, held) || tier.pinnedBytes() > 0)
                                        .isTrue();
                            }
                        }
                        if (held.bytes().get(ValueLayout.JAVA_BYTE, random.nextInt(100 + file)) != (byte) file) {
                            throw new AssertionError("wrong byte in " + file);
                        }
                        held.release();
                    }
                }));
            }
            for (Future<?> reader : readers) {
                reader.get();
            }
        }
        assertThat(tier.usedBytes()).isBetween(1L, 10_000L);
        tier.close();
        assertThat(tier.usedBytes()).isZero();
        assertThat(tier.samples()).isZero();
    }

    @Test
    void keepRecent_ofAPinnedSample_isHereHoweverLittleRoomIsLeft() {
        try (MemoryTier tier = new MemoryTier(100)) {
            SampleBuffer pinned = sample(1, 80);
            tier.keep(1, pinned);
            assertThat(tier.keepRecent(1, pinned)).isTrue();
            assertThat(tier.pinnedBytes()).isEqualTo(80);
            assertThat(tier.usedBytes()).isEqualTo(80);
            pinned.release();
        }
    }

    @Test
    void keepRecent_inAClosedTier_takesNothing() {
        MemoryTier tier = new MemoryTier(100);
        tier.close();
        SampleBuffer late = sample(1, 50);
        assertThat(tier.keepRecent(1, late)).isFalse();
        assertThat(tier.usedBytes()).isZero();
        late.release();
        assertThat(late.tryRetain()).isFalse();
    }

    @Test
    void sameSampleFromManyThreads_withRoomForOneOnly_allAreTold() throws Exception {
        try (MemoryTier tier = new MemoryTier(100);
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (int round = 0; round < 2_000; round++) {
                CyclicBarrier together = new CyclicBarrier(4);
                List<Future<Boolean>> kept = new ArrayList<>();
                for (int t = 0; t < 4; t++) {
                    kept.add(threads.submit(() -> {
                        SampleBuffer mine = sample(1, 60);
                        together.await(60, TimeUnit.SECONDS);
                        boolean here = tier.keep(1, mine);
                        mine.release();
                        return here;
                    }));
                }
                for (Future<Boolean> each : kept) {
                    assertThat(each.get()).as("round " + round).isTrue();
                }
                assertThat(tier.pinnedBytes()).isEqualTo(60);
                tier.evict(1);
            }
        }
    }

    @Test
    void pinnedSamples_areNotAmongThoseThatAnEvictionLooksAt() {
        try (MemoryTier tier = new MemoryTier(12_000)) {
            SampleBuffer one = sample(1, 1);
            for (int file = 0; file < 10_000; file++) {
                assertThat(tier.keep(file, one)).isTrue();
            }
            for (int file = 10_000; file < 14_000; file++) {
                assertThat(tier.keepRecent(file, one)).isTrue();
            }
            assertThat(tier.evictable()).isBetween(1L, 2_000L);
            assertThat(tier.pinnedBytes()).isEqualTo(10_000);
            assertThat(tier.usedBytes()).isEqualTo(tier.samples()).isLessThanOrEqualTo(12_000);
            one.release();
        }
    }

    @Test
    void keep_ofARecentSample_pinsItAndCountsItOnce() {
        try (MemoryTier tier = new MemoryTier(100)) {
            SampleBuffer first = sample(1, 60);
            SampleBuffer second = sample(1, 60);
            assertThat(tier.keepRecent(1, first)).isTrue();
            assertThat(tier.isPinned(1)).isFalse();
            assertThat(tier.keep(1, second)).isTrue();
            assertThat(tier.isPinned(1)).isTrue();
            assertThat(tier.usedBytes()).isEqualTo(60);
            assertThat(tier.samples()).isEqualTo(1);
            first.release();
            assertThat(first.tryRetain()).as("the one that made way is free").isFalse();
            second.release();
        }
    }

    @Test
    void recentSamplesLargerThanAnIntCounts_stayWithinTheRoom() {
        long gib = 1L << 30;
        try (MemoryTier tier = new MemoryTier(4 * gib)) {
            for (int file = 0; file < 4; file++) {
                SampleBuffer large = SampleBuffer.allocate(3 * gib); // never touched
                tier.keepRecent(file, large);
                large.release();
                assertThat(tier.usedBytes()).isLessThanOrEqualTo(4 * gib);
            }
            assertThat(tier.samples()).isEqualTo(1);
        }
    }

    @Test
    void recentSamplesWithoutBytes_areNotKeptWithoutEnd() {
        try (MemoryTier tier = new MemoryTier(100)) {
            SampleBuffer empty = SampleBuffer.allocate(0);
            for (int file = 0; file < 1_000; file++) {
                tier.keepRecent(file, empty);
            }
            assertThat(tier.samples()).isLessThanOrEqualTo(100);
            empty.release();
        }
    }
}
