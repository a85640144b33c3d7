package io.clairfs.tools.report;

import io.clairfs.tools.node.status.StatusText;
import io.clairfs.tools.report.MeasuredJob.Epoch;
import io.clairfs.tools.simulate.report.Figures;
import io.clairfs.tools.simulate.report.HtmlPage;
import io.clairfs.tools.simulate.report.Svg;
import java.util.List;
import java.util.Locale;

/** The report as one self-contained page, which is well-formed XML as well, for the width of a phone. */
public final class ReportPage {
    private static final double PERCENT = 100;
    private static final int ROW = 30;

    private final StringBuilder page = new StringBuilder();

    private ReportPage() {}

    /**
     * The page.
     *
     * @param mount the mount point
     * @param source what is mounted there
     */
    public static String of(String mount, String source, List<JobReport> reports) {
        return new ReportPage().make(mount, source, reports);
    }

    private String make(String mount, String source, List<JobReport> reports) {
        page.append(HtmlPage.beginning("Is data the bottleneck? " + mount))
                .append("<h1>Is data the bottleneck?</h1>\n<p><b>")
                .append(Svg.escaped(mount))
                .append("</b>, with the files of ")
                .append(Svg.escaped(source))
                .append("</p>\n");
        reports.forEach(this::job);
        return page.append(HtmlPage.END).toString();
    }

    private void job(JobReport report) {
        MeasuredJob job = report.job();
        page.append("<h2>Job ").append(Svg.escaped(job.name())).append("</h2>\n<p class='verdict'>");
        page.append(Svg.escaped(report.verdict())).append("</p>\n");
        if (job.note() != null) {
            page.append("<p>").append(Svg.escaped(job.note())).append("</p>\n");
        }
        if (!job.epochs().isEmpty()) {
            page.append("<h2>Time of each epoch</h2>\n").append(times(job.epochs()));
            key("#0072b2", "computing", "#d55e00", "waiting for data", "#eab38f", "one of the two");
            page.append("<h2>Where its bytes came from</h2>\n").append(places(job.epochs()));
            key("#56b4e9", "memory", "#009e73", "SSD", "#e69f00", "other nodes", "#d55e00", "source");
            table(job.epochs());
        }
        Outlook outlook = report.outlook();
        page.append("<h2>What would change it</h2>\n");
        if (outlook == null) {
            page.append("<p>Not simulated: ")
                    .append(Svg.escaped(String.valueOf(report.unknown())))
                    .append("</p>\n");
        } else {
            outlook(outlook);
        }
    }

    /** Pairs of a colour and what it stands for. */
    private void key(String... pairs) {
        page.append("<p class='key'>");
        for (int i = 0; i < pairs.length; i += 2) {
            page.append("<span><i style='background:")
                    .append(pairs[i])
                    .append("'></i>")
                    .append(pairs[i + 1])
                    .append("</span>");
        }
        page.append("</p>\n");
    }

    private static String times(List<Epoch> epochs) {
        double longest = epochs.stream().mapToDouble(Epoch::seconds).max().orElse(0);
        double scale = longest > 0 ? (Svg.WIDTH - 4) / longest : 0;
        Svg svg = new Svg(ROW * epochs.size(), "seconds of each epoch, computing and waiting");
        for (int i = 0; i < epochs.size(); i++) {
            Epoch each = epochs.get(i);
            svg.label(2, ROW * i + 11, "name", each.name());
            svg.label(Svg.WIDTH - 2, ROW * i + 11, "end", Figures.seconds(each.seconds()) + ", AU " + each.percent());
            double computing = each.seconds() - each.waitedSeconds();
            double perhaps = each.waitedSeconds() - each.waitedAtLeastSeconds();
            double x = part(svg, 0, i, computing, scale, "computing");
            x = part(svg, x, i, perhaps, scale, "perhaps");
            double _ = part(svg, x, i, each.waitedAtLeastSeconds(), scale, "waiting");
        }
        return svg.toString();
    }

    /** One part of a bar. Returns where the next one begins. */
    private static double part(Svg svg, double x, int row, double seconds, double scale, String what) {
        svg.rectangle(x, ROW * row + 15, seconds * scale, 10, what, what + ": " + Figures.seconds(seconds));
        return x + seconds * scale;
    }

    private static String places(List<Epoch> epochs) {
        double most = epochs.stream().mapToDouble(ReportPage::bytes).max().orElse(0);
        double scale = most > 0 ? (Svg.WIDTH - 4) / most : 0;
        Svg svg = new Svg(ROW * epochs.size(), "bytes fetched in each epoch, by place");
        for (int i = 0; i < epochs.size(); i++) {
            Epoch each = epochs.get(i);
            svg.label(2, ROW * i + 11, "name", each.name());
            svg.label(Svg.WIDTH - 2, ROW * i + 11, "end", StatusText.size((long) bytes(each)));
            double x = 0;
            for (String place : MeasuredJob.PLACES) {
                long bytes = each.from(place).bytes();
                svg.rectangle(x, ROW * i + 15, bytes * scale, 10, place, place + ": " + StatusText.size(bytes));
                x += bytes * scale;
            }
        }
        return svg.toString();
    }

