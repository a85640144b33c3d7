package io.clairfs.tools.node.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.tools.config.ModelFile;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What follows from the reports of loaders. */
final class LoaderReportsTest {
    private static final Set<String> PRESENT = Set.of("train");
    private static final long BYTES = 110_000;

    private static JobSpec job(String line) throws InvalidSpecException {
        return JobSpec.parse(line);
    }

    /** Of figure 6 of the paper. */
    private static ModelFile peakAtSix() {
        Map<Integer, Double> rates = new HashMap<>();
        for (int threads = 1; threads <= 12; threads++) {
            rates.put(threads, 100.0 * Math.min(threads, 6));
        }
        return new ModelFile(null, null, null, null, null, null, null, Map.of("image", Map.of(BYTES, rates)));
    }

    private static LoaderReport report(int rank, int workers, double read, double transform) {
        return new LoaderReport(rank, workers, 64, read, transform);
    }

    private static LoaderReports.Loading known(LoaderReports reports, JobSpec spec) {
        return Objects.requireNonNull(reports.of(spec, BYTES));
    }

    @Test
    void measuredPeak_isTheAdvice_howeverFastThisMachineIsNow() throws Exception {
        LoaderReports reports = new LoaderReports(peakAtSix(), 64);
        JobSpec spec = job("seed=1");
        assertThat(reports.of(spec, BYTES)).as("no report, no advice").isNull();
        for (double transform : new double[] {0.001, 0.01, 0.3}) {
            LoaderReports fresh = new LoaderReports(peakAtSix(), 64);
            fresh.add(spec, report(0, 4, 0, transform), PRESENT);
            assertThat(known(fresh, spec).advice()).isEqualTo("num_workers=6; more do not help (98 % of peak)");
        }
        reports.add(spec, report(0, 4, 0.01, 0.01), PRESENT);
        assertThat(known(reports, spec).advice())
                .as("each reads half of its time")
                .startsWith("num_workers=12;");
    }

    @Test
    void withoutACalibration_theProcessorsAreThePeak() throws Exception {
        LoaderReports reports = new LoaderReports(ModelFile.UNMEASURED, 8);
        JobSpec spec = job("seed=1");
        reports.add(spec, report(0, 2, 0, 0.02), PRESENT);
        assertThat(known(reports, spec).advice()).startsWith("num_workers=8;");
    }

    @Test
    void ranksOfOneNode_shareItsProcessors() throws Exception {
        LoaderReports reports = new LoaderReports(ModelFile.UNMEASURED, 8);
        JobSpec spec = job("seed=1 world=2 ranks=0-1");
        reports.add(spec, report(0, 2, 0, 0.02), PRESENT);
        reports.add(spec, report(1, 4, 0, 0.04), PRESENT);
        LoaderReports.Loading loading = known(reports, spec);
        assertThat(loading.workers()).isEqualTo(6);
        assertThat(loading.transformSeconds()).isCloseTo(0.03, within(1e-9));
        assertThat(loading.advice()).startsWith("num_workers=4;");
    }

    @Test
    void laterReports_takeOver_andThoseOfAnotherJobAreForgotten() throws Exception {
        LoaderReports reports = new LoaderReports(ModelFile.UNMEASURED, 8);
        JobSpec spec = job("seed=1");
        reports.add(spec, report(0, 2, 0, 0.5), PRESENT);
        for (int i = 0; i < 100; i++) {
            reports.add(spec, report(0, 2, 0, 0.02), PRESENT);
        }
        assertThat(known(reports, spec).transformSeconds()).isCloseTo(0.02, within(1e-3));
        assertThat(reports.text()).startsWith("job=train rank=0 workers=2 samples=64 read=0.000000 transform=0.02");
        assertThat(reports.of(job("seed=2"), BYTES)).as("replaced").isNull();
        reports.add(job("name=other"), report(0, 1, 0, 1), Set.of("other"));
        assertThat(reports.of(spec, BYTES)).as("not present any more").isNull();
    }

    @Test
    void nothingIsTransformed_isSaid() throws Exception {
        LoaderReports reports = new LoaderReports(ModelFile.UNMEASURED, 8);
        reports.add(job("seed=1"), report(0, 2, 0.01, 0), PRESENT);
        assertThat(known(reports, job("seed=1")).advice()).contains("nothing is transformed");
    }
}
