package io.clairfs.cache.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.RandomSeeds;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Random sequences of everything that can be done to the memory tier, against a model of what it should hold.
 *
 * <p>The model says exactly what is pinned. Of recent samples it knows only which may be there.
 */
final class MemoryTierModelTest {
    private static final int FILES = 60;
    private static final int OPERATIONS = 4_000;
    private static final long CAPACITY = 10_000;

    private final List<SampleBuffer> made = new ArrayList<>();

    /** Some are empty, one is larger than the tier. */
    private static long size(int file) {
        return file == 7 ? CAPACITY + 1 : file * 17L;
    }

    private static SampleBuffer sample(int file) {
        SampleBuffer sample = SampleBuffer.allocate(size(file));
        sample.bytes().fill((byte) (file + 1));
        return sample;
    }

    private static boolean isRight(int file, SampleBuffer sample) {
        byte[] bytes = sample.bytes().toArray(ValueLayout.JAVA_BYTE);
        for (byte each : bytes) {
            if (each != (byte) (file + 1)) {
                return false;
            }
        }
        return bytes.length == size(file);
    }

    private SampleBuffer make(int file) {
        SampleBuffer sample = sample(file);
        made.add(sample);
        return sample;
    }

    /** A sample that was taken out and is still being read. */
    private record InHand(int file, SampleBuffer sample) {
        void requireRight() {
            assertThat(isRight(file, sample)).as("bytes of " + file).isTrue();
        }
    }

    /** What one tier should hold. */
    private static final class Model {
        private final Set<Integer> pinned = new HashSet<>();
        private final Set<Integer> perhapsRecent = new HashSet<>();

        long pinnedBytes() {
            return pinned.stream().mapToLong(MemoryTierModelTest::size).sum();
        }

        boolean keep(int file) {
            if (!pinned.contains(file) && pinnedBytes() + size(file) > CAPACITY) {
                return false;
            }
            pinned.add(file);
            perhapsRecent.remove(file);
            return true;
        }

        void evict(int file) {
            pinned.remove(file);
            perhapsRecent.remove(file);
        }
    }

    // Promise T4
    @ParameterizedTest(name = "seed {0}")
    @RandomSeeds({1, 2, 3, 4, 5, 6, 7, 8})
    void randomOperations_holdWhatTheModelHolds(long seed) {
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        List<InHand> inHand = new ArrayList<>();
        for (int life = 0; life < 4; life++) {
            MemoryTier tier = new MemoryTier(CAPACITY);
            Model model = new Model();
            int pinsOfTen = random.nextInt(2, 7);
            for (int n = 0; n < OPERATIONS; n++) {
                int file = random.nextInt(FILES);
                String what = operate(tier, model, random.nextInt(100), pinsOfTen, file, inHand, random);
                check(tier, model, "life " + life + " operation " + n + " " + what + " " + file);
            }
            tier.close();
            check(tier, new Model(), "closed");
            assertThat(tier.samples()).isZero();
            SampleBuffer late = make(1);
            assertThat(tier.keep(1, late)).isFalse();
            assertThat(tier.keepRecent(1, late)).isFalse();
            late.release();
            inHand.forEach(InHand::requireRight);
        }
        inHand.forEach(each -> each.sample.release());
        for (SampleBuffer sample : made) {
            assertThat(sample.tryRetain()).as("still held").isFalse();
        }
    }

    private String operate(
            MemoryTier tier, Model model, int what, int pinsOfTen, int file, List<InHand> inHand, Random random) {
        if (what < 5 * pinsOfTen) {
            SampleBuffer sample = make(file);
            assertThat(tier.keep(file, sample)).isEqualTo(model.keep(file));
            sample.release();
            return "keep";
        } else if (what < 50) {
            SampleBuffer sample = make(file);
            boolean kept = tier.keepRecent(file, sample);
            if (model.pinned.contains(file)) {
                assertThat(kept).isTrue();
            } else if (model.pinnedBytes() + size(file) > CAPACITY) {
                assertThat(kept).isFalse();
            } else if (kept) {
                model.perhapsRecent.add(file);
            }
            sample.release();
            return "keepRecent";
        } else if (what < 75) {
            SampleBuffer sample = tier.get(file);
            if (sample != null) {
                inHand.add(new InHand(file, sample));
                inHand.getLast().requireRight();
            }
            if (inHand.size() > 20) {
                InHand gone = inHand.remove(random.nextInt(inHand.size()));
                gone.requireRight();
                gone.sample.release();
            }
            return "get";
        } else {
            tier.evict(file);
            model.evict(file);
            return "evict";
        }
    }

