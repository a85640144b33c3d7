package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.TierContract;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is seen of a sample, and what becomes of its eviction, while compaction moves it by way of memory, as in a full tier. */
final class MovesByMemoryTest {
    private static final String SOURCE = "/data/imagenet";
    private static final int FILES = 64;
    private static final int BYTES = 100;
    private static final long CAPACITY = TierDirectory.fixedBytes() + FILES * (long) (BYTES + IndexEntry.BYTES);

    @TempDir
    private Path root;

    private final DatasetTree tree = FakeTree.of(FILES, _ -> BYTES);

    private SsdTier tier() throws IOException {
        SsdTier tier = new SsdTier(root, SOURCE, CAPACITY, 0, System::nanoTime, line -> {
            throw new AssertionError(line);
        });
        tier.recover(tree);
        return tier;
    }

    @BeforeEach
    void fill() throws IOException {
        try (SsdTier tier = tier()) {
            for (int i = 0; i < FILES; i++) {
                assertThat(TierContract.keep(tier, tree, FakeTree.number(tree, i)))
                        .isTrue();
            }
        }
    }

    /** Tells when a sample is about to lose its place, and when it has lost it. */
    private static final class WatchedPlaces extends Places {
        private IntConsumer before = _ -> {};
        private IntConsumer after = _ -> {};

        WatchedPlaces(int files) {
            super(files);
        }

        @Override
        boolean replace(int file, long expected, long place) {
            if (place != NOWHERE) {
                return super.replace(file, expected, place);
            }
            before.accept(file);
            boolean done = super.replace(file, expected, place);
            after.accept(file);
            return done;
        }
    }

    /** The parts of the full tier, of which one sample is evicted, so that a step moves others. */
    private final class Full implements AutoCloseable {
        private final TierDirectory directory = new TierDirectory(root, SOURCE, false);
        private final SegmentLog log = new SegmentLog(directory, CAPACITY);
        private final WatchedPlaces places = new WatchedPlaces(tree.entryCount());
        private final OpenFiles openFiles = new OpenFiles(directory, 16);
        private final KeptSamples samples;
        private final Compaction compaction;

        Full() throws IOException {
            MediumHealth health = new MediumHealth(System::nanoTime, line -> {
                throw new AssertionError(line);
            });
            SegmentPins pins = new SegmentPins(1);
            samples = new KeptSamples(tree, places, log, openFiles, pins, health);
            FreeSpace freeSpace = new FreeSpace(directory::freeBytes, 0, System::nanoTime);
            compaction = new Compaction(
                    log, freeSpace, places, samples, new WritesUnderWay(), openFiles, pins, System::nanoTime);
            new Recovery(directory, tree, places, log, health).run();
            assertThat(log.diskBytes()).isEqualTo(CAPACITY);
            samples.evict(FakeTree.number(tree, 0));
        }

        boolean isReadable(int file) {
            SampleBuffer sample = samples.read(file);
            if (sample != null) {
                sample.release();
            }
            return sample != null;
        }

        @Override
        public void close() {
            openFiles.close();
            directory.close();
        }
    }

    @Test
    void sampleThatIsMoved_isHereAllTheTime() throws Exception {
        List<Integer> moved = new ArrayList<>();
        try (Full full = new Full()) {
            full.places.after = file -> {
                assertThat(full.places.get(file)).isEqualTo(Places.NOWHERE);
                assertThat(full.samples.contains(file)).isTrue();
                assertThat(full.isReadable(file)).isTrue();
                moved.add(file);
            };
            assertThat(full.compaction.step()).isTrue();
            assertThat(moved).isNotEmpty().allMatch(full.samples::isWritten).allMatch(full::isReadable);
            assertThat(full.log.liveSamples()).isEqualTo(FILES - 1);
        }
    }

    @Test
    void sampleThatIsEvictedWhileItIsMoved_doesNotComeBack() throws Exception {
        List<Integer> evicted = new ArrayList<>();
        try (Full full = new Full()) {
            full.places.after = file -> {
                if (evicted.isEmpty()) {
                    evicted.add(file);
                    full.samples.evict(file);
                    assertThat(full.samples.contains(file)).isFalse();
                    assertThat(full.isReadable(file)).isFalse();
                }
            };
            assertThat(full.compaction.step()).isTrue();
            assertThat(evicted).hasSize(1).noneMatch(full.samples::contains);
            assertThat(full.log.liveSamples()).isEqualTo(FILES - 2);
        }
        requireGone(evicted.getFirst());
    }

    @Test
    void sampleThatIsEvictedAfterItWasReadForAMove_doesNotComeBack() throws Exception {
        List<Integer> evicted = new ArrayList<>();
        try (Full full = new Full()) {
            full.places.before = file -> {
                if (evicted.isEmpty()) {
                    evicted.add(file);
                    full.samples.evict(file);
                }
            };
            assertThat(full.compaction.step()).isTrue();
            assertThat(evicted).hasSize(1).noneMatch(full.samples::contains);
            assertThat(full.log.liveSamples()).isEqualTo(FILES - 2);
        }
        requireGone(evicted.getFirst());
    }

    private void requireGone(int file) throws IOException {
        try (SsdTier again = tier()) {
            assertThat(again.samples()).isEqualTo(FILES - 2);
            assertThat(TierContract.comesOut(again, tree, file)).isFalse();
        }
    }
}
