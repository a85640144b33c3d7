package io.clairfs.tools.top;

import io.clairfs.tools.node.status.StatusText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;

/** One screen: where each job is, and where its samples came from in the last interval. */
public final class TopScreen {
    private static final double MEGA = 1e6;
    private static final double PERCENT = 100;
    private static final double MILLI = 1e3;
    private static final int BAR = 30;

    private final Interval interval;
    private final JsonNode now;
    private final List<String> lines = new ArrayList<>();

    private TopScreen(Interval interval) {
        this.interval = interval;
        now = interval.now();
    }

    /** The lines of the screen. */
    public static List<String> of(Interval interval) {
        TopScreen screen = new TopScreen(interval);
        screen.mount();
        for (JsonNode job : screen.now.path("jobs")) {
            screen.job(job);
        }
        if (screen.now.path("jobs").isEmpty()) {
            screen.add("job", "none");
        }
        screen.reads();
        screen.places();
        screen.room();
        screen.others();
        return screen.lines;
    }

    private void mount() {
        add("clairfs", "%s at %s", text(now, "source"), text(now, "mount"));
        add(
                "daemon",
                "pid %d, up %s, %.1f %% of a processor, %s heap, %s of samples in memory",
                now.path("pid").asLong(),
                StatusText.duration(now.path("uptime_seconds").asDouble()),
                PERCENT * interval.rate("/process/cpu_seconds"),
                StatusText.size(now.at("/process/heap_bytes").asLong()),
                StatusText.size(now.at("/process/native_bytes").asLong()));
    }

    private void job(JsonNode job) {
        String name = "job " + text(job, "name");
        long position = job.path("position").asLong();
        long length = job.path("length").asLong();
        if (job.path("done").asBoolean()) {
            add(name, "all epochs read");
            return;
        }
        add(
                name,
                "epoch %d%s  %s %,d of %,d  %s",
                job.path("epoch").asInt(),
                job.path("epochs").isNull() ? "" : "/" + job.path("epochs").asInt(),
                bar(length == 0 ? 0 : (double) position / length),
                position,
                length,
                job.path("in_sync").asBoolean() ? "in sync" : "OUT OF SYNC");
        add("", "%,d samples ahead, enough for %.1f s", job.path("staged_ahead").asLong(), TopLines.secondsAhead(job));
        JsonNode epoch = TopLines.lastEpoch(job);
        if (!epoch.isMissingNode()) {
            boolean told = epoch.path("told").asBoolean();
            add(
                    "",
                    "epoch %d: waited for data %s%.1f s of %.1f s, accelerator utilisation %s%.1f %%",
                    epoch.path("epoch").asInt(),
                    told ? "" : "at most ",
                    epoch.path("waited_seconds").asDouble(),
                    epoch.path("seconds").asDouble(),
                    told ? "" : "at least ",
                    PERCENT * epoch.path("utilisation").asDouble());
        }
        for (JsonNode feeder : job.path("feeders")) {
            add(
                    "",
                    "feeder of rank %d: %d of %d batches ready",
                    feeder.path("rank").asInt(),
                    feeder.path("ready").asInt(),
                    feeder.path("slots").asInt());
        }
        if (!job.path("note").isNull()) {
            add("", "%s", text(job, "note"));
        }
    }

    private void reads() {
        add(
                "reads",
                "%,.0f /s, %.1f %% of them from the page cache; %,.1f /s asked, readers waited %.3f s each second",
                interval.rate("/reads/opened"),
                PERCENT * interval.each("/reads/from_page_cache", "/reads/opened"),
                interval.rate("/reads/upcalls"),
                interval.rate("/stall_seconds"));
    }

    private void places() {
        for (String place : List.of("memory", "ssd", "peer", "source")) {
            double bytes = interval.rate("/fetched/" + place + "/bytes");
            if (bytes > 0 || place.equals("source")) {
                add(
                        "from " + place,
                        "%,.1f MB/s, %,.0f samples/s%s",
                        bytes / MEGA,
                        interval.rate("/fetched/" + place + "/count"),
                        latency(place));
            }
        }
    }

    /** Since the mount began: the status has no percentiles of an interval. */
    private String latency(String place) {
        JsonNode took = now.path("latency").path(place);
        return took.path("count").asLong() == 0
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; half within %.1f ms, 99 %% within %.1f ms",
                        MILLI * took.path("p50").asDouble(),
                        MILLI * took.path("p99").asDouble());
    }

    private void room() {
        add("staging", "%s", filled(now.path("staging")));
        for (JsonNode tier : now.path("tiers")) {
            add(
                    text(tier, "name"),
                    "%s%s",
                    filled(tier),
                    tier.path("writable").asBoolean(true)
                                    || !tier.path("recovered").asBoolean(true)
                            ? ""
                            : "  NOT WRITABLE");
        }
    }

    private static String filled(JsonNode part) {
        long used = part.path("used_bytes").asLong();
        long capacity = part.path("capacity_bytes").asLong();
        return String.format(
                Locale.ROOT,
                "%s %s of %s, %,d samples",
                bar(capacity == 0 ? 0 : (double) used / capacity),
                StatusText.size(used),
                StatusText.size(capacity),
                part.path("samples").asLong());
    }

    private void others() {
        int alive = 0;
        for (JsonNode peer : now.path("peers")) {
            alive += peer.path("alive").asBoolean() ? 1 : 0;
        }
        if (!now.path("peers").isEmpty()) {
            add("peers", "%d of %d answer", alive, now.path("peers").size());
        }
        if (now.path("errors").asLong() > 0) {
            add("errors", "%,d; cat %s/.clairfs/errors", now.path("errors").asLong(), text(now, "mount"));
        }
    }

    private static String bar(double share) {
        int full = (int) Math.round(BAR * Math.clamp(share, 0, 1));
        return "[" + "#".repeat(full) + "-".repeat(BAR - full) + "]";
    }

    private static String text(JsonNode of, String key) {
        return of.path(key).asString("");
    }

    private void add(String name, String format, Object... values) {
        lines.add(String.format(Locale.ROOT, "%-12s ", name) + String.format(Locale.ROOT, format, values));
    }
}
