package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.FurtherCases;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * In any sequence of faults, no read returns a wrong byte, fails with an error that is not allowed, or hangs.
 *
 * <p>It runs seeds 1, 2, ... while there is time. {@code -Dclairfs.stress.seconds=N} runs new seeds instead, for N seconds;
 * {@code -Dclairfs.stress.seed=S -Dclairfs.stress.rounds=R} runs R rounds beginning with seed S instead.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS)
@Tag("alone")
final class StressTest {
    private static final Path REPORT = Path.of("target", "stress-report.txt");
    private static final int USUAL_SECONDS = FurtherCases.of(60);
    private static final int STEPS = 151;
    private static final long FIRST_SEED = 1;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private final StressReport report = new StressReport();

    @Test
    void no_wrong_byte_and_no_hang_whatever_happens() throws Exception {
        try {
            Long first = Long.getLong("clairfs.stress.seed");
            if (first == null) {
                Integer seconds = Integer.getInteger("clairfs.stress.seconds");
                long from = seconds == null
                        ? FIRST_SEED
                        : ThreadLocalRandom.current().nextLong(1L << 40);
                untilTimeIsOver(from, seconds == null ? USUAL_SECONDS : seconds);
            } else {
                for (int i = 0; i < Integer.getInteger("clairfs.stress.rounds", 1); i++) {
                    round(first + i);
                }
            }
        } finally {
            report.write(REPORT);
            System.out.println(report.text());
        }
        assertThat(report.reads()).isPositive();
    }

    /** Runs rounds with consecutive seeds, because their arrangements differ. */
    private void untilTimeIsOver(long from, int seconds) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        long longest = 0;
        long seed = from;
        do {
            long start = System.nanoTime();
            round(seed);
            seed++;
            longest = Math.max(longest, System.nanoTime() - start);
        } while (end - System.nanoTime() > longest);
    }

    private void round(long seed) throws Exception {
        long readsBefore = report.reads();
        System.out.println("seed " + seed);
        try {
            new StressRound(fixture, report, seed, StressRound.Pace.DENSE).run((step, _) -> step < STEPS);
        } catch (Exception | AssertionError e) {
            report.failure("seed " + seed + ": " + e);
            e.printStackTrace(System.out);
        }
        if (report.failed()) {
            System.out.println(fixture.logs());
        }
        assertThat(report.failures())
                .as("replay with -Dclairfs.stress.seed=%d -Dclairfs.stress.rounds=1", seed)
                .isEmpty();
        report.write(REPORT);
        report.round("round with seed " + seed + ": " + (report.reads() - readsBefore) + " reads");
    }
}
