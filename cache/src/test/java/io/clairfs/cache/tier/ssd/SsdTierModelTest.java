package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.testing.RandomSeeds;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.TierContract;
import io.clairfs.cache.tier.TierFailures;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Random sequences of everything that can be done to the SSD tier and to its files, against a set of what it should hold.
 *
 * <p>As long as nobody touches the files the tier must hold exactly that, also after a restart; after damage it may hold less, but
 * never a wrong byte and never more bytes than its capacity.
 */
@Tag("long")
final class SsdTierModelTest {
    private static final int FILES = 120;
    private static final int OPERATIONS = 1500;
    private static final long CAPACITY = 500_000;

    @TempDir
    Path root;

    private DatasetTree tree = newTree();

    private static DatasetTree newTree() {
        return FakeTree.of(FILES, i -> i % 10 == 0 ? i : i * 79L);
    }

    private SsdTier open() throws IOException {
        tree = newTree();
        SsdTier tier = new SsdTier(root, "/data", CAPACITY, 0, System::nanoTime, line -> {});
        tier.recover(tree);
        return tier;
    }

    @ParameterizedTest(name = "seed {0}")
    @RandomSeeds({1, 2, 3, 4, 5, 6, 7, 8})
    void healthyDisk_holdsExactlyWhatItShould(long seed) throws Exception {
        System.out.println("seed " + seed);
        sequence(new Random(seed), false);
    }

    // Promise T1
    @ParameterizedTest(name = "seed {0}")
    @RandomSeeds({11, 12, 13, 14, 15, 16, 17, 18})
    void damagedDisk_holdsLessButNothingWrong(long seed) throws Exception {
        System.out.println("seed " + seed);
        sequence(new Random(seed), true);
    }

    private void sequence(Random random, boolean damage) throws Exception {
        Set<Integer> model = new HashSet<>();
        SsdTier tier = open();
        try {
            for (int n = 0; n < OPERATIONS; n++) {
                int i = random.nextInt(FILES);
                int file = FakeTree.number(tree, i);
                int what = random.nextInt(100);
                if (what < 45) {
                    boolean kept = TierContract.keep(tier, tree, file);
                    if (kept) {
                        model.add(i);
                    } else {
                        assertThat(model).doesNotContain(i);
                        long size = tree.entry(file).size() + IndexEntry.BYTES;
                        assertThat(damage || tier.usedBytes() + size + TierDirectory.fixedBytes() > CAPACITY)
                                .as("refused without need")
                                .isTrue();
                    }
                } else if (what < 65) {
                    boolean out = TierContract.comesOut(tier, tree, file);
                    if (damage && !out) {
                        model.remove(i);
                    }
                    assertThat(out).isEqualTo(model.contains(i));
                } else if (what < 95) {
                    tier.evict(file);
                    model.remove(i);
                } else if (what < 97 || !damage) {
                    tier.close();
                    tier = open();
                } else {
                    boolean closed = random.nextBoolean();
                    if (closed) {
                        tier.close();
                    }
                    hurt(random);
                    if (closed) {
                        tier = open();
                    }
                }
                if (damage) {
                    drop(tier, model);
                }
                assertThat(tier.samples()).isEqualTo(model.size());
                assertThat(tier.diskBytes()).isBetween(tier.usedBytes(), CAPACITY);
                assertThat(damage ? 0 : bytesOnDisk()).isLessThanOrEqualTo(CAPACITY);
            }
            for (int i = 0; i < FILES; i++) {
                boolean out = TierContract.comesOut(tier, tree, FakeTree.number(tree, i));
                assertThat(out).isIn(model.contains(i), damage && out);
            }
            assertThat(damage || tier.failures().equals(TierFailures.NONE)).isTrue();
        } finally {
            tier.close();
        }
    }

    /** After damage the tier may have lost samples, or an old entry may have come back; what counts is what comes out. */
    private void drop(SsdTier tier, Set<Integer> model) {
        model.clear();
        for (int i = 0; i < FILES; i++) {
            if (tier.contains(FakeTree.number(tree, i))) {
                model.add(i);
            }
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> directories = Files.list(root);
                Stream<Path> files = Files.list(directories.findFirst().orElseThrow())) {
            return files.filter(file -> !file.endsWith("lock")).sorted().toList();
        }
    }

    private long bytesOnDisk() throws IOException {
        long bytes = 0;
        for (Path file : files()) {
            bytes += Files.size(file);
        }
        return bytes;
    }

    private void hurt(Random random) throws IOException {
        List<Path> files = files();
        Path file = files.get(random.nextInt(files.size()));
        long size = Files.size(file);
        int what = random.nextInt(10);
        if (what == 0) {
            Files.delete(file);
        } else if (size > 0) {
            try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
                if (what < 4) {
                    bytes.setLength(random.nextLong(size));
                } else {
                    for (int i = 0; i < 5; i++) {
                        bytes.seek(random.nextLong(size));
                        bytes.write(random.nextInt(256));
                    }
                }
            }
        }
    }
}
