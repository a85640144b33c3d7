package io.clairfs.tools.simulate;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.tools.simulate.policy.Costs;
import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.policy.Policy;
import io.clairfs.tools.simulate.policy.Setup;
import io.clairfs.tools.simulate.policy.SimulatedTraffic;
import io.clairfs.tools.simulate.policy.UnsupportedScenarioException;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.Workload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One run of a scenario under one policy, iteration by iteration (NoPFS section 4).
 *
 * <p>On each node p_0 threads fetch batches into the staging buffer, in the order of access: batch h is ready at P_h = start + sum(fetch +
 * write) / p_0, where it starts when batch h - 1 is ready and there is room: K batches fill the buffer, so batch h - K must be consumed.
 * Iteration h starts when the one before has ended and its batch is ready: t_h = max(P_h, t_(h-1) + s_(h-1) / c), the paper's recurrence with
 * batches for samples; in bulk-synchronous runs the nodes end it together. If a policy waits for the source, the trainer fetches, preprocesses
 * and computes on one such sample after the other, at t(g) / g with the g nodes that read when it starts.
 */
public final class Simulation {
    /** An iteration is imbalanced if a node's batch is later than another's by more than this share of the iteration's computation. */
    private static final double IMBALANCE = 0.1;

    private final Scenario scenario;
    private final Workload load;
    private final @Nullable Policy policy;
    private final Costs costs;
    private final SimulatedTraffic traffic;
    private final LongConsumer iterationsDone;
    private final int nodes;
    private final double write;
    private final double compute;
    private final int threads;
    /** The times at which the nodes begin to stage the batches of this iteration. */
    private final double[] start;
    /** The times at which the nodes' staged batches are ready. */
    private final double[] ready;
    /** The times at which the nodes' last iterations ended. */
    private final double[] now;
    /** The times at which they would have ended if data had always been ready. */
    private final double[] bound;
    /** The end times of the last few iterations, by node. */
    private final double[][] ended;

    private final long[] batchBytes;
    private final long[][] bytesAt;
    private final int[][] countAt;
    private final double[] threadSecondsAt;
    private final SourceQueue queue;
    private long iterations;
    private double stall;
    private long imbalanced;

    private Simulation(Setup setup, @Nullable Policy policy, LongConsumer iterationsDone) {
        scenario = setup.scenario();
        load = setup.load();
        costs = setup.costs();
        traffic = setup.traffic();
        this.policy = policy;
        this.iterationsDone = iterationsDone;
        nodes = scenario.nodes();
        write = costs.write();
        compute = costs.compute();
        threads = scenario.staging().threads();
        start = new double[nodes];
        ready = new double[nodes];
        now = new double[nodes];
        bound = new double[nodes];
        double batches = scenario.staging().capacity() * 1e6 / Math.max(1, load.meanBatchBytes());
        ended = new double[nodes][(int) Math.clamp(batches, 2, Math.max(2, load.iterations()))];
        batchBytes = new long[nodes];
        bytesAt = new long[nodes][costs.places()];
        countAt = new int[nodes][costs.places()];
        threadSecondsAt = new double[costs.places()];
        queue = new SourceQueue(scenario, costs);
    }

    /** Returns the seconds of a run in which data is always ready. */
    public static double lowerBound(Scenario scenario, Workload load, LongConsumer iterationsDone)
            throws InvalidSpecException {
        Setup setup = Setup.of(scenario, load);
        Simulation simulation = new Simulation(setup, null, iterationsDone);
        for (int epoch = 0; epoch < scenario.epochs(); epoch++) {
            simulation.epoch(setup.orders().epoch(epoch));
        }
        return latest(simulation.bound);
    }

    /**
     * The outcome of a run.
     *
     * @param lowerBoundSeconds seconds of the same reads with data always ready; NaN if the policy changes the order
     */
    public record Outcome(PolicyResult result, double lowerBoundSeconds) {}

    /** Runs the scenario under the policy of this name. */
    public static Outcome run(Scenario scenario, Workload load, String name, LongConsumer iterationsDone)
            throws InvalidSpecException {
        Setup setup = Setup.of(scenario, load);
        Policy policy;
        try {
            policy = Policies.create(name, setup);
        } catch (UnsupportedScenarioException e) {
            return new Outcome(PolicyResult.unsupported(name, String.valueOf(e.getMessage())), Double.NaN);
        }
        Simulation simulation = new Simulation(setup, policy, iterationsDone);
        PolicyResult result = simulation.result(name, policy);
        return new Outcome(result, result.orderChanged() ? Double.NaN : latest(simulation.bound));
    }

