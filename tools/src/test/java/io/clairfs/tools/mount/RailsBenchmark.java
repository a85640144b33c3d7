package io.clairfs.tools.mount;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What several links between two nodes give beside one, and one that is cut. {@code .ci/long-run rails} runs it.
 *
 * <p>Only wrong bytes make it fail. It prints its measurements; judge them by how busy the machine was.
 */
@Timeout(1200)
final class RailsBenchmark {
    private static final int SAMPLES = Integer.getInteger("clairfs.rails.samples", 800);
    private static final int SAMPLE_BYTES = Integer.getInteger("clairfs.rails.bytes", 500_000);
    private static final int EPOCHS = 8;
    private static final long MEGABYTES = 1_000_000;
    private static final SlowSourceSpec SLOW = new SlowSourceSpec(150 * MEGABYTES, Duration.ofMillis(2));

    @RegisterExtension
    private final MountFixture fixture = MountFixture.withNetworks();

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    /** The bytes that come from the other node in a second, in the median of the epochs after the first, and the longest read. */
    private double rate(Path dataset, Path source, String name, boolean cut, long... megabytes) throws Exception {
        RailGroup rails = new RailGroup(
                fixture,
                dataset,
                SAMPLES,
                source,
                true,
                Arrays.stream(megabytes).map(each -> each * MEGABYTES).toArray());
        RankTrainer trainer = rails.start(new Training(name, 7, Training.NO_END, 8, 0));
        trainer.awaitMore(1);
        double[] rates = new double[EPOCHS];
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            int before = trainer.epochs().size();
            long bytes = rails.fromPeer();
            long began = System.nanoTime();
            if (cut && epoch == EPOCHS / 2) {
                Thread.sleep(500);
                rails.network.cut(RailGroup.HOLDER, megabytes.length - 1);
            }
            trainer.awaitMore(Math.max(1, before + 1 - trainer.epochs().size()));
            rates[epoch] = (rails.fromPeer() - bytes) / ((System.nanoTime() - began) / 1e9);
        }
        long[] by = rails.received();
        double longest = trainer.finish();
        System.out.printf(
                Locale.ROOT,
                "%-22s MB/s from the other node%s; by link %s MB; longest read %.3f s%n",
                name,
                text(rates),
                by == null
                        ? "-"
                        : Arrays.toString(
                                Arrays.stream(by).map(each -> each / MEGABYTES).toArray()),
                longest);
        for (LiveMount node : rails.group.nodes()) {
            fixture.clairfs("umount", node.point()).succeeded();
        }
        rails.network.remove();
        return median(cut ? Arrays.copyOf(rates, EPOCHS / 2) : rates);
    }

    private static String text(double[] rates) {
        StringBuilder text = new StringBuilder();
        for (double rate : rates) {
            text.append(String.format(Locale.ROOT, " %.0f", rate / MEGABYTES));
        }
        return text.toString();
    }

    @Test
    void links() throws Exception {
        Path dataset = NodeGroup.makeSamples(fixture, SAMPLES, SAMPLE_BYTES);
        try (SlowMount source = SlowMount.mount(dataset, fixture.newDirectory("slow"), SLOW)) {
            double one = rate(dataset, source.point(), "one-of-100", false, 100);
            double two = rate(dataset, source.point(), "two-of-100", false, 100, 100);
            double four = rate(dataset, source.point(), "four-of-100", false, 100, 100, 100, 100);
            double unequal = rate(dataset, source.point(), "100-and-25", false, 100, 25);
            double slow = rate(dataset, source.point(), "one-of-25", false, 25);
            double cut = rate(dataset, source.point(), "two-and-one-is-cut", true, 100, 100);
            System.out.printf(
                    Locale.ROOT,
                    "two links / one %.2f, four / one %.2f, 100 and 25 MB/s / their sum %.2f (of what each carries alone), two before one was cut / one %.2f%n",
                    two / one,
                    four / one,
                    unequal / (one + slow),
                    cut / one);
        }
    }
}
