package io.clairfs.tools.node.status;

import java.util.Locale;

/** The status as text for people. */
public final class StatusText {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

    private static final double MS = 1e3;
    private static final double PERCENT = 100;

    /** How many epochs are shown; {@code clairfs report} shows all that are kept. */
    private static final int EPOCHS = 3;

    private StatusText() {}

    public static String of(Status s) {
        StringBuilder text = new StringBuilder();
        line(text, "clairfs", "%s at %s, up %s", s.source(), s.mount(), duration(s.uptimeSeconds()));
        line(
                text,
                "dataset",
                "%,d samples, %s%s",
                s.samples(),
                size(s.bytes()),
                s.ready() ? "" : " so far (still listing)");
        if (!s.view().identity().equals("raw")) {
            line(
                    text,
                    "view",
                    "%s; %,d headers read, %,d samples made here%s%s%s",
                    s.view().identity(),
                    s.view().headersRead(),
                    s.view().made(),
                    s.view().madeForPeers() == 0
                            ? ""
                            : ", %,d of them for peers".formatted(s.view().madeForPeers()),
                    s.view().madeElsewhere() == 0
                            ? ""
                            : ", %,d by peers".formatted(s.view().madeElsewhere()),
                    s.view().kept().equals("made") ? "" : "; keeps " + s.view().kept());
        }
        if (s.indexError() != null) {
            line(text, "index", "%s", s.indexError());
        }
        if (s.jobs().isEmpty()) {
            line(text, "job", "none; start one: clairfs job start %s seed=42", s.mount());
        }
        s.jobs().forEach(job -> job(text, job));
        findSeed(text, s);
        s.notes().forEach(note -> line(text, "trainer", "%s, at %s", note.text(), note.time()));
        Status.Reads r = s.reads();
        double share = r.opened() == 0 ? 0 : 100.0 * r.fromPageCache() / r.opened();
        line(
                text,
                "reads",
                "%,d files, %,d from the page cache (%.1f %%), %,d from the daemon, %,d failed",
                r.opened(),
                r.fromPageCache(),
                share,
                r.upcalls(),
                r.errors());
        line(text, "stalled", "%.1f s in total, by readers of samples that were not staged", s.stallSeconds());
        s.fetched().forEach((place, f) -> {
            if (f.count() > 0) {
                line(text, "from " + place, "%,d samples, %s", f.count(), size(f.bytes()));
            }
        });
        line(
                text,
                "staging",
                "%s of %s, %,d samples",
                size(s.staging().usedBytes()),
                size(s.staging().capacityBytes()),
                s.staging().samples());
        s.tiers().forEach(tier -> tier(text, tier));
        if (s.group() != null) {
            group(text, s.group());
        }
        for (Status.Peer peer : s.peers()) {
            line(
                    text,
                    "peer " + peer.name(),
                    "%s, %,d samples%s",
                    peer.address(),
                    peer.samples(),
                    peer.alive() ? "" : ", NOT ALIVE: " + peer.trouble());
            for (Status.Rail rail : peer.rails()) {
                line(
                        text,
                        "  rail",
                        "%s, %s received%s",
                        rail.address(),
                        size(rail.bytes()),
                        rail.leftAlone() ? ", LEFT ALONE" : rail.connected() ? "" : ", not connected");
            }
        }
        if (s.errors() > 0) {
            line(text, "errors", "%,d; to see the last: cat %s/.clairfs/errors", s.errors(), s.mount());
        }
        return text.toString();
    }

    private static void group(StringBuilder text, Status.Group group) {
        line(
                text,
                "group",
                "%s, %s, plan: %s",
                group.node(),
                group.joined() ? "one of " + group.nodes().size() + " nodes" : "NOT JOINED",
                group.planDigest() == null ? group.plan() : group.planDigest());
        if (group.trouble() != null) {
            line(text, "", "%s", group.trouble());
        }
        for (Status.GroupJob job : group.jobs()) {
            if (!job.unclaimed().isEmpty()) {
                line(text, "", "job %s: no node has claimed rank %s", job.name(), job.unclaimed());
            }
            if (!job.elsewhere().isEmpty()) {
                line(text, "", "job %s: the node of rank %s is gone", job.name(), job.elsewhere());
            }
        }
    }

