package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.TierContract;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A tier of many segments that must become smaller: which samples go, and how often all places are walked for that. */
@Timeout(120)
final class SsdTierShrinkTest {
    private static final String SOURCE = "/data/imagenet";
    private static final int SEGMENTS = 300;
    private static final int SAMPLES_A_SEGMENT = 4;
    private static final int BYTES = 100;
    private static final long SAMPLE_ON_DISK = BYTES + IndexEntry.BYTES;
    private static final long SEGMENT_ON_DISK = SAMPLES_A_SEGMENT * SAMPLE_ON_DISK;
    private static final long ALL_ON_DISK = TierDirectory.fixedBytes() + SEGMENTS * SEGMENT_ON_DISK;

    @TempDir
    private Path root;

    private final DatasetTree tree = FakeTree.of(SEGMENTS * SAMPLES_A_SEGMENT, _ -> BYTES);

    /** Counts the walks through all files. */
    private static final class CountedPlaces extends Places {
        private int walks;

        CountedPlaces(int files) {
            super(files);
        }

        @Override
        void forget(BitSet slots) {
            walks++;
            super.forget(slots);
        }

        @Override
        long[] filesIn(int slot) {
            walks++;
            return super.filesIn(slot);
        }
    }

    /** The parts of a tier once what is on the disk has been found, and before anything is read or written. */
    private final class Found implements AutoCloseable {
        private final TierDirectory directory = new TierDirectory(root, SOURCE, false);
        private final SegmentLog log = new SegmentLog(directory, ALL_ON_DISK);
        private final CountedPlaces places = new CountedPlaces(tree.entryCount());
        private final OpenFiles openFiles = new OpenFiles(directory, 16);
        private final KeptSamples samples;
        private final Compaction compaction;

        Found() throws IOException {
            MediumHealth health = new MediumHealth(System::nanoTime, line -> {
                throw new AssertionError(line);
            });
            SegmentPins pins = new SegmentPins(1);
            samples = new KeptSamples(tree, places, log, openFiles, pins, health);
            FreeSpace freeSpace = new FreeSpace(directory::freeBytes, 0, System::nanoTime);
            compaction = new Compaction(
                    log, freeSpace, places, samples, new WritesUnderWay(), openFiles, pins, System::nanoTime);
            new Recovery(directory, tree, places, log, health).run();
            assertThat(log.liveSamples()).isEqualTo(SEGMENTS * SAMPLES_A_SEGMENT);
            assertThat(log.diskBytes()).isEqualTo(ALL_ON_DISK);
        }

        /** The segments of which every sample can be read, by their numbers. Fails where only some of a segment's can. */
        List<Integer> readable() {
            return IntStream.rangeClosed(1, SEGMENTS)
                    .filter(this::isReadable)
                    .boxed()
                    .toList();
        }

        private boolean isReadable(int segment) {
            int read = 0;
            for (int entry = 0; entry < SAMPLES_A_SEGMENT; entry++) {
                SampleBuffer sample = samples.read(file(segment, entry));
                if (sample != null) {
                    sample.release();
                    read++;
                }
            }
            assertThat(read).as("samples of segment %d", segment).isIn(0, SAMPLES_A_SEGMENT);
            return read > 0;
        }

        @Override
        public void close() {
            openFiles.close();
            directory.close();
        }
    }

    /** The number in the tree of the sample at an entry of a segment. */
    private int file(int segment, int entry) {
        return FakeTree.number(tree, (segment - 1) * SAMPLES_A_SEGMENT + entry);
    }

    private static List<Integer> segments(int from, int to) {
        return IntStream.rangeClosed(from, to).boxed().toList();
    }

    /** What a tier can write only with a capacity of many gigabytes. */
    @BeforeEach
    void writeSegments() throws IOException {
        try (TierDirectory directory = new TierDirectory(root, SOURCE, false)) {
            for (int number = 1; number <= SEGMENTS; number++) {
                Segment segment = Segment.create(directory, number);
                try {
                    for (int at = 0; at < SAMPLES_A_SEGMENT; at++) {
                        write(segment, at);
                    }
                } finally {
                    segment.closeFiles();
                }
            }
        }
    }

    private void write(Segment segment, int at) throws PosixException {
        int file = file(segment.number(), at);
        Entry entry = tree.entry(file);
        SampleIdentity identity = SampleIdentity.of(tree.view(), entry.listing(), entry.at());
        SampleBuffer sample = FakeTree.sample(tree, file);
        try {
            int crc = identity.crc(sample.bytes());
            segment.write(new IndexEntry(identity, (long) at * BYTES, segment.number(), at, crc), sample.bytes());
        } finally {
            sample.release();
        }
    }

