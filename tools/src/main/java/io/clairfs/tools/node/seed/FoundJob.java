package io.clairfs.tools.node.seed;

import io.clairfs.cache.follow.JobProgress;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.seed.FoundOrder;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.tools.node.job.JobTable;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The job that no user wrote: begins it, and judges by its trainer whether it stays. A trainer that reads the first epoch again gets a job that
 * repeats it. For one thread; what it shows is for all.
 */
final class FoundJob {
    /** The name of the job. */
    private static final String NAME = "found";

    /** A trainer that was searched for in vain may be found by its next reads. */
    private static final long LOST_NS = TimeUnit.SECONDS.toNanos(2);

    private static final String SAMPLER = "sampler=";
    private static final String ORDER_FILE = SAMPLER + "order-file";
    private static final Set<String> NOT_OF_THE_LINE = Set.of("sampler", "subset", "name", "start_epoch");

    private final JobTable jobs;
    private final OrderFolder folder;
    private final ErrorLog errors;
    private final LongSupplier clockNs;
    private volatile @Nullable FoundOrder order;

    /** Without the names of the job and of its epochs. */
    private volatile String line = "";

    /** That of the first job, where one that repeats its epoch has replaced it. */
    private String origin = "";

    /** When the trainer was first seen to be lost; 0 while it is not. */
    private long lostSinceNs;

    /** {@code clockNs} is as {@link System#nanoTime}. */
    FoundJob(JobTable jobs, OrderFolder folder, ErrorLog errors, LongSupplier clockNs) {
        this.jobs = jobs;
        this.folder = folder;
        this.errors = errors;
        this.clockNs = clockNs;
    }

    /** What became of the job. */
    enum Fate {
        /** There is none, or it was stopped. */
        NONE,
        FOLLOWED,
        /** Reads contradict it: it is to be dropped. */
        CONTRADICTED
    }

    /** What {@code status} says of the order; null when none is followed. */
    @Nullable
    String text() {
        FoundOrder fits = order;
        JobRun run = fits == null ? null : jobs.found();
        return fits == null || run == null
                ? null
                : new FoundOrder(fits.line(), run.epoch(), fits.explained(), fits.reads(), fits.chance()).text();
    }

    /** The keys of the last job; those of a user's next one, but for an order file, which is gone by then. */
    String line() {
        return line;
    }

    /** The keys of the order that was found, before it was seen to repeat. For the thread. */
    String origin() {
        return origin;
    }

    /** Whether a user can write the line next time. */
    boolean canBeWritten() {
        return !line.startsWith(ORDER_FILE);
    }

    /** Whether one was begun, and was not dropped since. */
    boolean hasBegun() {
        return order != null;
    }

    /** Takes over the job that a daemon before this one found, and this one goes on with. */
    void takeOver() {
        JobRun run = jobs.found();
        if (order != null || run == null) {
            return;
        }
        JobSpec spec = run.spec();
        String keys = keys(spec);
        line = withSubset(keys, spec.subset());
        origin = line;
        lostSinceNs = 0;
        order = new FoundOrder(keys, spec.startEpoch(), 0, 0, 0);
    }

    /** The keys of a found order's line, from its job: without the root, the name and the epochs. */
    private static String keys(JobSpec spec) {
        Map<String, String> others = new TreeMap<>(spec.keys());
        others.keySet().removeAll(NOT_OF_THE_LINE);
        return others.entrySet().stream()
                .map(key -> " " + key.getKey() + "=" + key.getValue())
                .collect(Collectors.joining("", SAMPLER + spec.sampler(), ""));
    }

    private static String withSubset(String keys, String subset) {
        return subset.isEmpty() ? keys : keys + " subset=" + subset;
    }

    /** A user's job goes first. One that has taken over the files of this one keeps them. */
    void forget() {
        order = null;
        boolean isRead = jobs.present().stream()
                .anyMatch(spec -> spec.keys().getOrDefault("file", "").startsWith(folder.path() + "/"));
        if (!isRead) {
            clear();
        }
    }

    /**
     * Begins the job of an order, at an epoch of which these files have been read. Returns whether it runs.
     *
     * @param subset the root of the dataset, as the job key
     */
    boolean begin(FoundOrder found, String subset, int epoch, int[] read) {
        String keys = withSubset(found.line(), subset);
        order = null;
        lostSinceNs = 0;
        jobs.dropFound();
        try {
            boolean begun = jobs.beginFound(spec(keys, epoch), read);
            line = keys;
            origin = keys;
            order = begun ? found : null;
            return begun;
        } catch (InvalidSpecException e) {
            errors.add("the order that was found, '" + keys + "', is no job: " + e.getMessage());
            return false;
        }
    }

