package io.clairfs.tools.fuzz;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.source.DirectorySource;
import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.cache.tier.ssd.SsdTier;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An SSD directory with any content: a sample read from it is right, or is not served. */
final class SsdFuzzTest {
    private static final int SAMPLES = 40;
    private static final long CAPACITY = 400_000;

    @TempDir
    Path directory;

    private static byte[] content(int file) {
        byte[] bytes = new byte[new Random(file).nextInt(6_000)];
        new Random(file * 31L).nextBytes(bytes);
        return bytes;
    }

    /** A source. The content of a file follows from its number in the tree. */
    private DatasetTree tree() throws Exception {
        Path root = Files.createDirectory(directory.resolve("source"));
        for (int i = 0; i < SAMPLES; i++) {
            Files.write(root.resolve(String.format(java.util.Locale.ROOT, "%02d", i)), content(i));
        }
        DatasetTree tree = new DatasetTree(new DirectorySource(root), 2, line -> {
            throw new AssertionError(line);
        });
        tree.complete().join();
        return tree;
    }

    private static int sampleOf(DatasetTree tree, int file) {
        return Integer.parseInt(new String(tree.entry(file).path(), UTF_8));
    }

    private static boolean keep(SsdTier tier, DatasetTree tree, int file) {
        byte[] bytes = content(sampleOf(tree, file));
        SampleBuffer sample = SampleBuffer.allocate(bytes.length);
        sample.bytes().copyFrom(MemorySegment.ofArray(bytes));
        try {
            return tier.keep(file, sample);
        } finally {
            sample.release();
        }
    }

    private static boolean comesOut(SsdTier tier, DatasetTree tree, int file, String where) {
        SampleBuffer sample = tier.get(file);
        if (sample == null) {
            return false;
        }
        try {
            byte[] found = sample.bytes().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            assertThat(Arrays.equals(found, content(sampleOf(tree, file))))
                    .as(where)
                    .isTrue();
        } finally {
            sample.release();
        }
        return true;
    }

    private List<Path> files(Path ssd) throws IOException {
        try (Stream<Path> all = Files.walk(ssd)) {
            return new ArrayList<>(all.filter(Files::isRegularFile)
                    .filter(file -> !file.endsWith("lock"))
                    .sorted()
                    .toList());
        }
    }

    private void damage(Path ssd, Fuzz fuzz) throws IOException {
        List<Path> files = files(ssd);
        for (int left = fuzz.random().nextInt(1, 5); left > 0 && !files.isEmpty(); left--) {
            Path file = files.get(fuzz.random().nextInt(files.size()));
            switch (fuzz.random().nextInt(12)) {
                case 0 -> Files.deleteIfExists(file);
                case 1 -> Files.write(file, fuzz.bytes());
                case 2 -> {
                    String number = String.format(
                            java.util.Locale.ROOT, "%06d", fuzz.random().nextInt(100));
                    Files.write(file.resolveSibling(number + fuzz.oneOf(".data", ".index", ".index")), fuzz.bytes());
                }
                case 3 -> {
                    Path other = files.get(fuzz.random().nextInt(files.size()));
                    if (Files.exists(other) && Files.exists(file)) {
                        Files.write(file, Files.readAllBytes(other));
                    }
                }
                default -> {
                    if (Files.exists(file)) {
                        Files.write(file, fuzz.mutated(Files.readAllBytes(file)));
                    }
                }
            }
        }
    }

    // Promise T1
    @Test
    void damagedDirectory_neverGivesAWrongSample() throws Exception {
        Fuzz fuzz = Fuzz.of("SSD directories", 400, List.of());
        Path ssd = directory.resolve("ssd");
        int came = 0;
        try (DatasetTree tree = tree()) {
            while (fuzz.next()) {
                try (SsdTier tier = new SsdTier(ssd, "/data", CAPACITY, 0, System::nanoTime, _ -> {})) {
                    tier.recover(tree);
                    for (int i = 0; i < 3 * SAMPLES; i++) {
                        int file = fuzz.random().nextInt(SAMPLES);
                        switch (fuzz.random().nextInt(8)) {
                            case 0 -> tier.evict(file);
                            case 1, 2, 3 -> keep(tier, tree, file);
                            case 4 -> {
                                if (fuzz.random().nextInt(20) == 0) {
                                    damage(ssd, fuzz);
                                }
                            }
                            default -> came += comesOut(tier, tree, file, fuzz.where()) ? 1 : 0;
                        }
                        assertThat(tier.usedBytes()).as(fuzz.where()).isBetween(0L, CAPACITY);
                    }
                }
                damage(ssd, fuzz);
            }
        }
        System.out.println("fuzz: " + came + " samples came out of damaged directories");
        assertThat(came).isPositive();
    }
}
