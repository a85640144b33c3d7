package io.clairfs.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** What a mount that runs says of itself. */
final class RunningChecks implements Check {
    @Override
    public List<Finding> look(Examined examined) {
        Running running = examined.running();
        if (running == null || running.status().isMissingNode()) {
            return List.of();
        }
        List<Finding> found = new ArrayList<>();
        JsonNode status = running.status();
        found.add(listing(status));
        found.addAll(reads(status));
        for (JsonNode job : status.path("jobs")) {
            found.add(job(job, status));
        }
        for (JsonNode tier : status.path("tiers")) {
            found.addAll(tier(tier));
        }
        for (JsonNode peer : status.path("peers")) {
            if (!peer.path("alive").asBoolean()) {
                found.add(Finding.problem(
                        "peer",
                        text(peer, "name") + " does not answer: " + text(peer, "trouble"),
                        "clairfs status there, and its log"));
            }
        }
        JsonNode group = status.path("group");
        if (!group.path("trouble").isNull() && !group.path("trouble").isMissingNode()) {
            found.add(Finding.problem("group", text(group, "trouble"), "docs/CLUSTER.md"));
        }
        if (status.path("errors").asLong() > 0) {
            found.add(Finding.note(
                    "errors",
                    String.format("%,d since the mount", status.path("errors").asLong()),
                    "cat " + text(status, "mount") + "/.clairfs/errors"));
        }
        return found;
    }

    private static Finding listing(JsonNode status) {
        if (!status.path("index_error").isNull()) {
            return Finding.problem(
                    "index",
                    text(status, "index_error") + ", so no job starts",
                    "cat " + text(status, "mount") + "/.clairfs/errors");
        }
        return Finding.ok(
                "index",
                String.format(
                        "%,d samples%s",
                        status.path("samples").asLong(),
                        status.path("ready").asBoolean() ? "" : " so far, still listing"));
    }

    private static List<Finding> reads(JsonNode status) {
        List<Finding> found = new ArrayList<>();
        JsonNode reads = status.path("reads");
        if (reads.path("unwatched_directories").asLong() > 0) {
            found.add(Finding.problem(
                    "watches",
                    String.format(
                            "%,d directories could not be watched: every sixteenth sample is left to its reader",
                            reads.path("unwatched_directories").asLong()),
                    "as root: sysctl -w fs.inotify.max_user_watches=524288, then mount again"));
        }
        if (reads.path("reports_lost").asLong() > 0) {
            found.add(Finding.note(
                    "reports",
                    String.format(
                            "inotify's queue overflowed %,d times, so positions are guessed meanwhile",
                            reads.path("reports_lost").asLong()),
                    "as root: sysctl -w fs.inotify.max_queued_events=131072"));
        }
        JsonNode staging = status.path("staging");
        if (staging.path("lost").asLong() * 20 > staging.path("pushed").asLong()) {
            found.add(Finding.note(
                    "staging",
                    String.format(
                            "the kernel took back %,d of %,d staged samples before they were read",
                            staging.path("lost").asLong(),
                            staging.path("pushed").asLong()),
                    "raise the limit of the control group, or a smaller --staging and --memory"));
        }
        return found;
    }

    private static Finding job(JsonNode job, JsonNode status) {
        String name = "job " + text(job, "name");
        if (!job.path("in_sync").asBoolean() && !job.path("done").asBoolean()) {
            return Finding.problem(
                    name,
                    "reads do not follow its order, so nothing is staged for them",
                    "clairfs run " + text(status, "mount")
                            + " -- python train.py, or compare seed, sampler, world, batch");
        }
        return Finding.ok(name, job.path("done").asBoolean() ? "all epochs read" : "in sync");
    }

    private static List<Finding> tier(JsonNode tier) {
        List<Finding> found = new ArrayList<>();
        String name = text(tier, "name");
        if (!tier.path("writable").asBoolean(true) && tier.path("recovered").asBoolean(true)) {
            found.add(Finding.problem(
                    name,
                    "takes no samples now: the disk is full, read-only or failing",
                    "df and dmesg; it is tried again by itself"));
        }
        if (tier.path("checksum_failures").asLong() > 0) {
            found.add(Finding.problem(
                    name,
                    String.format(
                            "%,d samples were damaged there; none was served",
                            tier.path("checksum_failures").asLong()),
                    "check the disk: smartctl -a"));
        }
        return found;
    }

    private static String text(JsonNode of, String key) {
        return of.path(key).asString("");
    }
}