    private static void job(StringBuilder text, Status.Job job) {
        String epochs = job.epochs() == null ? "" : "/" + job.epochs();
        String where = job.done()
                ? "all " + job.epochs() + " epochs read"
                : String.format(
                        Locale.ROOT,
                        "epoch %d%s, sample %,d of %,d",
                        job.epoch(),
                        epochs,
                        job.position(),
                        job.length());
        line(
                text,
                "job " + job.name(),
                "%s seed %s, rank %s of %d: %s, %s, %,d ahead",
                job.sampler(),
                job.seed(),
                job.ranks(),
                job.world(),
                where,
                job.inSync() ? "in sync" : "OUT OF SYNC",
                job.stagedAhead());
        if (job.readers().size() > 1) {
            for (Status.Rank rank : job.readers()) {
                line(
                        text,
                        "",
                        "rank %d: %d loaders, %,d staged, enough for %.1f s",
                        rank.rank(),
                        rank.loaders(),
                        rank.stagedAhead(),
                        rank.secondsStaged());
            }
        }
        if (job.steps() > 0) {
            line(
                    text,
                    "",
                    "%,d of %,d steps imbalanced (%.1f %%): one rank got its batch late",
                    job.imbalancedSteps(),
                    job.steps(),
                    100.0 * job.imbalancedSteps() / job.steps());
        }
        if (job.loading() != null) {
            line(
                    text,
                    "",
                    "%d workers, %.2f ms to read a sample, %.2f ms to transform it",
                    job.loading().workers(),
                    MS * job.loading().readSeconds(),
                    MS * job.loading().transformSeconds());
        }
        for (Status.Feeder feeder : job.feeders()) {
            line(
                    text,
                    "",
                    "feeder of rank %d: %d of %d batches ready, %,d fed (%,d bad), waited for %.1f s; per sample %.2f ms to read, %.2f ms to decode%s",
                    feeder.rank(),
                    feeder.ready(),
                    feeder.slots(),
                    feeder.batches(),
                    feeder.bad(),
                    feeder.waitedSeconds(),
                    MS * feeder.readSeconds() / Math.max(1, feeder.samples()),
                    MS * feeder.decodeSeconds() / Math.max(1, feeder.samples()),
                    feeder.copySeconds() == 0
                            ? ""
                            : String.format(
                                    Locale.ROOT,
                                    "; to the GPU at %.1f GB/s",
                                    feeder.copiedBytes() / feeder.copySeconds() / 1e9));
        }
        if (job.exchange() != null) {
            line(
                    text,
                    "",
                    "for epoch %d: %,d of %,d samples have come (%,d behind), %,d of %,d have gone",
                    job.exchange().epoch(),
                    job.exchange().received(),
                    job.exchange().receives(),
                    job.exchange().behind(),
                    job.exchange().sent(),
                    job.exchange().sends());
        }
        for (Status.Epoch epoch : job.history()
                .subList(
                        Math.max(0, job.history().size() - EPOCHS),
                        job.history().size())) {
            line(
                    text,
                    "",
                    "epoch %d: %.1f s%s, waited for data %s, accelerator utilisation %s%.1f %%",
                    epoch.epoch(),
                    epoch.seconds(),
                    epoch.over() ? "" : " so far",
                    waited(epoch),
                    epoch.told() ? "" : "at least ",
                    PERCENT * epoch.utilisation());
        }
        if (job.advice() != null) {
            line(text, "", "advice: %s", job.advice());
        }
        if (job.deviations() > 0) {
            line(text, "", "%,d %s deviated", job.deviations(), job.deviations() == 1 ? "read" : "reads");
        }
        if (job.note() != null) {
            line(text, "", "%s", job.note());
        }
    }

    private static String waited(Status.Epoch epoch) {
        return epoch.told()
                ? String.format(Locale.ROOT, "%.1f s", epoch.waitedSeconds())
                : String.format(Locale.ROOT, "%.1f to %.1f s", epoch.waitedAtLeastSeconds(), epoch.waitedSeconds());
    }

    private static void findSeed(StringBuilder text, Status s) {
        Status.FindSeed seed = s.findSeed();
        boolean told = s.jobs().stream().anyMatch(job -> !job.found() && job.inSync());
        switch (seed.state()) {
            case "found" -> {
                if (seed.found() != null) {
                    line(text, "seed", "%s", seed.found());
                }
                if (seed.line() != null) {
                    line(text, "", "next time: clairfs job start %s %s", s.mount(), seed.line());
                }
            }
            case "collecting" -> {
                if (seed.reads() > 0) {
                    line(text, "seed", "not found yet: %,d first reads", seed.reads());
                }
            }
            case "searching" ->
                line(text, "seed", "searching: %,d first reads, %,d orders tried", seed.reads(), seed.candidates());
            case "none" -> {
                line(
                        text,
                        "seed",
                        "no known order fits the %,d first reads (%,d tried); either of these tells it:",
                        seed.reads(),
                        seed.candidates());
                line(text, "", "clairfs run %s -- python train.py", s.mount());
                line(text, "", "clairfs job start %s seed=42 epochs=90", s.mount());
            }
            default -> {}
        }
        if (seed.note() != null && !told) {
            line(text, seed.state().equals("off") ? "seed" : "", "%s", seed.note());
        }
    }

    private static void tier(StringBuilder text, Status.Tier t) {
        line(
                text,
                t.name(),
                "%s of %s, %,d samples%s",
                size(t.usedBytes()),
                size(t.capacityBytes()),
                t.samples(),
                t.writable() ? "" : t.recovered() ? ", read-only" : ", not looked at yet");
        if (t.checksumFailures() + t.readFailures() + t.writeFailures() > 0) {
            line(
                    text,
                    "",
                    "%,d failed checksums, %,d failed reads, %,d failed writes; those samples came from other places",
                    t.checksumFailures(),
                    t.readFailures(),
                    t.writeFailures());
        }
    }

    private static void line(StringBuilder text, String label, String format, Object... values) {
        text.append(String.format(Locale.ROOT, "%-12s ", label))
                .append(String.format(Locale.ROOT, format, values))
                .append('\n');
    }

    /** Bytes in the largest binary unit that leaves a number of one or more. */
    public static String size(long bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", value, UNITS[unit]);
    }

    /** Such as {@code 3 min 20 s}. */
    public static String duration(double seconds) {
        long s = (long) seconds;
        if (s < 60) {
            return s + " s";
        }
        return s < 3600 ? s / 60 + " min " + s % 60 + " s" : s / 3600 + " h " + s % 3600 / 60 + " min";
    }
}
