package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The bytes read from the source, counted at the source, are S + (E-1) (S-C) for a dataset of S bytes, E epochs and caches of C bytes. This
 * is the least that full shuffling allows.
 */
@Tag("counted")
@Timeout(600)
final class SourceTrafficTest {
    private static final int SAMPLES = 600;
    private static final int SAMPLE_BYTES = 50_000;
    private static final long DATASET = (long) SAMPLES * SAMPLE_BYTES;
    private static final int EPOCHS = 5;
    private static final int PAUSE_US = 500;
    private static final String STAGING = "1MiB";

    /** The allowed excess over the bound, as a share of it. */
    private static final double TOLERANCE = 0.01;

    private static final double SAVED_BY_STAGING = 0.1;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    @ParameterizedTest(name = "1/{0} of the data in memory, 1/{1} on an SSD")
    @CsvSource("6,6")
    void caches_for_a_third_of_the_data_reach_the_bound(int memory, int ssd) throws Exception {
        Path dataset = makeSamples();
        try (SlowMount source = slow(dataset)) {
            LiveMount mount = mount(source, share(memory), share(ssd));
            mount.job("sampler=torch-distributed seed=5 epochs=" + EPOCHS + " batch=4");
            readEpochs(mount, dataset, 0, EPOCHS);

            long cached = share(memory) + share(ssd);
            long bound = DATASET + (EPOCHS - 1) * (DATASET - cached);
            long read = source.counted().bytes();
            System.out.printf("source: %d bytes, bound %d, ratio %.4f%n", read, bound, (double) read / bound);
            // The bound ignores samples that are staged, or held for a reader, at the end of an epoch. They may serve
            // the next epoch, too.
            assertThat(read)
                    .as("read from the source, by a daemon of the status %s", mount.status())
                    .isBetween(
                            (long) (bound * (1 - SAVED_BY_STAGING)),
                            (long) (bound * (1 + TOLERANCE)) + ssdPassedOver(mount));
            assertThat(mount.lines("errors")).isEmpty();
        }
    }

    @Tag("exhaustive")
    @ParameterizedTest(name = "1/{0} of the data in memory, 1/{1} on an SSD")
    @CsvSource({"3,0", "0,3"})
    void caches_of_one_kind_reach_the_bound(int memory, int ssd) throws Exception {
        caches_for_a_third_of_the_data_reach_the_bound(memory, ssd);
    }

    // Promise T10
    @Test
    void ssd_for_all_of_it_nothing_is_read_again_not_even_after_a_restart() throws Exception {
        Path dataset = makeSamples();
        Path disk = fixture.newDirectory("ssd");
        try (SlowMount source = slow(dataset)) {
            LiveMount first = mount(source, share(5), disk, 2 * DATASET);
            first.job("seed=5 epochs=3 batch=4");
            readEpochs(first, dataset, 0, 1);
            first.await(
                    "all written, with copies of what is in memory",
                    s -> s.at("/tiers/1/samples").asInt() == SAMPLES);
            requireRead("the first epoch", source, DATASET, first);
            readEpochs(first, dataset, 1, 2);
            requireRead("the second epoch", source, DATASET, first);
            System.out.printf("read again because the disk was slower: %d bytes%n", ssdPassedOver(first));
            assertThat(first.status().at("/fetched/ssd/count").asInt()).isPositive();
            fixture.clairfs("umount", first.point()).succeeded();
            long byTheFirst = source.counted().bytes();

            LiveMount second = mount(source, 0, disk, 2 * DATASET);
            second.await("found again", s -> s.at("/tiers/1/samples").asLong() == SAMPLES);
            second.job("seed=6 epochs=1 batch=4");
            readEpochs(second, dataset, 0, 1);
            requireRead("after a restart", source, byTheFirst, second);
            assertThat(second.status().at("/checksum_failures").asLong()).isZero();
        }
    }

    /** Bytes read from the source because the disk was slower just then, as it may be on a busy machine. */
    private static long ssdPassedOver(LiveMount mount) throws IOException {
        return SAMPLE_BYTES * mount.status().at("/ssd_passed_over").asLong();
    }

    /**
     * The source has given so many bytes, and those of the samples for which the mount's disk was slower. Such a sample may be staged at any time,
     * and counts there before its bytes count here.
     */
    private static void requireRead(String when, SlowMount source, long bytes, LiveMount mount) throws Exception {
        try {
            Waiting.until(when, () -> source.counted().bytes() == bytes + ssdPassedOver(mount));
        } catch (AssertionError never) {
            assertThat(source.counted().bytes())
                    .as("%s, %s, errors %s", when, mount.status(), mount.lines("errors"))
                    .isEqualTo(bytes + ssdPassedOver(mount));
            throw never;
        }
    }

    private static long share(int part) {
        return part == 0 ? 0 : DATASET / part;
    }

    private SlowMount slow(Path dataset) throws IOException {
        return SlowMount.mount(
                dataset, fixture.newDirectory("slow"), new SlowSourceSpec(200_000_000, Duration.ofMillis(1)));
    }

    private LiveMount mount(SlowMount source, long memory, long ssd) throws Exception {
        return mount(source, memory, fixture.newDirectory("ssd"), ssd);
    }

    private LiveMount mount(SlowMount source, long memory, Path disk, long ssd) throws Exception {
        List<String> options = new java.util.ArrayList<>(
                List.of("--index-rule", "sorted", "--memory", memory + "B", "--staging", STAGING, "--loaders", "4"));
        if (ssd > 0) {
            options.addAll(List.of("--ssd", disk + ":" + ssd + "B", "--ssd-reserve", "1MiB"));
        }
        LiveMount mount = fixture.mount(source.point(), options.toArray(String[]::new));
        mount.awaitReady();
        mount.await( // a job begins without them: what it stages before is fetched for them once more
                "its disks are ready",
                status -> status.path("tiers")
                        .valueStream()
                        .allMatch(tier -> tier.path("recovered").asBoolean()));
        return mount;
    }

    private void readEpochs(LiveMount mount, Path dataset, int from, int to) throws Exception {
        for (int epoch = from; epoch < to; epoch++) {
            String equal =
                    fixture.python("read_in_order.py", mount.point(), dataset, "train", epoch, SAMPLES, PAUSE_US, 0);
            assertThat(equal.strip()).isEqualTo(Integer.toString(SAMPLES));
        }
    }

    private Path makeSamples() throws IOException {
        Path directory = fixture.newDirectory("dataset");
        Random random = new Random(3);
        byte[] content = new byte[SAMPLE_BYTES];
        for (int i = 0; i < SAMPLES; i++) {
            random.nextBytes(content);
            Files.write(directory.resolve("s" + i), content);
        }
        return directory;
    }
}
