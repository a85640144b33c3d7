package io.clairfs.tools.node.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.job.Ranks;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.FileLooks;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.fs.control.ControlContent;
import io.clairfs.fs.control.ControlFile;
import io.clairfs.tools.node.job.Indexes;
import io.clairfs.tools.node.job.JobTable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The control file {@code job}: lines that start, change and stop jobs.
 *
 * <p>All lines of one write are checked before any takes effect. A write waits at most two seconds for the listing of the dataset. Its jobs
 * are then kept, and start when the dataset is listed. Where an order file, or the file of a generator's state, does not answer in time, the write
 * fails with EIO and changes nothing: the same lines can be written when the file answers.
 */
public final class JobControl implements ControlFile {
    private static final int MOST_JOBS = 64;
    private static final String STOP = "stop=";

    private final Indexes indexes;
    private final JobTable jobs;
    private final FileLooks looks;
    private final ErrorLog errors;

    public JobControl(Indexes indexes, JobTable jobs, FileLooks looks, ErrorLog errors) {
        this.indexes = indexes;
        this.jobs = jobs;
        this.looks = looks;
        this.errors = errors;
    }

    @Override
    public boolean isWritable() {
        return true;
    }

    @Override
    public ControlContent content() {
        StringBuilder text = new StringBuilder();
        List<JobSpec> present = jobs.present();
        present.forEach(spec -> text.append(line(spec)).append('\n'));
        jobs.ranksHere().forEach((name, ranks) -> {
            if (present.stream().noneMatch(spec -> spec.name().equals(name))) {
                text.append("name=" + name + " ranks=" + ranks.text()).append('\n');
            }
        });
        return ControlContent.of(text.toString().getBytes(UTF_8));
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

    /** Formats the ranks as a range, even a single rank: this format must not change. */
    private static String ranks(JobSpec spec) {
        return spec.ranks().count() == 0 ? spec.ranks().text() : spec.firstRank() + "-" + spec.lastRank();
    }

    private sealed interface Change {}

    private record Start(JobSpec spec) implements Change {}

    private record Stop(String name) implements Change {}

    private record ReadHere(String name, Ranks ranks) implements Change {}

    @Override
    public void accept(String text) throws RejectedException, UnavailableException {
        if (text.lines().map(String::strip).anyMatch(line -> !line.isEmpty() && !line.startsWith(STOP))) {
            indexes.awaitListing(); // once for all lines, and before the lock on the jobs
        }
        synchronized (jobs) {
            List<Change> changes = parseAll(text);
            requireRoom(changes);
            for (Change change : changes) {
                if (change instanceof Start start) {
                    check(start.spec);
                }
            }
            changes.forEach(this::apply);
        }
    }

    private List<Change> parseAll(String text) throws RejectedException, UnavailableException {
        List<Change> changes = new ArrayList<>();
        for (String line :
                text.lines().map(String::strip).filter(l -> !l.isEmpty()).toList()) {
            try {
                changes.add(parse(line));
            } catch (InvalidSpecException e) {
                refuse(line, e);
            }
        }
        return changes;
    }

    private void apply(Change change) {
        switch (change) {
            case Stop(String name) -> jobs.end(name);
            case Start(JobSpec spec) -> jobs.begin(spec);
            case ReadHere(String name, Ranks ranks) -> jobs.readHere(name, ranks);
        }
    }

    private Change parse(String line) throws InvalidSpecException {
        if (line.startsWith(STOP)) {
            Keys keys = Keys.parse(line);
            String name = keys.text("stop", "");
            keys.requireAllUsed();
            if (!jobs.isKnown(name)) {
                throw new InvalidSpecException("there is no job '" + name + "' to stop");
            }
            return new Stop(name);
        }
        Change ranks = parseRanks(line);
        return ranks == null ? new Start(parseJob(line)) : ranks;
    }

    /** Parses a line with ranks alone, for a present job or, in a group, for a job still to come. Returns null for any other line. */
    private @Nullable Change parseRanks(String line) throws InvalidSpecException {
        if (line.indexOf('=') < 0) {
            return null;
        }
        Keys keys = Keys.parse(line);
        String name = keys.text("name", JobSpec.DEFAULT_NAME);
        JobSpec running = jobs.present(name);
        boolean onlyRanks = keys.has("ranks")
                && Set.of("name", "ranks").containsAll(keys.asWritten().keySet());
        if (!onlyRanks) {
            return null;
        }
        if (!jobs.isInGroup() && running == null) {
            throw new InvalidSpecException(
                    "there is no job '" + name + "' whose ranks could change; write its whole line");
        }
        Ranks ranks = Ranks.parse(keys.text("ranks", ""));
        if (running != null) {
            JobSpec _ = running.withRanks(ranks); // refuses ranks beyond the job's world now
        } else {
            JobSpec _ = JobSpec.parse("name=" + name); // refuses a name that no job can have
        }
        requireReader(ranks);
        return new ReadHere(name, ranks);
    }

    private JobSpec parseJob(String line) throws InvalidSpecException {
        if (!jobs.isInGroup()) {
            JobSpec spec = JobSpec.parse(line);
            requireReader(spec.ranks());
            return spec;
        }
        String name =
                line.indexOf('=') < 0 ? JobSpec.DEFAULT_NAME : Keys.parse(line).text("name", JobSpec.DEFAULT_NAME);
        JobSpec spec = JobSpec.parse(line, jobs.ranksHere().getOrDefault(name, Ranks.NONE));
        return spec.world() == 1 && !spec.keys().containsKey("ranks") ? spec.withRanks(new Ranks(0, 0)) : spec;
    }

    private void requireReader(Ranks ranks) throws InvalidSpecException {
        if (!jobs.isInGroup() && ranks.count() == 0) {
            throw new InvalidSpecException("ranks=none is for a node of a group: here nobody would read the job");
        }
    }

    /** Refuses a message that would lead to too many jobs. */
    private void requireRoom(List<Change> changes) throws RejectedException {
        Set<String> names = new HashSet<>();
        jobs.present().forEach(spec -> names.add(spec.name()));
        Set<String> toCome = new HashSet<>(jobs.announced().keySet());
        for (Change change : changes) {
            switch (change) {
                case Stop stop -> names.remove(stop.name);
                case Start start -> {
                    if (names.add(start.spec.name()) && names.size() > MOST_JOBS) {
                        reject(start.spec.line(), "there are " + MOST_JOBS + " jobs already; stop one first");
                    }
                }
                case ReadHere here -> {
                    if (jobs.present(here.name) == null && toCome.add(here.name) && toCome.size() > MOST_JOBS) {
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

    /** Refuses a job that cannot run over this dataset, as far as is known now. */
    private void check(JobSpec spec) throws RejectedException, UnavailableException {
        try {
            SampleIndex index = indexes.of(spec.subset());
            JobRun.requireFiles(index);
            Sampler sampler = spec.sampler(index);
            if (looks.ofOrder(spec.orderFile(), index.size(), () -> readsNothing(spec, sampler))) {
                throw new InvalidSpecException("its ranks here would read no sample: "
                        + (spec.readsOrderFiles()
                                ? "no order file of its first epochs names one for them; write what they read, or give another file="
                                : "the dataset is smaller than a batch that is dropped when it is not full, or all is skipped;"
                                        + " use a smaller batch, or drop_last=false"));
            }
        } catch (TimeoutException stillListing) {
            assert stillListing != null : "checked again when it starts";
        } catch (InvalidSpecException e) {
            refuse(spec.line(), e);
        } catch (DatasetException e) {
            reject(spec.line(), String.valueOf(e.getMessage()));
        }
    }

    /** Whether all streams here end before their first sample: after their last epoch, or after as many empty ones as are passed over. */
    private static boolean readsNothing(JobSpec spec, Sampler sampler) throws InvalidSpecException {
        int first = spec.startEpoch();
        EpochOrder ofFirst = sampler.epoch(first);
        requireStartWithin(spec, ofFirst);
        if (!readsNothing(spec, ofFirst)) {
            return false;
        }
        int most = Math.min(spec.epochs() - first, AccessStream.MOST_EMPTY);
        try {
            for (int epoch = first + 1; epoch < first + most; epoch++) {
                if (!readsNothing(spec, sampler.epoch(epoch))) {
                    return false;
                }
            }
            return true;
        } catch (OrderNotReadyException notYet) {
            return false;
        }
    }

    /** A training that was saved at the end of an epoch goes on with the next one. */
    private static void requireStartWithin(JobSpec spec, EpochOrder order) throws InvalidSpecException {
        long skipped = (long) spec.startStep() * spec.batch();
        int longest = IntStream.rangeClosed(spec.firstRank(), spec.lastRank())
                .map(order::length)
                .max()
                .orElse(0);
        if (longest > 0 && skipped >= (long) longest + spec.batch()) {
            throw new InvalidSpecException("start_step=" + spec.startStep() + " of batch=" + spec.batch() + " skips "
                    + skipped + " samples, and the epoch has " + longest
                    + " for each rank: start_step counts batches, not samples");
        }
    }

    private static boolean readsNothing(JobSpec spec, EpochOrder order) {
        return spec.ranks().count() > 0
                && IntStream.rangeClosed(spec.firstRank(), spec.lastRank()).allMatch(rank -> order.length(rank) == 0);
    }

    private void refuse(String line, InvalidSpecException reason) throws RejectedException, UnavailableException {
        if (reason instanceof OrderNotReadyException late && late.isUnanswered()) {
            tell(line, String.valueOf(reason.getMessage()));
            throw new UnavailableException(Errno.EIO); // as a source that does not answer
        }
        reject(line, String.valueOf(reason.getMessage()));
    }

    private void reject(String line, String reason) throws RejectedException {
        tell(line, reason);
        throw new RejectedException(reason);
    }

    private void tell(String line, String reason) {
        errors.add("job line '" + Keys.shorten(line) + "': " + reason);
    }
}
