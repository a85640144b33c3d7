package io.clairfs.tools.report;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.simulate.PolicyResult;
import io.clairfs.tools.simulate.Simulation;
import io.clairfs.tools.simulate.Simulator;
import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.scenario.InvalidScenarioException;
import io.clairfs.tools.simulate.scenario.Rate;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the simulator says of a job on this machine, and on one with more storage or loaders (NoPFS section 6.2), by the daemon's own planner.
 *
 * <p>It runs on a part of a large dataset with a part of the room, which leaves the shares unchanged and the time nearly so.
 *
 * @param epochSeconds of an epoch in which data is always ready: the lower bound
 * @param rows what is there now, then one change each
 * @param assumed what was neither measured nor told
 * @param divisor the number by which the samples were divided and times were multiplied
 */
record Outlook(double epochSeconds, List<Row> rows, List<String> assumed, int divisor) {
    /** The approximate number of reads of one run. */
    private static final double READS = 200_000;

    private static final int FEWEST_BATCHES = 20;

    /** A change that makes later epochs faster by less than this share is no change. */
    private static final double NOTICED = 0.02;

    /**
     * A machine, and an epoch there.
     *
     * @param what was changed
     * @param firstSeconds of the first epoch
     * @param laterSeconds of the last one; the first, if there is one only
     */
    record Row(String what, double firstSeconds, double laterSeconds) {}

    private record Change(String what, Scenario scenario) {}

    /** Simulates the job, and each change. */
    static Outlook of(JobScenario job, ModelFile measured, Simulator.Listener listener)
            throws InvalidScenarioException {
        Scenario now = job.scenario();
        double reads = (double) now.dataset().samples() * now.epochs();
        int most = Math.max(1, now.dataset().samples() / (now.batch() * now.nodes() * FEWEST_BATCHES));
        int divisor = Math.clamp(Math.round(reads / READS), 1, most);
        List<Change> changes = changes(now, job.keptMega(), measured);
        listener.begin("simulating " + now.name(), changes.size());
        try {
            Workload load = new Workload(now.shrunk(divisor));
            double scale = (double) now.dataset().samples() / load.sizes().length;
            double bound = scale * Simulation.lowerBound(now.shrunk(divisor), load, _ -> {}) / now.epochs();
            List<Row> rows = new ArrayList<>();
            for (Change change : changes) {
                PolicyResult result = Simulation.run(change.scenario.shrunk(divisor), load, Policies.CLAIRFS, _ -> {})
                        .result();
                if (result.unsupported() != null) {
                    throw new InvalidScenarioException(now.name() + ": " + result.unsupported());
                }
                rows.add(new Row(
                        change.what,
                        scale * result.epochs().getFirst(),
                        scale * result.epochs().getLast()));
                listener.at(rows.size());
            }
            return new Outlook(bound, List.copyOf(rows), job.assumed(), divisor);
        } catch (InvalidSpecException e) {
            throw new InvalidScenarioException(now.name() + ": " + e.getMessage());
        } finally {
            listener.end();
        }
    }

    private static List<Change> changes(Scenario now, double kept, ModelFile measured) {
        double memory = now.classes().get(0).capacity() - kept;
        double ssd = now.classes().get(1).capacity();
        double dataset = now.dataset().samples() * now.dataset().mean();
        double share = dataset / now.nodes();
        List<Change> all = new ArrayList<>();
        all.add(new Change("as it is", now));
        if (memory > 0) {
            all.add(new Change("memory x 2", now.withCapacities(2 * memory + kept, ssd)));
            all.add(new Change("memory x 4", now.withCapacities(4 * memory + kept, ssd)));
        } else {
            all.add(new Change("memory for a quarter of the dataset", now.withCapacities(share / 4 + kept, ssd)));
            all.add(new Change("memory for half of the dataset", now.withCapacities(share / 2 + kept, ssd)));
        }
        all.add(
                ssd > 0
                        ? new Change("SSD x 2", now.withCapacities(memory + kept, 2 * ssd))
                        : new Change("an SSD for the dataset", now.withCapacities(memory + kept, share)));
        int loaders = 2 * now.staging().threads();
        if (loaders <= Scenario.MOST_THREADS) {
            double source = measured.model().source().at(loaders) / 1e6;
            all.add(new Change("loaders x 2 (" + loaders + ")", withLoaders(now, loaders, source)));
        }
        return all;
    }

    private static Scenario withLoaders(Scenario now, int loaders, double source) {
        return new Scenario(
                now.name(),
                now.nodes(),
                now.compute(),
                now.preprocess(),
                now.network(),
                new Scenario.Staging(now.staging().capacity(), loaders, null, null),
                now.classes(),
                null,
                Rate.of(source),
                now.dataset(),
                now.epochs(),
                now.batch(),
                now.dropLast(),
                now.seed(),
                now.sync(),
                now.sampler());
    }

    Row now() {
        return rows.getFirst();
    }

    /** The first change that makes later epochs about as fast as any does; null if none makes them faster. */
    @Nullable
    Row best() {
        double least = rows.stream().mapToDouble(Row::laterSeconds).min().orElseThrow();
        Row first = rows.stream()
                .filter(row -> row.laterSeconds <= least * (1 + NOTICED))
                .findFirst()
                .orElseThrow();
        return Objects.equals(first, now()) ? null : first;
    }

    /** Accelerator utilisation in an epoch of so many seconds. */
    double utilisation(double seconds) {
        return seconds > 0 ? Math.min(1, epochSeconds / seconds) : 1;
    }
}