    private SsdTier unrecovered(long capacity) throws IOException {
        return new SsdTier(root, SOURCE, capacity, 0, System::nanoTime, line -> {
            throw new AssertionError(line);
        });
    }

    /** The numbers of the segments on the disk. */
    private List<Integer> segmentsOnDisk() throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".data"))
                    .map(name -> Integer.parseInt(name.substring(0, name.indexOf('.'))))
                    .sorted()
                    .toList();
        }
    }

    private Path index(int segment) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.endsWith(Segment.indexName(segment)))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void manySegmentsTooMany_theOldestGo_inOneWalkThroughThePlaces() throws Exception {
        List<Integer> left = segments(SEGMENTS - 99, SEGMENTS);
        try (Found found = new Found()) {
            found.compaction.shrinkTo(TierDirectory.fixedBytes() + 101 * SEGMENT_ON_DISK - 1, () -> true);
            assertThat(found.places.walks).isEqualTo(1);
            assertThat(segmentsOnDisk()).isEqualTo(left);
            assertThat(found.readable()).isEqualTo(left);
            assertThat(found.log.diskBytes()).isEqualTo(TierDirectory.fixedBytes() + 100 * SEGMENT_ON_DISK);
            assertThat(found.log.liveSamples()).isEqualTo(100 * SAMPLES_A_SEGMENT);
            assertThat(found.log.liveBytes()).isEqualTo(100 * SEGMENT_ON_DISK);
            assertThat(found.log.deadBytes()).isZero();
        }
        try (SsdTier tier = unrecovered(ALL_ON_DISK)) {
            tier.recover(tree);
            assertThat(tier.samples()).isEqualTo(100 * SAMPLES_A_SEGMENT);
            for (int segment : left) {
                for (int entry = 0; entry < SAMPLES_A_SEGMENT; entry++) {
                    assertThat(TierContract.comesOut(tier, tree, file(segment, entry)))
                            .isTrue();
                }
            }
        }
    }

    @Test
    void emptySegments_goBeforeTheOldestSamples() throws Exception {
        try (Found found = new Found()) {
            for (int entry = 0; entry < SAMPLES_A_SEGMENT; entry++) {
                found.samples.evict(file(150, entry));
                found.samples.evict(file(SEGMENTS, entry));
            }
            found.compaction.shrinkTo(ALL_ON_DISK - 3 * SEGMENT_ON_DISK, () -> true);
            List<Integer> left = segments(2, SEGMENTS - 1);
            assertThat(found.readable())
                    .isEqualTo(left.stream().filter(s -> s != 150).toList());
            assertThat(found.log.diskBytes()).isEqualTo(ALL_ON_DISK - 3 * SEGMENT_ON_DISK);
            assertThat(found.places.walks).isEqualTo(1);
        }
    }

    @Test
    void segmentThatCannotBeRemoved_keepsItsSamples_andSoDoTheNewerOnes() throws Exception {
        try (Found found = new Found()) {
            Path index = index(3);
            Files.delete(index);
            Files.createDirectory(index);
            assertThatThrownBy(() -> found.compaction.shrinkTo(ALL_ON_DISK / 2, () -> true))
                    .isInstanceOf(PosixException.class);
            assertThat(found.readable()).isEqualTo(segments(3, SEGMENTS));
            assertThat(found.log.liveSamples()).isEqualTo((SEGMENTS - 2) * SAMPLES_A_SEGMENT);
            assertThat(found.log.diskBytes()).isEqualTo(ALL_ON_DISK - 2 * SEGMENT_ON_DISK);
        }
    }

    @Test
    void askedToStop_removesNoFurtherSegment() throws Exception {
        try (Found found = new Found()) {
            AtomicInteger asked = new AtomicInteger();
            found.compaction.shrinkTo(0, () -> asked.incrementAndGet() <= 5);
            assertThat(found.readable()).isEqualTo(segments(6, SEGMENTS));
            assertThat(segmentsOnDisk()).isEqualTo(segments(6, SEGMENTS));
        }
    }

    @Test
    void tierThatIsClosedWhileItShrinks_removesNothingAfterwards() throws Exception {
        SsdTier closed = unrecovered(ALL_ON_DISK / 3);
        CompletableFuture<Void> recovering = CompletableFuture.runAsync(() -> closed.recover(tree));
        closed.close();
        List<Integer> left = segmentsOnDisk();
        recovering.join();
        assertThat(segmentsOnDisk()).isEqualTo(left);
        assertThat(closed.isWritable()).isFalse();
        try (SsdTier tier = unrecovered(ALL_ON_DISK)) {
            tier.recover(tree);
            assertThat(tier.samples()).isEqualTo(left.size() * SAMPLES_A_SEGMENT);
        }
    }
}
