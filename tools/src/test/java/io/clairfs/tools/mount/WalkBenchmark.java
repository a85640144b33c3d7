package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Measures ImageFolder's walk before training: {@code os.walk} over as many files as ImageNet-1k has, through a fresh mount, and on ext4
 * with cold caches. {@code .ci/long-run walk} runs it.
 *
 * <p>The files are empty. If the property {@code clairfs.walk.dataset} names a directory, missing files are made there and kept.
 */
@Timeout(1200)
final class WalkBenchmark {
    private static final int DIRECTORIES = 1_000;
    private static final int FILES_IN_EACH = 1_281;
    private static final int ROUNDS = Integer.getInteger("clairfs.walk.rounds", 3);
    private static final long LISTING_S = 300;

    private static final String WALK = """
            import os, sys, time
            start = time.perf_counter()
            files = directories = 0
            for _, below, names in os.walk(sys.argv[1]):
                directories += len(below)
                files += len(names)
            print(time.perf_counter() - start, files, directories)
            """;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    @Test
    void walk_through_the_mount_and_on_ext4() throws Exception {
        Requirements.root();
        Path dataset = dataset();
        System.out.printf("seconds      cold  again  mounted  listed  again  asked for attributes%n");
        double[] more = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            dropCaches();
            double cold = walk(dataset);
            double warm = walk(dataset);
            dropCaches();
            long start = System.nanoTime();
            LiveMount mount = fixture.mount(dataset);
            double mounted = secondsSince(start);
            mount.await("listed", s -> s.path("ready").asBoolean(), LISTING_S);
            double listed = secondsSince(start);
            dropCaches();
            double first = walk(mount.point());
            double again = walk(mount.point());
            long asked = mount.status().at("/kernel/getattr").asLong();
            more[round] = first - cold;
            System.out.printf("ext4       %6.2f %6.2f%n", cold, warm);
            System.out.printf("clairfs    %6.2f %6.2f %8.2f %7.2f %20d%n", first, again, mounted, listed, asked);
            fixture.clairfs("umount", mount.point()).succeeded();
        }
        Arrays.sort(more);
        System.out.printf(
                "through a fresh mount %.2f s more than cold ext4 (median of %d)%n", more[ROUNDS / 2], ROUNDS);
        dropCaches();
        long start = System.nanoTime();
        LiveMount mount = fixture.mount(dataset);
        walk(mount.point());
        System.out.printf("cold, mounted and walked at once, while it is listed: %.2f s%n", secondsSince(start));
        fixture.clairfs("umount", mount.point()).succeeded();
    }

    private static double secondsSince(long startNs) {
        return (System.nanoTime() - startNs) / 1e9;
    }

    private double walk(Path root) throws IOException, InterruptedException {
        String[] said = fixture.python(WALK, root).strip().split(" ", -1);
        assertThat(said[1]).isEqualTo(Integer.toString(DIRECTORIES * FILES_IN_EACH));
        assertThat(said[2]).isEqualTo(Integer.toString(DIRECTORIES));
        return Double.parseDouble(said[0]);
    }

    private static void dropCaches() throws IOException, InterruptedException {
        new ProcessBuilder("sync").start().waitFor(60, TimeUnit.SECONDS);
        Files.writeString(Path.of("/proc/sys/vm/drop_caches"), "3", StandardOpenOption.WRITE);
    }

    private Path dataset() throws IOException {
        String given = System.getProperty("clairfs.walk.dataset");
        Path dataset = given == null ? fixture.newDirectory("dataset") : Files.createDirectories(Path.of(given));
        for (int d = 0; d < DIRECTORIES; d++) {
            Path directory = dataset.resolve("n%08d".formatted(d));
            Path last = directory.resolve(name(d, FILES_IN_EACH - 1));
            if (!Files.exists(last)) {
                Files.createDirectories(directory);
                for (int f = 0; f < FILES_IN_EACH; f++) {
                    Files.createFile(directory.resolve(name(d, f)));
                }
            }
        }
        return dataset;
    }

    private static String name(int directory, int file) {
        return "n%08d_%d.JPEG".formatted(directory, file);
    }
}
