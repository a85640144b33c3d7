package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.testing.FurtherCases;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.TierContract;
import io.clairfs.cache.tier.TierFailures;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that writes is killed in the middle of it, after a random number of samples; what it leaves must be usable.
 * {@code -Dclairfs.kill.seed=N} tries others.
 */
@Tag("long")
final class SsdTierCrashTest {
    private static final int FILES = 2000;
    private static final long CAPACITY = 20_000_000;
    private static final int ROUNDS = FurtherCases.of(8);
    private static final int MOST_OPERATIONS = 2_000;

    @TempDir
    Path root;

    private static DatasetTree newTree() {
        return FakeTree.of(FILES, i -> i % 3 == 0 ? 100 + i : 20_000 + i);
    }

    private static SsdTier open(Path root, DatasetTree tree) throws IOException {
        SsdTier tier = new SsdTier(root, "/data", CAPACITY, 0, System::nanoTime, line -> {});
        tier.recover(tree);
        return tier;
    }

    // Promise T2
    @Test
    void killedAtAnyMoment_leavesNothingWrong() throws Exception {
        long seed = Long.getLong("clairfs.kill.seed", 1);
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        int found = 0;
        for (int round = 0; round < ROUNDS; round++) {
            killedWriter(random);
            DatasetTree tree = newTree();
            try (SsdTier tier = open(root, tree)) {
                int claimed = tier.samples();
                int right = 0;
                for (int i = 0; i < FILES; i++) {
                    right += TierContract.comesOut(tier, tree, FakeTree.number(tree, i)) ? 1 : 0;
                }
                System.out.println("killed: " + claimed + " samples found, " + right + " came out right");
                assertThat(right).isEqualTo(claimed);
                found += right; // a writer that is killed early may have evicted what it kept
                assertThat(tier.diskBytes()).isLessThanOrEqualTo(CAPACITY);
                // Bytes are written before their entry, so a crash of the process alone damages none.
                assertThat(tier.failures()).isEqualTo(TierFailures.NONE);
            }
        }
        assertThat(found).isPositive();
    }

    private void killedWriter(Random random) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Writer.class.getName(),
                root.toString(),
                Long.toString(random.nextLong())));
        Process writer = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (InputStream out = writer.getInputStream()) {
            int operations = random.nextInt(1, MOST_OPERATIONS);
            assertThat(out.readNBytes(operations))
                    .as("the writer ended by itself")
                    .hasSize(operations);
        } finally {
            writer.destroyForcibly().waitFor();
        }
    }

    /** Keeps and evicts at random, in three threads, a sign for each operation, until it is killed. */
    static final class Writer {
        private Writer() {}

        public static void main(String[] args) throws Exception {
            DatasetTree tree = newTree();
            SsdTier tier = open(Path.of(args[0]), tree);
            long seed = Long.parseLong(args[1]);
            for (int t = 0; t < 3; t++) {
                Random random = new Random(seed + t);
                Thread.ofPlatform().start(() -> {
                    while (true) {
                        int file = FakeTree.number(tree, random.nextInt(FILES));
                        if (random.nextInt(3) > 0) {
                            TierContract.keep(tier, tree, file);
                        } else {
                            tier.evict(file);
                        }
                        System.out.write('.');
                        System.out.flush();
                    }
                });
            }
        }
    }
}