    private PolicyResult result(String name, Policy theirs) throws InvalidSpecException {
        double prepare = theirs.prepare();
        Arrays.fill(now, prepare);
        Arrays.fill(ready, prepare);
        for (double[] each : ended) {
            Arrays.fill(each, prepare);
        }
        List<Double> epochs = new ArrayList<>();
        double before = prepare;
        for (int epoch = 0; epoch < scenario.epochs(); epoch++) {
            epoch(theirs.order(epoch));
            epochs.add(latest(now) - before);
            before = latest(now);
        }
        double perNode = 1.0 / threads / nodes;
        return new PolicyResult(
                name,
                latest(now),
                epochs,
                prepare,
                PolicyResult.fetched(traffic),
                new PolicyResult.FetchSeconds(
                        traffic.seconds(SimulatedTraffic.MEMORY) * perNode,
                        traffic.seconds(SimulatedTraffic.SSD) * perNode,
                        traffic.seconds(SimulatedTraffic.PEER) * perNode,
                        traffic.seconds(SimulatedTraffic.SOURCE) * perNode),
                stall,
                imbalanced,
                theirs.changesOrder(),
                theirs.readsFullDataset(),
                null);
    }

    private static double latest(double[] times) {
        return Arrays.stream(times).max().orElseThrow();
    }

    private void epoch(EpochOrder order) {
        for (int first = 0; first < load.reads(); first += scenario.batch()) {
            int end = Math.min(first + scenario.batch(), load.reads());
            double staged = 0;
            begin();
            for (int node = 0; node < nodes; node++) {
                double from = ready[node];
                if (policy == null) {
                    sum(order, node, first, end);
                    ready[node] = now[node];
                } else {
                    stage(policy, order, node, first, end);
                }
                staged += ready[node] - from;
            }
            compute();
            if (policy != null) {
                observe(policy, staged);
            }
            iterationsDone.accept(++iterations);
        }
    }

    private void sum(EpochOrder order, int node, int first, int end) {
        int[] sizes = load.sizes();
        long sum = 0;
        for (int step = first; step < end; step++) {
            sum += sizes[order.sample(node, step)];
        }
        batchBytes[node] = sum;
    }

    /** Advances the fillers of all nodes to the iteration, before any node looks for its samples on another node. */
    private void begin() {
        int slot = (int) (iterations % ended[0].length);
        int half = (slot + ended[0].length / 2 - 1) % ended[0].length;
        for (int node = 0; node < nodes; node++) {
            start[node] = Math.max(ready[node], ended[node][slot]);
            if (policy != null) {
                policy.advance(node, start[node], ready[node] > ended[node][half]);
            }
        }
    }

    private void stage(Policy theirs, EpochOrder order, int node, int first, int end) {
        int[] sizes = load.sizes();
        boolean waits = theirs.waitsForSource();
        long[] bytes = bytesAt[node];
        int[] count = countAt[node];
        Arrays.fill(bytes, 0);
        Arrays.fill(count, 0);
        queue.clear(node);
        long sum = 0;
        for (int step = first; step < end; step++) {
            int sample = order.sample(node, step);
            int size = sizes[sample];
            int place = theirs.place(node, sample);
            bytes[place] += size;
            count[place]++;
            sum += size;
            if (waits && place == costs.source()) {
                queue.add(node, size);
            }
        }
        batchBytes[node] = sum;
        double seconds = 0;
        for (int place = 0; place < bytes.length; place++) {
            double fetch = bytes[place] * costs.fetch(place);
            if (!waits || place != costs.source()) {
                threadSecondsAt[place] += fetch;
                traffic.add(place, count[place], bytes[place], fetch);
                seconds += fetch + bytes[place] * write;
            }
        }
        ready[node] = start[node] + seconds / threads;
    }

    /** Runs the iteration itself. */
    private void compute() {
        boolean bulk = scenario.sync() == Scenario.Sync.BULK;
        int slot = (int) (iterations % ended[0].length);
        double earliest = Double.POSITIVE_INFINITY;
        double latest = 0;
        double end = 0;
        double longest = 0;
        double last = 0;
        double stalledBefore = stall;
        queue.run(now, ready, batchBytes, traffic);
        for (int node = 0; node < nodes; node++) {
            double computing = batchBytes[node] * compute;
            double begin = Math.max(now[node], ready[node]) + queue.seconds(node);
            earliest = Math.min(earliest, begin);
            latest = Math.max(latest, begin);
            longest = Math.max(longest, computing);
            last = Math.max(last, now[node]);
            if (!bulk) {
                stall += (begin - now[node]) / nodes;
                now[node] = begin + computing;
                bound[node] += computing;
            }
            end = Math.max(end, begin + computing);
        }
        if (bulk) {
            stall += Math.max(0, end - last - longest);
            Arrays.fill(now, end);
            Arrays.fill(bound, bound[0] + longest);
        }
        for (int node = 0; node < nodes; node++) {
            ended[node][slot] = now[node];
        }
        if (bulk && stall > stalledBefore && latest - earliest > IMBALANCE * longest) {
            imbalanced++;
        }
    }

    private void observe(Policy theirs, double staged) {
        double perNode = staged / nodes;
        costs.observe(threadSecondsAt, perNode, theirs.takeAtSource());
        Arrays.fill(threadSecondsAt, 0);
    }
}
