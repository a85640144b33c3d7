package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.tools.node.job.FeederReports;
import io.clairfs.tools.node.job.JobTable;
import io.clairfs.tools.node.job.LoaderReport;
import io.clairfs.tools.node.job.LoaderReports;
import io.clairfs.tools.node.status.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The control file {@code report}: lines in which the workers of a trainer's loader say how long they read and transform a sample, its
 * training loop how long it waited for batches, and feeders how far they are. They change nothing; status shows what follows from them. All lines of one write are checked before any counts.
 */
public final class ReportControl implements ControlFile {
    private static final int MOST_WORKERS = 4096;
    private static final int MOST_SAMPLES = 1_000_000_000;

    private final JobTable jobs;
    private final LoaderReports reports;
    private final FeederReports feeders;
    private final Loops loops;
    private final ErrorLog errors;

    /** Takes what the loop of a trainer tells. */
    public interface Loops {
        /** The loop of a rank took so long since it told last, and waited for batches in a part of that. */
        void told(JobSpec job, int rank, double waitedSeconds, double tookSeconds);
    }

    public ReportControl(JobTable jobs, LoaderReports reports, FeederReports feeders, Loops loops, ErrorLog errors) {
        this.jobs = jobs;
        this.reports = reports;
        this.feeders = feeders;
        this.loops = loops;
        this.errors = errors;
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public ControlContent content() {
        return ControlContent.of(reports.text().getBytes(UTF_8));
    }

    @Override
    public void accept(String text) throws RejectedException {
        Set<String> present = jobs.present().stream().map(JobSpec::name).collect(Collectors.toSet());
        List<Runnable> parsed = new ArrayList<>();
        for (String line :
                text.lines().map(String::strip).filter(l -> !l.isEmpty()).toList()) {
            try {
                parsed.add(parse(line, present));
            } catch (InvalidSpecException e) {
                String reason = String.valueOf(e.getMessage());
                errors.add("report line '" + Keys.shorten(line) + "': " + reason);
                throw new RejectedException(reason);
            }
        }
        parsed.forEach(Runnable::run);
    }

    /** What a line changes, if it is right. */
    private Runnable parse(String line, Set<String> present) throws InvalidSpecException {
        Keys keys = Keys.parse(line);
        boolean isOfFeeder = keys.has("feeder");
        boolean isOfLoop = keys.has("loop");
        String name = keys.text("job", JobSpec.DEFAULT_NAME);
        int rank = keys.integer("rank", 0, 0, Integer.MAX_VALUE);
        Loop ofLoop = isOfLoop ? loop(keys) : null;
        LoaderReport ofLoader = isOfFeeder || isOfLoop ? null : ofLoader(keys, rank);
        Status.Feeder ofFeeder = isOfFeeder ? ofFeeder(keys, rank) : null;
        keys.requireAllUsed();
        JobSpec spec = jobs.present(name);
        if (spec == null) {
            throw new InvalidSpecException(
                    "there is no job '" + Keys.shorten(name) + "'; the jobs are those in the file job");
        }
        if (spec.ranks().count() == 0 || rank < spec.firstRank() || rank > spec.lastRank()) {
            throw new InvalidSpecException("rank=" + rank + " of the job '" + name + "' does not read here; ranks="
                    + spec.ranks().text() + " do");
        }
        if (ofLoop != null) {
            return () -> loops.told(spec, rank, ofLoop.waitedSeconds, ofLoop.tookSeconds);
        }
        return ofFeeder != null
                ? () -> feeders.add(spec, ofFeeder)
                : () -> reports.add(spec, Objects.requireNonNull(ofLoader), present);
    }

    private record Loop(double waitedSeconds, double tookSeconds) {}

    private static Loop loop(Keys keys) throws InvalidSpecException {
        int _ = keys.integer("loop", 0, 0, MOST_SAMPLES); // steps
        double took = seconds(keys, "took");
        double waited = seconds(keys, "waited");
        if (waited > took) {
            throw new InvalidSpecException(
                    "waited=" + waited + " is more than took=" + took + ", of which it is a part");
        }
        return new Loop(waited, took);
    }

    private static LoaderReport ofLoader(Keys keys, int rank) throws InvalidSpecException {
        return new LoaderReport(
                rank,
                keys.integer("workers", 1, 1, MOST_WORKERS),
                keys.integer("samples", 1, 1, MOST_SAMPLES),
                seconds(keys, "read"),
                seconds(keys, "transform"));
    }

    private static Status.Feeder ofFeeder(Keys keys, int rank) throws InvalidSpecException {
        return new Status.Feeder(
                count(keys, "feeder"),
                rank,
                keys.integer("slots", 1, 1, MOST_WORKERS),
                keys.integer("ready", 0, 0, MOST_WORKERS),
                keys.integer("threads", 1, 0, MOST_WORKERS),
                count(keys, "batches"),
                count(keys, "bad"),
                count(keys, "samples"),
                count(keys, "bytes"),
                seconds(keys, "read"),
                seconds(keys, "decode"),
                seconds(keys, "waited"),
                count(keys, "copied"),
                keys.decimal("copy", 0));
    }

    private static long count(Keys keys, String key) throws InvalidSpecException {
        return keys.integer(key, 0, 0, Long.MAX_VALUE);
    }

    /** Seconds, which have to be there. */
    private static double seconds(Keys keys, String key) throws InvalidSpecException {
        if (!keys.has(key)) {
            throw new InvalidSpecException(key + "= is missing: seconds, such as 0.0021");
        }
        return keys.decimal(key, 0);
    }

    @Override
    public void refused(String reason) {
        errors.add("report: " + reason);
    }
}
