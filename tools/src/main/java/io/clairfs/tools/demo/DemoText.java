package io.clairfs.tools.demo;

import java.util.List;
import java.util.Locale;

/** The figures of a demonstration as a table with a summary at the end. */
final class DemoText {
    private static final double MEGA = 1e6;
    private static final double MILLI = 1e3;
    private static final double PERCENT = 100;
    private static final String SIDE = " | %8.2f %7.2f %6.1f%% %13d";
    private static final String HEAD_SIDE = " | %8s %7s %7s %13s";
    private static final int SIDE_WIDTH = 39;

    private DemoText() {}

    static String of(DemoReport report) {
        StringBuilder text = new StringBuilder();
        text.append(format(
                "%d JPEG files, %.1f MB. The source: %.0f MB/s for all readers together, %.0f ms per open.%n",
                report.samples(),
                report.bytes() / MEGA,
                report.bandwidthBytesPerSecond() / MEGA,
                report.openLatencySeconds() * MILLI));
        text.append(format(
                "The trainer: %s with %d workers, batches of %d, %.0f ms of computation each%s.%n%n",
                report.trainer(),
                report.workers(),
                report.batch(),
                report.computeSecondsPerBatch() * MILLI,
                report.fed() == null ? "" : ", images decoded to " + DemoSpec.PIXELS + " pixels"));
        List<EpochFigures> fed = report.fed();
        text.append(format("%-5s | %-" + SIDE_WIDTH + "s | ", "", "directly on the source"));
        text.append(
                fed == null
                        ? "through clairfs"
                        : format("%-" + SIDE_WIDTH + "s | %s", "through clairfs", "with its feeder"));
        String side = format(HEAD_SIDE, "seconds", "waited", "", "source reads");
        text.append('\n')
                .append(format("%-5s", "epoch"))
                .append(side.repeat(fed == null ? 2 : 3))
                .append('\n');
        for (int i = 0; i < report.direct().size(); i++) {
            text.append(format("%-5d", i + 1));
            text.append(side(report.direct().get(i)));
            text.append(side(report.mounted().get(i)));
            text.append(fed == null ? "" : side(fed.get(i))).append('\n');
        }
        text.append(format("ideal | %8.2f    (computation alone)%n%n", report.idealSeconds()));
        return text.append(close(report)).toString();
    }

    private static String side(EpochFigures epoch) {
        return format(SIDE, epoch.seconds(), epoch.waitSeconds(), epoch.waitFraction() * PERCENT, epoch.sourceReads());
    }

    private static String close(DemoReport report) {
        StringBuilder close = new StringBuilder(format(
                "%.1f s directly, %.1f s through clairfs: %.1f times as fast.",
                seconds(report.direct()), seconds(report.mounted()), report.speedup()));
        List<EpochFigures> later = report.mounted().subList(1, report.mounted().size());
        if (!later.isEmpty()) {
            long reads = later.stream().mapToLong(EpochFigures::sourceReads).sum();
            close.append(format(
                    " After the first epoch the trainer waited %.1f%% of its time, and the source was read %s.",
                    waited(later) * PERCENT, reads == 0 ? "no more" : reads + " times"));
        }
        close.append(format(
                "%n%d of %d reads through the mount (%.2f%%) were answered by the daemon; the others came from the page cache.%n",
                report.readsWithUpcall(),
                report.samples() * report.mounted().size(),
                report.readsWithUpcallFraction() * PERCENT));
        if (report.fed() != null && report.fed().size() > 1) {
            List<EpochFigures> laterFed = report.fed().subList(1, report.fed().size());
            close.append(format(
                    "%.1f s with its feeder, which starts in the first epoch; after that the trainer waited %.1f%% of its time.%n",
                    seconds(report.fed()), waited(laterFed) * PERCENT));
        }
        if (!report.told()) {
            close.append(format(
                    "The seed was not told, and %s.%n",
                    report.found() == null ? "not found" : "clairfs " + report.found()));
        }
        if (!report.sameBytes()) {
            close.append("The samples were NOT the same in all epochs: this is a defect, please report it.\n");
        }
        if (!report.inSync() && (report.told() || report.found() != null)) {
            close.append(format(
                    "The trainer did not follow the predicted order (%d deviations): please report it.%n",
                    report.deviations()));
        }
        return close.toString();
    }

    private static double waited(List<EpochFigures> epochs) {
        return epochs.stream().mapToDouble(EpochFigures::waitSeconds).sum() / seconds(epochs);
    }

    private static double seconds(List<EpochFigures> epochs) {
        return epochs.stream().mapToDouble(EpochFigures::seconds).sum();
    }

    private static String format(String form, Object... values) {
        return String.format(Locale.ROOT, form, values);
    }
}
