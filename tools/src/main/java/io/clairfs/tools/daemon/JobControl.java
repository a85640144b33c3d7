package io.clairfs.tools.daemon;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.prefetch.JobRun;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlFile;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The control file {@code job}: lines that start, change and stop jobs.
 *
 * <p>All lines of one write are checked before any takes effect. While the index is being built, jobs are kept and start when
 * it is ready.
 */
final class JobControl implements ControlFile {
    private static final int MOST_JOBS = 64;
    private static final String STOP = "stop=";

    private final Indexes indexes;
    private final Prefetcher prefetcher;
    private final @Nullable PeerGroup group;
    private final ErrorLog errors;
    private final List<JobSpec> waiting = new ArrayList<>();

    JobControl(Indexes indexes, Prefetcher prefetcher, @Nullable PeerGroup group, ErrorLog errors) {
        this.group = group;
        this.indexes = indexes;
        this.prefetcher = prefetcher;
        this.errors = errors;
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public synchronized byte[] content() {
        StringBuilder text = new StringBuilder();
        for (JobRun run : prefetcher.jobs()) {
            text.append(line(run.spec())).append('\n');
        }
        for (JobSpec spec : waiting) {
            text.append(line(spec)).append('\n');
        }
        return text.toString().getBytes(UTF_8);
    }

    private static String line(JobSpec spec) {
        return "name=" + spec.name() + " sampler=" + spec.sampler() + " seed=" + spec.seed()
                + (spec.epochs() == JobSpec.UNLIMITED ? "" : " epochs=" + spec.epochs())
                + " world=" + spec.world() + " ranks=" + spec.firstRank() + "-" + spec.lastRank()
                + spec.keys().entrySet().stream()
                        .filter(e -> !List.of("name", "sampler", "seed", "epochs", "world", "ranks")
                                .contains(e.getKey()))
                        .sorted(java.util.Map.Entry.comparingByKey())
                        .map(e -> " " + e.getKey() + "=" + e.getValue())
                        .reduce("", String::concat);
    }

    private sealed interface Change {}

    private record Start(JobSpec spec) implements Change {}

    private record Stop(String name) implements Change {}

    @Override
    public synchronized void accept(String text) throws RejectedException {
        List<Change> changes = new ArrayList<>();
        for (String line :
                text.lines().map(String::strip).filter(l -> !l.isEmpty()).toList()) {
            try {
                changes.add(parse(line));
            } catch (InvalidSpecException e) {
                reject(line, String.valueOf(e.getMessage()));
            }
        }
        for (Change change : changes) {
            if (change instanceof Start start) {
                check(start.spec);
            }
        }
        changes.forEach(this::apply);
    }

    private Change parse(String line) throws InvalidSpecException {
        if (!line.startsWith(STOP)) {
            return new Start(JobSpec.parse(line));
        }
        Keys keys = Keys.parse(line);
        String name = keys.text("stop", "");
        keys.requireAllUsed();
        if (prefetcher.job(name).isEmpty()
                && waiting.stream().noneMatch(w -> w.name().equals(name))) {
            throw new InvalidSpecException("there is no job '" + name + "' to stop");
        }
        return new Stop(name);
    }

    /** Refuses a job that could not run over this dataset, as far as the dataset is known by now. */
    private void check(JobSpec spec) throws RejectedException {
        boolean isNew = prefetcher.job(spec.name()).isEmpty();
        if (isNew && prefetcher.jobs().size() + waiting.size() >= MOST_JOBS) {
            reject(spec.line(), "there are " + MOST_JOBS + " jobs already; stop one first");
        }
        try {
            SampleIndex index = indexes.of(spec.subset());
            spec.sampler(index).epoch(spec.startEpoch());
        } catch (TimeoutException stillListing) {
            assert stillListing != null : "checked again when it starts";
        } catch (InvalidSpecException | DatasetException | SourceException e) {
            reject(spec.line(), String.valueOf(e.getMessage()));
        }
    }

    private void apply(Change change) {
        switch (change) {
            case Stop stop -> {
                waiting.removeIf(w -> w.name().equals(stop.name));
                prefetcher.stop(stop.name);
            }
            case Start start -> {
                waiting.removeIf(w -> w.name().equals(start.spec.name()));
                start(start.spec);
            }
        }
    }

    private void start(JobSpec spec) {
        try {
            SampleIndex index = indexes.of(spec.subset());
            prefetcher.start(spec, index, indexes.watch(index));
            if (group != null) {
                group.jobStarted(spec);
            }
            warnOfSmallStaging(spec);
        } catch (TimeoutException stillListing) {
            waiting.add(spec);
        } catch (InvalidSpecException | DatasetException | SourceException e) {
            errors.add("job " + spec.name() + " not started: " + e.getMessage());
        }
    }

    /** The loaders of a rank have a window of samples under way at once; less than that cannot be staged in time. */
    private void warnOfSmallStaging(JobSpec spec) {
        long ranks = spec.lastRank() - spec.firstRank() + 1L;
        long needed = indexes.meanFileBytes() * spec.window() * ranks;
        if (needed > prefetcher.stagingCapacityBytes()) {
            errors.add("job " + spec.name() + ": the trainer's loaders have about " + StatusText.size(needed)
                    + " under way at once, more than the staging buffer holds; mount with a larger --staging");
        }
    }

    /** This node has joined its group: says which ranks read here. */
    synchronized void tellGroup() {
        if (group != null) {
            prefetcher.jobs().forEach(run -> group.jobStarted(run.spec()));
        }
    }

    /** The dataset is listed: starts the jobs that waited for it. */
    synchronized void startWaiting() {
        List<JobSpec> now = List.copyOf(waiting);
        waiting.clear();
        now.forEach(this::start);
    }

    private void reject(String line, String reason) throws RejectedException {
        errors.add("job line '" + line + "': " + reason);
        throw new RejectedException(reason);
    }
}
