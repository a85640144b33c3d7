package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.StoredSample;
import io.clairfs.cache.tier.TierContract;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A sample opened in a segment's file stays what it is, whatever happens to the tier meanwhile, and waits for no disk. */
@Timeout(120)
final class SsdTierStoredTest {
    private static final int CAPACITY = 20_000;
    private static final int FILES = 400;

    @TempDir
    Path root;

    private final DatasetTree tree = FakeTree.of(FILES, i -> 1 + i * 37 % 500);

    private SsdTier open() throws IOException {
        SsdTier tier = new SsdTier(root, "/data", CAPACITY, 0, System::nanoTime, line -> {
            throw new AssertionError(line);
        });
        tier.recover(tree);
        return tier;
    }

    /** What is opened once the tier has the segment's file open, which reading does. */
    private static @Nullable StoredSample opened(SsdTier tier, int file) {
        SampleBuffer read = tier.get(file);
        if (read == null) {
            return null;
        }
        read.release();
        return tier.openStored(file);
    }

    private boolean isRight(int file, StoredSample stored) throws IOException {
        SampleBuffer right = FakeTree.sample(tree, file);
        ByteBuffer bytes = ByteBuffer.allocate((int) right.size());
        int n = stored.file().read(bytes, stored.offset());
        CRC32C crc = new CRC32C();
        crc.update(bytes.flip());
        boolean same = n == right.size()
                && stored.size() == right.size()
                && (int) crc.getValue() == stored.crc32c()
                && right.bytes().asByteBuffer().equals(bytes.rewind());
        right.release();
        return same;
    }

    @Test
    void openStored_sampleInThePageCache_isItsBytesWithTheirChecksum() throws Exception {
        try (SsdTier tier = open()) {
            for (int i = 0; i < 20; i++) {
                int file = FakeTree.number(tree, i);
                assertThat(TierContract.keep(tier, tree, file)).isTrue();
                StoredSample stored = opened(tier, file);
                assertThat(stored).isNotNull();
                assertThat(isRight(file, stored)).isTrue();
                stored.release();
            }
        }
    }

    @Test
    void openStored_sampleThatIsNotHere_isNull() throws Exception {
        try (SsdTier tier = open()) {
            int file = FakeTree.number(tree, 1);
            assertThat(tier.openStored(file)).isNull();
            TierContract.keep(tier, tree, file);
            tier.evict(file);
            assertThat(tier.openStored(file)).isNull();
            assertThat(tier.openStored(-1)).isNull();
        }
    }

    @Test
    void openStored_sampleThatTheDiskWouldHaveToBring_isNull() throws Exception {
        int file = FakeTree.number(tree, 1);
        try (SsdTier tier = open()) {
            TierContract.keep(tier, tree, file);
            StoredSample stored = opened(tier, file);
            assertThat(stored).isNotNull();
            stored.release();
            Assumptions.assumeTrue(dropFromPageCache(), "this filesystem's pages cannot be dropped");
            assertThat(tier.openStored(file)).isNull();
            StoredSample again = opened(tier, file);
            assertThat(again).as("after it was read").isNotNull();
            again.release();
        }
    }

