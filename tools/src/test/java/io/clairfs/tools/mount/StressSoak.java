package io.clairfs.tools.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The long run: two nodes, readers at both, faults on and off, jobs that end and begin, for half an hour, and never another daemon.
 *
 * <p>Not run by {@code ./verify}. {@code -Dclairfs.soak.minutes=N} changes how long it takes.
 */
@Timeout(value = 5, unit = TimeUnit.HOURS)
final class StressSoak {
    private static final Path REPORT = Path.of("target", "soak-report.txt");
    private static final int USUAL_MINUTES = 30;
    private static final long SAMPLE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int NODES = 2;
    private static final int PAUSE_MS = 150;
    private static final int CHANGING = 8;

    @RegisterExtension
    private final MountFixture fixture = new MountFixture();

    private final StressReport report = new StressReport();
    private final List<DaemonFigures> figures = new ArrayList<>();
    private long nextNs = System.nanoTime();

    @Test
    void memory_descriptors_and_threads_stay_flat() throws Exception {
        long start = System.nanoTime();
        long length = TimeUnit.MINUTES.toNanos(Integer.getInteger("clairfs.soak.minutes", USUAL_MINUTES));
        try {
            new StressRound(fixture, report, 1, new StressRound.Pace(NODES, PAUSE_MS, 0, CHANGING))
                    .run((_, nodes) -> watch(nodes) && System.nanoTime() - start < length);
        } finally {
            report.round(DaemonFigures.table(figures));
            report.write(REPORT);
            System.out.println(report.text());
        }
        assertThat(report.failures()).isEmpty();
        assertThat(DaemonFigures.judge(figures))
                .as("what grew in the last third")
                .isEmpty();
    }

    private boolean watch(List<StressNode> nodes) throws Exception {
        if (System.nanoTime() - nextNs >= 0) {
            for (int node = 0; node < nodes.size(); node++) {
                figures.add(DaemonFigures.of(node, nodes.get(node)));
            }
            nextNs = System.nanoTime() + SAMPLE_NS;
            write();
        }
        return true;
    }

    /** So that a long run can be looked at while it is under way. */
    private void write() throws IOException {
        report.write(REPORT);
    }
}
