package io.clairfs.tools.node.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.tools.node.status.Status;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class FeederReportsTest {
    private long nowNs;
    private final FeederReports reports = new FeederReports(() -> nowNs);

    private static Status.Feeder feeder(long pid, int rank, long batches) {
        return new Status.Feeder(pid, rank, 4, 0, 1, batches, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    @Test
    void all_feedersOfARankAreThere_eachWithItsLastReport_untilItIsSilent() throws Exception {
        JobSpec spec = JobSpec.parse("seed=1 world=2");
        reports.add(spec, feeder(7, 1, 10));
        reports.add(spec, feeder(9, 0, 20));
        reports.add(spec, feeder(8, 0, 30));
        reports.add(spec, feeder(9, 0, 21));
        assertThat(reports.of(spec)).containsExactly(feeder(8, 0, 30), feeder(9, 0, 21), feeder(7, 1, 10));
        assertThat(reports.of(JobSpec.parse("name=other seed=1"))).isEmpty();
        nowNs += TimeUnit.SECONDS.toNanos(6);
        assertThat(reports.of(spec)).isEmpty();
    }

    @Test
    void feedersOfTwoRanksInContainers_areTwoThoughTheirProcessesHaveOneNumber() throws Exception {
        JobSpec spec = JobSpec.parse("seed=1 world=2");
        reports.add(spec, feeder(1, 1, 10));
        reports.add(spec, feeder(1, 0, 20));
        assertThat(reports.of(spec)).containsExactly(feeder(1, 0, 20), feeder(1, 1, 10));
    }
}