    /** The same for an order that every epoch repeats, of ranks from {@code first} on. */
    boolean beginRepeated(
            EpochOrder repeated, int first, int ranks, FoundOrder from, String subset, int epoch, int[] read) {
        try {
            String keys = ORDER_FILE + " file=" + folder.write(repeated, first, ranks)
                    + (ranks > 1 ? " world=" + ranks + " ranks=0-" + (ranks - 1) : "");
            FoundOrder found = new FoundOrder(keys, epoch, from.explained(), from.reads(), from.chance());
            return begin(found, subset, epoch, read);
        } catch (IOException e) {
            errors.add("an order that repeats every epoch was found, and cannot be kept: " + e.getMessage());
            return false;
        }
    }

    /** The job as a user would have written it. */
    private JobSpec spec(String keys, int epoch) throws InvalidSpecException {
        String name = NAME;
        for (int i = 2; jobs.present(name) != null; i++) { // a user has one of this name
            name = NAME + "-" + i;
        }
        return JobSpec.parse("name=" + name + " " + keys + (epoch > 0 ? " start_epoch=" + epoch : ""));
    }

    /** Ends the job. */
    void drop() {
        jobs.dropFound();
        forget();
    }

    /**
     * Looks at the job's trainer, and changes the job if that demands it. Reads contradict the job when its trainer was searched for in vain, and a
     * while later by the latest reads in vain, too. Time alone does not: a thread may stand still before it searches.
     */
    Fate look() {
        JobRun run = jobs.found();
        FoundOrder now = order;
        if (run == null || now == null) {
            forget();
            return Fate.NONE;
        }
        boolean isInVain = isLongLost(run) && isSearchedForInVain(run);
        if (run.isInSync()) {
            return Fate.FOLLOWED;
        }
        String before = origin;
        if (repeatsFirstEpoch(run) && repeat(run, now)) {
            origin = before;
            return Fate.FOLLOWED;
        }
        return isInVain && run.isLost() ? Fate.CONTRADICTED : Fate.FOLLOWED;
    }

    /** Searches once more. Another search that is under way before or after is to end first: the one may go by older reads, the other by later ones. */
    private boolean isSearchedForInVain(JobRun run) {
        boolean wasSearchedFor = run.isSearchedFor();
        boolean follows = jobs.searchNow(run);
        return !follows && !wasSearchedFor && !run.isSearchedFor();
    }

    private boolean isLongLost(JobRun run) {
        if (!run.isLost()) {
            lostSinceNs = 0;
            return false;
        }
        long nowNs = clockNs.getAsLong();
        if (lostSinceNs == 0) {
            lostSinceNs = nowNs;
        }
        return nowNs - lostSinceNs > LOST_NS;
    }

    private static boolean repeatsFirstEpoch(JobRun run) {
        try {
            JobProgress.Astray astray = run.progress().astray();
            return astray != null
                    && astray.epoch() == run.spec().startEpoch()
                    && astray.expected() == astray.epoch() + 1;
        } catch (InvalidSpecException e) {
            throw new AssertionError("the epoch under way has been computed before", e);
        }
    }

    /** Replaces the job by one whose second epoch has the order of the first. The trainer is found in it by itself. */
    private boolean repeat(JobRun run, FoundOrder now) {
        JobSpec spec = run.spec();
        int next = spec.startEpoch() + 1;
        Optional<String> repeated = FoundOrder.repeated(now.line());
        if (repeated.isPresent()) {
            FoundOrder found = new FoundOrder(repeated.get(), next, now.explained(), now.reads(), now.chance());
            return begin(found, spec.subset(), next, new int[0]);
        }
        if (now.line().startsWith(ORDER_FILE)) {
            return false;
        }
        try {
            return beginRepeated(
                    run.orders().epoch(spec.startEpoch()),
                    spec.firstRank(),
                    spec.ranks().count(),
                    now,
                    spec.subset(),
                    next,
                    new int[0]);
        } catch (InvalidSpecException e) {
            throw new AssertionError("the first epoch has been computed before", e);
        }
    }

    /** Removes the files of a job that does not run any more. */
    void clear() {
        try {
            folder.clear();
        } catch (IOException e) {
            errors.add("cannot remove the order of a training that was followed: " + e.getMessage());
        }
    }
}
