package io.clairfs.tools.top;

import java.util.Locale;
import tools.jackson.databind.JsonNode;

/** One line for each interval, for a log or another program: columns of a fixed width, with blanks between them. */
public final class TopLines {
    /** The names of the columns. Rates are per second; {@code cached} is the share of reads that needed no request, percent. */
    public static final String HEADER =
            "   epoch    sample  ahead_s   reads cached   asked waited_s  memory_MB     ssd_MB    peer_MB  source_MB   cpu";

    private static final double MEGA = 1e6;
    private static final double PERCENT = 100;

    private TopLines() {}

    /** The line of an interval. Of several jobs it shows the first one. */
    public static String of(Interval interval) {
        JsonNode job = interval.now().path("jobs").path(0);
        return String.format(
                Locale.ROOT,
                "%8s %9s %8s %7.0f %6.1f %7.1f %8.3f %10.1f %10.1f %10.1f %10.1f %5.1f",
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
                PERCENT * interval.rate("/process/cpu_seconds"));
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
