package io.clairfs.tools.top;

import java.util.Locale;
import tools.jackson.databind.JsonNode;

/** One line for each interval, for a log or another program: columns of a fixed width, with blanks between them. */
public final class TopLines {
    /**
     * The names of the columns. Rates are per second; {@code cached} is the share of reads that needed no request, percent. {@code epoch_s}, {@code
     * wait_s} and {@code au} are of the job's epoch so far: seconds, those that its trainers waited for data at most, and the accelerator
     * utilisation in percent, at least.
     */
    public static final String HEADER =
            "   epoch    sample  ahead_s   reads cached   asked waited_s  memory_MB     ssd_MB    peer_MB  source_MB   cpu  epoch_s  wait_s    au";

    private static final double MEGA = 1e6;
    private static final double PERCENT = 100;

    private TopLines() {}

    /** The line of an interval. Of several jobs it shows the first one. */
    public static String of(Interval interval) {
        JsonNode job = interval.now().path("jobs").path(0);
        return String.format(
                Locale.ROOT,
                "%8s %9s %8s %7.0f %6.1f %7.1f %8.3f %10.1f %10.1f %10.1f %10.1f %5.1f %8s %7s %5s",
                job.isMissingNode() ? "-" : job.path("epoch").asString(),
                job.isMissingNode() ? "-" : job.path("position").asString(),
                job.isMissingNode() ? "-" : String.format(Locale.ROOT, "%.1f", secondsAhead(job)),
                interval.rate("/reads/opened"),
                PERCENT * interval.each("/reads/from_page_cache", "/reads/opened"),
                interval.rate("/reads/upcalls"),
                interval.rate("/stall_seconds"),
                interval.rate("/fetched/memory/bytes") / MEGA,
                interval.rate("/fetched/ssd/bytes") / MEGA,
                interval.rate("/fetched/peer/bytes") / MEGA,
                interval.rate("/fetched/source/bytes") / MEGA,
                PERCENT * interval.rate("/process/cpu_seconds"),
                ofEpoch(job, "seconds", 1),
                ofEpoch(job, "waited_seconds", 1),
                ofEpoch(job, "utilisation", PERCENT));
    }

    /** A figure of the last epoch that the job has begun. */
    private static String ofEpoch(JsonNode job, String figure, double times) {
        JsonNode epoch = lastEpoch(job);
        return epoch.isMissingNode()
                ? "-"
                : String.format(Locale.ROOT, "%.1f", times * epoch.path(figure).asDouble());
    }

    static JsonNode lastEpoch(JsonNode job) {
        JsonNode history = job.path("history");
        return history.path(history.size() - 1);
    }

    /** How long what is staged lasts for the rank that has least. */
    static double secondsAhead(JsonNode job) {
        double least = Double.POSITIVE_INFINITY;
        for (JsonNode rank : job.path("readers")) {
            least = Math.min(least, rank.path("seconds_staged").asDouble());
        }
        return Double.isInfinite(least) ? 0 : least;
    }
}
