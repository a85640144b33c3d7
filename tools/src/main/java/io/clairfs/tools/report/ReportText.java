package io.clairfs.tools.report;

import io.clairfs.tools.node.status.StatusText;
import io.clairfs.tools.report.MeasuredJob.Epoch;
import io.clairfs.tools.simulate.report.Figures;
import java.util.List;
import java.util.Locale;

/** The report for a terminal. */
public final class ReportText {
    private static final double PERCENT = 100;

    private ReportText() {}

    /** All jobs, one after the other. */
    public static String of(List<JobReport> reports) {
        StringBuilder text = new StringBuilder();
        for (JobReport each : reports) {
            text.append(text.isEmpty() ? "" : "\n").append(of(each));
        }
        return text.toString();
    }

    private static String of(JobReport report) {
        MeasuredJob job = report.job();
        StringBuilder text = new StringBuilder("job " + job.name() + ": " + report.verdict() + "\n");
        if (job.note() != null) {
            text.append(job.note()).append('\n');
        }
        if (!job.epochs().isEmpty()) {
            text.append(format(
                    "%n%-18s %10s %18s %16s %9s %9s %9s %9s %9s %9s%n",
                    "measured", "time", "waited", "AU", "reads", "cached", "memory", "ssd", "peers", "source"));
        }
        for (Epoch epoch : job.epochs()) {
            text.append(format(
                    "%-18s %10s %18s %16s %,9d %8.1f%% %9s %9s %9s %9s%n",
                    epoch.name(),
                    Figures.seconds(epoch.seconds()),
                    epoch.waited(),
                    epoch.percent(),
                    epoch.opened(),
                    epoch.opened() == 0 ? 0 : PERCENT * epoch.fromPageCache() / epoch.opened(),
                    size(epoch, "memory"),
                    size(epoch, "ssd"),
                    size(epoch, "peer"),
                    size(epoch, "source")));
        }
        Outlook outlook = report.outlook();
        if (outlook == null) {
            return text.append("\nnot simulated: ")
                    .append(report.unknown())
                    .append('\n')
                    .toString();
        }
        text.append(format("%n%-36s %12s %12s %7s%n", "simulated", "first epoch", "later epochs", "AU"));
        text.append(format(
                "%-36s %12s %12s %6.1f%%%n",
                "lower bound: computation alone",
                Figures.seconds(outlook.epochSeconds()),
                Figures.seconds(outlook.epochSeconds()),
                PERCENT));
        for (Outlook.Row row : outlook.rows()) {
            text.append(format(
                    "%-36s %12s %12s %6.1f%%%n",
                    row.what(),
                    Figures.seconds(row.firstSeconds()),
                    Figures.seconds(row.laterSeconds()),
                    PERCENT * outlook.utilisation(row.laterSeconds())));
        }
        return text.append("assumed: ")
                .append(String.join("; ", outlook.assumed()))
                .append('\n')
                .toString();
    }

    private static String size(Epoch epoch, String place) {
        long bytes = epoch.from(place).bytes();
        return bytes == 0 ? "-" : StatusText.size(bytes);
    }

    private static String format(String form, Object... values) {
        return String.format(Locale.ROOT, form, values);
    }
}
