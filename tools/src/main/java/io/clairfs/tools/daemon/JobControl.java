package io.clairfs.tools.daemon;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.prefetch.JobRun;
import io.clairfs.cache.prefetch.Prefetcher;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.peer.directory.Job;
import io.clairfs.peer.directory.Jobs;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
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
    private final @Nullable GroupJobs group;
    private final ErrorLog errors;
    private final List<JobSpec> waiting = new ArrayList<>();

    /** By job, which ranks read here as far as anybody said; of jobs that are not known yet, too. */
    private final Map<String, Ranks> ranksHere = new TreeMap<>();

    /** By name, what was started last; it may have ended by itself since. */
    private final Map<String, JobSpec> started = new HashMap<>();

    /** What was stopped on any node of the group: scripts stop a job on each of theirs, and all but the first are late. */
    private Set<String> stoppedInGroup = Set.of();

    JobControl(Indexes indexes, Prefetcher prefetcher, @Nullable GroupJobs group, ErrorLog errors) {
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
        ranksHere.forEach((name, ranks) -> {
            if (running(name) == null) {
                text.append("name=" + name + " ranks=" + ranks.text()).append('\n');
            }
        });
        return text.toString().getBytes(UTF_8);
    }

    private static String line(JobSpec spec) {
        return "name=" + spec.name() + " sampler=" + spec.sampler() + " seed=" + spec.seed()
                + (spec.epochs() == JobSpec.UNLIMITED ? "" : " epochs=" + spec.epochs())
                + " world=" + spec.world() + " ranks=" + ranks(spec)
                + spec.keys().entrySet().stream()
                        .filter(e -> !List.of("name", "sampler", "seed", "epochs", "world", "ranks")
                                .contains(e.getKey()))
                        .sorted(java.util.Map.Entry.comparingByKey())
                        .map(e -> " " + e.getKey() + "=" + e.getValue())
                        .reduce("", String::concat);
    }

    /** As it was shown always: a range, were it of one rank. */
    private static String ranks(JobSpec spec) {
        return spec.ranks().count() == 0 ? spec.ranks().text() : spec.firstRank() + "-" + spec.lastRank();
    }

    private sealed interface Change {}

    private record Start(JobSpec spec) implements Change {}

    private record Stop(String name) implements Change {}

    private record ReadHere(String name, Ranks ranks) implements Change {}

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
        requireRoom(changes);
        for (Change change : changes) {
            if (change instanceof Start start) {
                check(start.spec);
            }
        }
        changes.forEach(this::apply);
    }

    private Change parse(String line) throws InvalidSpecException {
        if (line.startsWith(STOP)) {
            Keys keys = Keys.parse(line);
            String name = keys.text("stop", "");
            keys.requireAllUsed();
            if (!isKnown(name)) {
                throw new InvalidSpecException("there is no job '" + name + "' to stop");
            }
            return new Stop(name);
        }
        Change ranks = parseRanks(line);
        return ranks == null ? new Start(parseJob(line)) : ranks;
    }

    private boolean isKnown(String name) {
        return running(name) != null
                || ranksHere.containsKey(name)
                || started.containsKey(name)
                || stoppedInGroup.contains(name);
    }

    /** A line that names ranks and nothing else speaks of a job that is there, or, in a group, of one that is to come. */
    private @Nullable Change parseRanks(String line) throws InvalidSpecException {
        if (line.indexOf('=') < 0) {
            return null;
        }
        Keys keys = Keys.parse(line);
        String name = keys.text("name", JobSpec.DEFAULT_NAME);
        JobSpec running = running(name);
        boolean onlyRanks = keys.has("ranks")
                && Set.of("name", "ranks").containsAll(keys.asWritten().keySet());
        if (!onlyRanks || (group == null && running == null)) {
            return null;
        }
        Ranks ranks = Ranks.parse(keys.text("ranks", ""));
        if (running != null) {
            JobSpec _ = running.withRanks(ranks); // what the world of the job does not have is said now
        } else {
            JobSpec _ = JobSpec.parse("name=" + name); // it has to be a name that a job can have
        }
        requireReader(ranks);
        return new ReadHere(name, ranks);
    }

    private JobSpec parseJob(String line) throws InvalidSpecException {
        if (group == null) {
            JobSpec spec = JobSpec.parse(line);
            requireReader(spec.ranks());
            return spec;
        }
        String name =
                line.indexOf('=') < 0 ? JobSpec.DEFAULT_NAME : Keys.parse(line).text("name", JobSpec.DEFAULT_NAME);
        JobSpec spec = JobSpec.parse(line, ranksHere.getOrDefault(name, Ranks.NONE));
        return spec.world() == 1 && !spec.keys().containsKey("ranks") ? spec.withRanks(new Ranks(0, 0)) : spec;
    }

    private void requireReader(Ranks ranks) throws InvalidSpecException {
        if (group == null && ranks.count() == 0) {
            throw new InvalidSpecException("ranks=none is for a node of a group: here nobody would read the job");
        }
    }

    private @Nullable JobSpec running(String name) {
        return Stream.concat(prefetcher.jobs().stream().map(JobRun::spec), waiting.stream())
                .filter(spec -> spec.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** Refuses a message after which there would be too many jobs. */
    private void requireRoom(List<Change> changes) throws RejectedException {
        Set<String> names = new HashSet<>();
        prefetcher.jobs().forEach(run -> names.add(run.spec().name()));
        waiting.forEach(spec -> names.add(spec.name()));
        for (Change change : changes) {
            switch (change) {
                case Stop stop -> names.remove(stop.name);
                case Start start -> {
                    if (names.add(start.spec.name()) && names.size() > MOST_JOBS) {
                        reject(start.spec.line(), "there are " + MOST_JOBS + " jobs already; stop one first");
                    }
                }
                case ReadHere here -> {
                    if (running(here.name) == null && ranksHere.size() >= MOST_JOBS) {
                        reject("ranks=" + here.ranks.text(), "ranks of " + MOST_JOBS + " jobs wait already");
                    }
                }
            }
        }
    }

    @Override
    public void refused(String reason) {
        errors.add("job: " + reason);
    }

    /** Refuses a job that could not run over this dataset, as far as the dataset is known by now. */
    private void check(JobSpec spec) throws RejectedException {
        try {
            SampleIndex index = indexes.of(spec.subset());
            spec.sampler(index).epoch(spec.startEpoch());
        } catch (TimeoutException stillListing) {
            assert stillListing != null : "checked again when it starts";
        } catch (InvalidSpecException | DatasetException e) {
            reject(spec.line(), String.valueOf(e.getMessage()));
        }
    }

    private void apply(Change change) {
        switch (change) {
            case Stop stop -> {
                stop(stop.name);
                if (group != null) {
                    group.stopped(stop.name);
                }
            }
            case Start start -> {
                if (start.spec.ranks().count() > 0 || start.spec.keys().containsKey("ranks")) {
                    ranksHere.put(start.spec.name(), start.spec.ranks());
                }
                if (!isUntouched(start.spec)) {
                    start(start.spec);
                }
                if (group != null) {
                    group.started(start.spec);
                }
            }
            case ReadHere here -> {
                ranksHere.put(here.name, here.ranks);
                JobSpec running = running(here.name);
                if (running != null) {
                    start(withRanks(running, here.ranks));
                }
                if (group != null) {
                    group.wake();
                }
            }
        }
    }

    private void stop(String name) {
        waiting.removeIf(w -> w.name().equals(name));
        ranksHere.remove(name);
        started.remove(name);
        prefetcher.stop(name);
    }

    /** Whether this very job runs already and nobody has read anything of it: another node was quicker to start it here. */
    private boolean isUntouched(JobSpec spec) {
        return group != null
                && prefetcher
                        .job(spec.name())
                        .filter(run -> isSame(run.spec(), spec) && !run.hasBegun())
                        .isPresent();
    }

    private static boolean isSame(@Nullable JobSpec one, JobSpec other) {
        return one != null
                && one.ranks().equals(other.ranks())
                && one.lineForAll().equals(other.lineForAll());
    }

    private static JobSpec withRanks(JobSpec spec, Ranks ranks) {
        try {
            return spec.withRanks(ranks);
        } catch (InvalidSpecException e) {
            throw new AssertionError("checked before", e);
        }
    }

    private void start(JobSpec spec) {
        waiting.removeIf(w -> w.name().equals(spec.name()));
        started.put(spec.name(), spec);
        try {
            SampleIndex index = indexes.of(spec.subset());
            prefetcher.start(spec, index, indexes.watch(index));
            warnOfSmallStaging(spec);
        } catch (TimeoutException stillListing) {
            waiting.add(spec);
        } catch (DatasetException e) {
            if (indexes.isListed()) {
                errors.add("job " + spec.name() + " not started: " + e.getMessage());
            } else {
                waiting.add(spec); // the source began to fail after the line was checked
            }
        } catch (InvalidSpecException e) {
            errors.add("job " + spec.name() + " not started: " + e.getMessage());
        }
    }

    /**
     * Does what the group says: starts jobs that were written on other nodes, changes those that were changed there, stops those that
     * were stopped. Returns which ranks read here, by job, for jobs that the group has.
     */
    synchronized Map<String, Ranks> follow(Jobs.Known known) {
        if (group == null || group.hasUntold()) {
            return Map.of();
        }
        stoppedInGroup = known.stopped();
        known.stopped().stream().filter(name -> started.containsKey(name)).forEach(this::stop);
        known.running().values().forEach(job -> follow(job, group.self()));
        for (JobRun run : prefetcher.jobs()) {
            if (!known.running().containsKey(run.spec().name())) {
                group.started(run.spec()); // the group has lost it
            }
        }
        Map<String, Ranks> here = new TreeMap<>(ranksHere);
        here.keySet().retainAll(known.running().keySet());
        return here;
    }

    private void follow(Job job, String self) {
        JobSpec before = started.get(job.name());
        try {
            String said = job.ranks().get(self);
            if (said != null && !ranksHere.containsKey(job.name())) {
                ranksHere.put(job.name(), Ranks.parse(said)); // this node, before it was mounted again
            }
            JobSpec wanted = JobSpec.parse(job.lines(), ranksHere.getOrDefault(job.name(), Ranks.NONE));
            if (!isSame(before, wanted)) {
                start(wanted);
            }
        } catch (InvalidSpecException e) {
            if (!Ranks.NONE.equals(ranksHere.put(job.name(), Ranks.NONE))) {
                errors.add("job " + job.name() + ": no rank reads here: " + e.getMessage());
            }
        }
    }

    /** The loaders of a rank have a window of samples under way at once; less than that cannot be staged in time. */
    private void warnOfSmallStaging(JobSpec spec) {
        long ranks = spec.ranks().count();
        long needed = indexes.meanFileBytes() * spec.window() * ranks;
        if (needed > prefetcher.stagingCapacityBytes()) {
            errors.add("job " + spec.name() + ": the trainer's loaders have about " + StatusText.size(needed)
                    + " under way at once, more than the staging buffer holds; mount with a larger --staging");
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