    /** Returns whether nothing of the data files is cached any more. */
    private boolean dropFromPageCache() throws Exception {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path data :
                    files.filter(each -> each.toString().endsWith(".data")).toList()) {
                try (FileChannel channel = FileChannel.open(data, StandardOpenOption.WRITE)) {
                    channel.force(true);
                }
                int fd = Posix.openAt(
                        Posix.AT_FDCWD,
                        data.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8),
                        Posix.O_RDONLY);
                try {
                    CachedPages.drop(fd);
                    if (CachedPages.isCached(fd, 0, 1)) {
                        return false;
                    }
                } finally {
                    Posix.close(fd);
                }
            }
        }
        return true;
    }

    @Test
    void lent_sampleIsEvictedAndItsRoomNeeded_staysWhatItIs() throws Exception {
        try (SsdTier tier = open()) {
            List<Integer> files = new ArrayList<>();
            List<StoredSample> pins = new ArrayList<>();
            for (int i = 0; i < FILES; i++) {
                int file = FakeTree.number(tree, i);
                if (TierContract.keep(tier, tree, file)) {
                    StoredSample stored = i % 7 == 0 ? opened(tier, file) : null;
                    if (stored != null) {
                        files.add(file);
                        pins.add(stored);
                    }
                }
            }
            assertThat(pins).isNotEmpty();
            for (int i = 0; i < FILES; i++) {
                tier.evict(FakeTree.number(tree, i));
            }
            for (int i = FILES - 1; i >= 0; i--) {
                TierContract.keep(tier, tree, FakeTree.number(tree, i));
            }
            assertThat(tier.diskBytes()).isLessThanOrEqualTo(CAPACITY);
            for (int i = 0; i < pins.size(); i++) {
                assertThat(isRight(files.get(i), pins.get(i))).isTrue();
                pins.get(i).release();
            }
            for (int i = 0; i < FILES; i++) {
                tier.evict(FakeTree.number(tree, i));
            }
            int kept = 0;
            for (int i = 0; i < FILES; i++) {
                kept += TierContract.keep(tier, tree, FakeTree.number(tree, i)) ? 1 : 0;
            }
            assertThat(kept).as("all of the room is free again").isGreaterThan(50);
            assertThat(tier.usedBytes()).isGreaterThan(CAPACITY - 2_000);
        }
    }

    @Test
    void lent_tierIsClosed_staysWhatItIs() throws Exception {
        int file = FakeTree.number(tree, 5);
        SsdTier tier = open();
        TierContract.keep(tier, tree, file);
        StoredSample stored = opened(tier, file);
        tier.close();
        assertThat(stored).isNotNull();
        assertThat(isRight(file, stored)).isTrue();
        stored.release();
        assertThat(stored.file().isOpen()).isFalse();
        assertThat(tier.openStored(file)).isNull();
    }

    @Test
    @Timeout(240)
    void openStored_whileOthersKeepAndEvict_isAlwaysRight() throws Exception {
        long seed = 1;
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger kept = new AtomicInteger();
        AtomicInteger operations = new AtomicInteger();
        List<Throwable> errors = java.util.Collections.synchronizedList(new ArrayList<>());
        try (SsdTier tier = open()) {
            List<Thread> writers = new ArrayList<>();
            int opened = 0;
            try {
                for (int t = 0; t < 2; t++) {
                    Random random = new Random(seed + t);
                    writers.add(Thread.ofPlatform()
                            .daemon()
                            .uncaughtExceptionHandler((_, e) -> errors.add(e))
                            .start(() -> {
                                while (!stop.get()) {
                                    int file = FakeTree.number(tree, random.nextInt(FILES));
                                    tier.evict(FakeTree.number(tree, random.nextInt(FILES)));
                                    kept.addAndGet(TierContract.keep(tier, tree, file) ? 1 : 0);
                                    operations.incrementAndGet();
                                }
                            }));
                }
                Random random = new Random(seed + 7);
                while (errors.isEmpty() && (kept.get() < 500 || opened < 500)) {
                    int file = FakeTree.number(tree, random.nextInt(FILES));
                    StoredSample stored = opened(tier, file);
                    if (stored != null) {
                        int before = operations.get();
                        while (operations.get() < before + 5 && errors.isEmpty()) {
                            Thread.onSpinWait(); // the tier changes while the sample is held
                        }
                        assertThat(isRight(file, stored)).isTrue();
                        stored.release();
                        opened++;
                    }
                }
            } finally {
                stop.set(true); // else they would go on in a tier that is closed
                for (Thread writer : writers) {
                    writer.join();
                }
            }
            System.out.println(opened + " opened, " + kept + " kept");
        }
        assertThat(errors).isEmpty();
    }

    @Test
    void second_anyLengths_isTheChecksumOfTheSecondPart() {
        Random random = new Random(1);
        for (int i = 0; i < 500; i++) {
            byte[] bytes = new byte[random.nextInt(1 << random.nextInt(14))];
            random.nextBytes(bytes);
            int at = random.nextInt(bytes.length + 1);
            assertThat(Crc32cSum.second(crc(bytes, 0, bytes.length), crc(bytes, 0, at), bytes.length - at))
                    .isEqualTo(crc(bytes, at, bytes.length - at));
        }
    }

    private static int crc(byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }
}