    private static double bytes(Epoch epoch) {
        return epoch.fetched().values().stream()
                .mapToLong(MeasuredJob.Amount::bytes)
                .sum();
    }

    private void table(List<Epoch> epochs) {
        page.append(
                        "<div class='table'><table><tr><th>epoch</th><th>time s</th><th>waited s</th><th>AU</th><th>reads</th>")
                .append("<th>cached</th><th>memory</th><th>SSD</th><th>nodes</th><th>source</th></tr>\n");
        for (Epoch each : epochs) {
            page.append(format(
                    "<tr><td>%s</td><td>%.2f</td><td>%s</td><td>%s</td><td>%,d</td><td>%.1f %%</td>",
                    each.epoch() + (each.over() ? "" : " so far"),
                    each.seconds(),
                    each.waitedInColumn(),
                    each.percent(),
                    each.opened(),
                    each.opened() == 0 ? 0 : PERCENT * each.fromPageCache() / each.opened()));
            for (String place : MeasuredJob.PLACES) {
                page.append("<td>").append(size(each, place)).append("</td>");
            }
            page.append("</tr>\n");
        }
        page.append(
                        "</table></div>\n<p><small>AU: accelerator utilisation, computation / (computation + wait), as DLIO divides it.")
                .append(epochs.stream().allMatch(Epoch::told) ? "" : " From outside there are only limits of the wait.")
                .append(
                        " Cached: reads that the page cache served. Reads and bytes are those of the whole node, for all its jobs,")
                .append(" since the epoch before.</small></p>\n");
    }

    private static String size(Epoch epoch, String place) {
        long bytes = epoch.from(place).bytes();
        return bytes == 0 ? "-" : StatusText.size(bytes);
    }

    private void outlook(Outlook outlook) {
        double longest = outlook.epochSeconds();
        for (Outlook.Row row : outlook.rows()) {
            longest = Math.max(longest, row.laterSeconds());
        }
        double scale = longest > 0 ? (Svg.WIDTH - 4) / longest : 0;
        int bottom = ROW * outlook.rows().size();
        Svg svg = new Svg(bottom + 18, "seconds of a later epoch with each change");
        double bound = outlook.epochSeconds() * scale;
        for (int i = 0; i < outlook.rows().size(); i++) {
            Outlook.Row row = outlook.rows().get(i);
            int y = ROW * i;
            svg.label(2, y + 11, "name", row.what());
            svg.label(
                    Svg.WIDTH - 2,
                    y + 11,
                    "end",
                    format(
                            "%s, AU %.1f %%",
                            Figures.seconds(row.laterSeconds()), PERCENT * outlook.utilisation(row.laterSeconds())));
            double computing = Math.min(row.laterSeconds(), outlook.epochSeconds()) * scale;
            svg.rectangle(0, y + 15, computing, 10, "computing", "computing");
            svg.rectangle(computing, y + 15, row.laterSeconds() * scale - computing, 10, "waiting", "waiting");
            svg.line(bound, y + 13, bound, y + 28, "bound");
        }
        svg.label(
                Math.min(bound, Svg.WIDTH - 2),
                bottom + 13,
                bound > Svg.WIDTH / 2.0 ? "end" : "",
                "computation alone: " + Figures.seconds(outlook.epochSeconds()));
        page.append(svg)
                .append(
                        "<div class='table'><table><tr><th>simulated</th><th>first epoch</th><th>later epochs</th><th>AU %</th></tr>\n");
        for (Outlook.Row row : outlook.rows()) {
            page.append(format(
                    "<tr><td>%s</td><td>%s</td><td>%s</td><td>%.1f</td></tr>%n",
                    Svg.escaped(row.what()),
                    Figures.seconds(row.firstSeconds()),
                    Figures.seconds(row.laterSeconds()),
                    PERCENT * outlook.utilisation(row.laterSeconds())));
        }
        page.append("</table></div>\n<p><small>By the simulator, with the planner of the daemon")
                .append(
                        outlook.divisor() == 1
                                ? ""
                                : ", from one in " + outlook.divisor() + " of the samples and of the room")
                .append(". Assumed: ")
                .append(Svg.escaped(String.join("; ", outlook.assumed())))
                .append(".</small></p>\n");
    }

    private static String format(String form, Object... values) {
        return String.format(Locale.ROOT, form, values);
    }
}