    private static void check(MemoryTier tier, Model model, String when) {
        long bytes = 0;
        int samples = 0;
        for (int file = 0; file < FILES; file++) {
            if (tier.contains(file)) {
                samples++;
                bytes += size(file);
                assertThat(model.pinned.contains(file) || model.perhapsRecent.contains(file))
                        .as("%s: %d is here", when, file)
                        .isTrue();
            } else {
                assertThat(model.pinned).as("%s: pinned samples stay", when).doesNotContain(file);
                model.perhapsRecent.remove(file);
            }
        }
        assertThat(tier.pinnedBytes()).as(when).isEqualTo(model.pinnedBytes());
        assertThat(tier.usedBytes()).as(when).isEqualTo(bytes).isLessThanOrEqualTo(CAPACITY);
        assertThat(tier.samples()).as(when).isEqualTo(samples);
    }

    /** Each thread has files of its own, so that it knows which of them are pinned, and shares the room with the others. */
    @ParameterizedTest(name = "seed {0}")
    @RandomSeeds({31, 32, 33, 34})
    void manyThreads_pinnedSamplesStayAndTheBooksBalance(long seed) throws Exception {
        System.out.println("seed " + seed);
        MemoryTier tier = new MemoryTier(CAPACITY);
        int threadCount = 4;
        List<Future<Set<Integer>>> pinned = new ArrayList<>();
        List<List<SampleBuffer>> madeBy = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(threadCount)) {
            for (int t = 0; t < threadCount; t++) {
                int mine = t;
                List<SampleBuffer> madeHere = new ArrayList<>();
                madeBy.add(madeHere);
                Random random = new Random(seed * 31 + t);
                pinned.add(threads.submit(() -> {
                    Set<Integer> pins = new HashSet<>();
                    for (int n = 0; n < 20_000; n++) {
                        int file = random.nextInt(FILES / threadCount) * threadCount + mine;
                        ownFile(tier, pins, file, random.nextInt(100), madeHere);
                    }
                    return pins;
                }));
            }
            long bytes = 0;
            for (Future<Set<Integer>> each : pinned) {
                bytes +=
                        each.get().stream().mapToLong(MemoryTierModelTest::size).sum();
            }
            assertThat(tier.pinnedBytes()).isEqualTo(bytes);
            assertThat(tier.usedBytes()).isBetween(bytes, CAPACITY);
        }
        tier.close();
        assertThat(tier.usedBytes()).isZero();
        assertThat(tier.samples()).isZero();
        for (List<SampleBuffer> each : madeBy) {
            assertThat(each).noneMatch(SampleBuffer::tryRetain);
        }
    }

    private static void ownFile(MemoryTier tier, Set<Integer> pins, int file, int what, List<SampleBuffer> madeHere) {
        if (what < 50) {
            SampleBuffer sample = sample(file);
            madeHere.add(sample);
            if (what < 25) {
                if (tier.keep(file, sample)) {
                    pins.add(file);
                } else {
                    assertThat(pins).doesNotContain(file);
                }
            } else {
                tier.keepRecent(file, sample);
            }
            sample.release();
        } else if (what < 80) {
            SampleBuffer sample = tier.get(file);
            if (sample != null) {
                assertThat(isRight(file, sample)).isTrue();
                sample.release();
            } else {
                assertThat(pins).as("pinned samples stay").doesNotContain(file);
            }
        } else {
            tier.evict(file);
            pins.remove(file);
            assertThat(tier.contains(file)).isFalse();
        }
    }
}
