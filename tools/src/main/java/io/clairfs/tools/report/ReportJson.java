package io.clairfs.tools.report;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The report for programs. The names of the components are the keys, in snake case; those of an epoch are the ones of {@code status.json}. */
public final class ReportJson {
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    private ReportJson() {}

    private record Mount(String mount, String source, List<Job> jobs) {}

    /** @param bottleneck {@code data}, {@code not_data}, {@code unclear}, or {@code unknown} before the first read */
    private record Job(
            String name,
            String bottleneck,
            String verdict,
            @Nullable String note,
            List<MeasuredJob.Epoch> epochs,
            @Nullable Simulated simulated,
            @Nullable String notSimulated) {
        static Job of(JobReport report) {
            MeasuredJob job = report.job();
            Outlook outlook = report.outlook();
            return new Job(
                    job.name(),
                    report.bottleneck().name().toLowerCase(Locale.ROOT),
                    report.verdict(),
                    job.note(),
                    job.epochs(),
                    outlook == null ? null : Simulated.of(outlook),
                    report.unknown());
        }
    }

    /**
     * @param computationSeconds of an epoch in which data is always ready
     * @param machines this one, then one change each
     * @param best the change that the verdict names, whether or not it is needed; null where none makes later epochs faster
     */
    private record Simulated(
            double computationSeconds,
            List<Machine> machines,
            @Nullable String best,
            List<String> assumed) {
        static Simulated of(Outlook outlook) {
            Outlook.Row best = outlook.best();
            return new Simulated(
                    outlook.epochSeconds(),
                    outlook.rows().stream()
                            .map(row -> new Machine(
                                    row.what(),
                                    row.firstSeconds(),
                                    row.laterSeconds(),
                                    outlook.utilisation(row.laterSeconds())))
                            .toList(),
                    best == null ? null : best.what(),
                    outlook.assumed());
        }
    }

    private record Machine(String what, double firstEpochSeconds, double laterEpochSeconds, double utilisation) {}

    /** One JSON object: the mount, and its jobs. */
    public static String of(String mount, String source, List<JobReport> reports) {
        return JSON.writeValueAsString(
                        new Mount(mount, source, reports.stream().map(Job::of).toList()))
                + "\n";
    }
}
