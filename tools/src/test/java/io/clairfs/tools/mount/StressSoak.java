package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The long run: two nodes, thousands of reads a second at both, all faults at times, jobs that end and begin. Node 0 lives through all of
 * it, and must not grow; node 1 is ended and mounted again all the time.
 *
 * <p>{@code ./verify} does not run it. {@code -Dclairfs.soak.minutes=N} sets its duration; {@code -Dclairfs.stress.seed=S} repeats a seed.
 */
@Timeout(value = 5, unit = TimeUnit.HOURS)
@Tag("alone")
final class StressSoak {
    private static final Path REPORT = Path.of("target", "soak-report.txt");
    private static final int USUAL_MINUTES = 30;

    /** A shorter run is a trial: it need not meet the required counts, and its daemons are still growing. */
    private static final int TRIAL_MINUTES = 20;

    private static final long SAMPLE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int SAMPLES_A_LINE = 3;
    private static final double READS_A_MINUTE = 5_000_000 / 60.0;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private final int minutes = Integer.getInteger("clairfs.soak.minutes", USUAL_MINUTES);
    private final long seed =
            Long.getLong("clairfs.stress.seed", ThreadLocalRandom.current().nextLong(1L << 40));
    private final StressReport report = new StressReport();
    private final List<DaemonFigures> figures = new ArrayList<>();
    private long nextNs = System.nanoTime();

    @Test
    void every_fault_strikes_no_byte_is_wrong_and_what_a_daemon_uses_stays_flat() throws Exception {
        long start = System.nanoTime();
        long length = TimeUnit.MINUTES.toNanos(minutes);
        report.round("seed " + seed + ", " + minutes + " minutes");
        try {
            new StressRound(fixture, report, seed, StressRound.Pace.SOAK)
                    .run((_, world) -> watch(world) && System.nanoTime() - start < length);
        } catch (Exception | AssertionError e) {
            report.failure("seed " + seed + ": " + e);
            e.printStackTrace(System.out);
        } finally {
            write();
            System.out.println(report.text());
            if (report.failed()) {
                System.out.println(fixture.logs());
            }
        }
        assertThat(report.failures()).as("seed %d", seed).isEmpty();
        if (minutes >= TRIAL_MINUTES) {
            assertThat(DaemonFigures.judge(figures))
                    .as("what grew in the last third")
                    .isEmpty();
            assertThat(shortfalls()).as("what there was too little of").isEmpty();
        }
    }

    /** The counts that are below the requirement for the run's duration. */
    private List<String> shortfalls() {
        List<String> all = new ArrayList<>(StressNeeds.below(report.faults(), minutes));
        long reads = (long) (READS_A_MINUTE * minutes);
        if (report.reads() < reads) {
            all.add(String.format(Locale.ROOT, "%d reads were compared, not %d", report.reads(), reads));
        }
        return all;
    }

    private boolean watch(StressWorld world) throws Exception {
        if (System.nanoTime() - nextNs >= 0) {
            figures.add(DaemonFigures.of(0, world.nodes().getFirst()));
            world.crowd().requireAlive();
            world.count();
            if (figures.size() % SAMPLES_A_LINE == 0) {
                System.out.println(report.progress());
            }
            nextNs = System.nanoTime() + SAMPLE_NS;
            write();
        }
        return true;
    }

    /** Writes the report. It is written at intervals, so that an interrupted run has its figures. */
    private void write() throws IOException {
        report.write(
                REPORT, DaemonFigures.table(figures) + "too little of:\n  " + String.join("\n  ", shortfalls()) + "\n");
    }
}
