package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.tier.FakeTree;
import io.clairfs.cache.tier.SampleBuffer;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prints how fast the SSD tier is on this machine; asserts only that it works at that size. */
final class SsdTierSpeedTest {
    @TempDir
    Path root;

    private SsdTier open(DatasetTree tree, long capacityBytes) throws Exception {
        SsdTier tier = new SsdTier(root, "/data", capacityBytes, 0, System::nanoTime, line -> {});
        tier.recover(tree);
        return tier;
    }

    private static void print(String what, long sinceNs, int samples, long bytes) {
        double seconds = (System.nanoTime() - sinceNs) / 1e9;
        System.out.printf(
                Locale.ROOT,
                "%s: %.2f s, %.2f s per million samples, %.0f MB/s%n",
                what,
                seconds,
                seconds * 1e6 / samples,
                bytes / seconds / 1e6);
    }

    @Test
    void restart_withManyTinySamples() throws Exception {
        int files = 200_000;
        DatasetTree tree = FakeTree.of(files, i -> 8);
        SampleBuffer sample = SampleBuffer.allocate(8);
        sample.bytes().fill((byte) 1);
        try (SsdTier tier = open(tree, 1L << 30)) {
            long since = System.nanoTime();
            for (int i = 0; i < tree.entryCount(); i++) {
                if (tree.entry(i).size() == 8) {
                    tier.keep(i, sample);
                }
            }
            print("keep, 8 bytes", since, files, 8L * files);
        }
        for (int round = 0; round < 3; round++) {
            long since = System.nanoTime();
            try (SsdTier tier = open(tree, 1L << 30)) {
                print("restart", since, files, 56L * files);
                assertThat(tier.samples()).isEqualTo(files);
            }
        }
        sample.release();
    }

    @Test
    void getAndKeep_ofUsualImages() throws Exception {
        int files = 4000;
        int size = 110_000;
        DatasetTree tree = FakeTree.of(files, i -> size);
        SampleBuffer sample = SampleBuffer.allocate(size);
        sample.bytes().fill((byte) 1);
        try (SsdTier tier = open(tree, 1L << 30)) {
            long since = System.nanoTime();
            for (int i = 0; i < files; i++) {
                assertThat(tier.keep(FakeTree.number(tree, i), sample)).isTrue();
            }
            print("keep, 110 KB, one thread", since, files, (long) files * size);
            for (int round = 0; round < 2; round++) {
                since = System.nanoTime();
                for (int i = 0; i < files; i++) {
                    SampleBuffer got = tier.get(FakeTree.number(tree, (int) (i * 2_654_435_761L % files)));
                    assertThat(got).isNotNull();
                    got.release();
                }
                print("get, 110 KB, one thread, page cache", since, files, (long) files * size);
            }
        }
        sample.release();
    }
}
