package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Need;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntUnaryOperator;

/**
 * The jobs of a plan while it is made: what the plan needs of each, the reads here that tiers are filled for, the jobs that it is made without,
 * and what makes it out of date.
 *
 * <p>Life cycle: of one plan. Used by the thread that plans.
 */
final class PlannedJobs {
    private final MissingOrders missing;
    private final List<JobRun> jobs = new ArrayList<>();
    private final List<Need> needs = new ArrayList<>();
    private final List<FillOrders.Reading> readings = new ArrayList<>();
    private final List<JobRun> leftOut = new ArrayList<>();
    private final List<BooleanSupplier> cuts = new ArrayList<>();

    /** None yet; {@code missing} are the orders that turned out not to be there. */
    PlannedJobs(MissingOrders missing) {
        this.missing = missing;
    }

    /** Plans for a job. */
    void add(JobRun job, Need need, FillOrders.Reading reading) {
        jobs.add(job);
        needs.add(need);
        readings.add(reading);
    }

    /** Leaves a job out whose orders from {@code epoch} on are missing, until they are there. Returns whether it does. */
    boolean leavesOut(JobRun job, int epoch) {
        boolean leaves = missing.isAllOf(job, epoch);
        if (leaves) {
            leftOut.add(job);
            cuts.add(PlannedEpochs.isThereLater(job, epoch));
        }
        return leaves;
    }

    /** The plan is to be made again when this is true. */
    void holdsUntil(BooleanSupplier cut) {
        cuts.add(cut);
    }

    /** Refuses a plan that would leave out all jobs. */
    void requireAny() throws InvalidSpecException {
        if (needs.isEmpty() && !leftOut.isEmpty()) {
            throw missing.why(leftOut.getFirst());
        }
    }

    boolean isEmpty() {
        return needs.isEmpty();
    }

    /** The jobs that are planned for. */
    List<JobRun> jobs() {
        return jobs;
    }

    /** What the plan needs of each of them. */
    List<Need> needs() {
        return needs;
    }

    /** What is read here of each of them. */
    List<FillOrders.Reading> readings() {
        return List.copyOf(readings);
    }

    /** The jobs that the plan is made without: a line for each, with the reason. */
    List<String> leftOut() {
        return missing.lines(leftOut);
    }

    /** Whether the plan is to be made again; keeps nothing else of these jobs. */
    BooleanSupplier isOver() {
        List<BooleanSupplier> all = List.copyOf(cuts);
        return () -> all.stream().anyMatch(BooleanSupplier::getAsBoolean);
    }

    /**
     * What a plan needs of a job.
     *
     * @param orders those of a sampler of its own: planning looks at many epochs, and the job's few are in use
     * @param numberOf the plan's number of a file, negative for none
     * @param same as {@link Need#sameInEveryEpoch}
     */
    static Need need(
            JobRun job,
            EpochSource orders,
            int firstEpoch,
            int endEpoch,
            Group now,
            IntUnaryOperator numberOf,
            boolean same) {
        IntUnaryOperator sampleOf = sample -> {
            int file = job.index().file(sample);
            return file == SampleIndex.NO_FILE ? -1 : numberOf.applyAsInt(file);
        };
        return new Need(orders, sampleOf, firstEpoch, endEpoch, now.ranks().of(job.spec()), same);
    }
}
