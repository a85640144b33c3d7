package io.clairfs.tools.simulate;

import io.clairfs.tools.simulate.policy.Costs;
import io.clairfs.tools.simulate.policy.SimulatedTraffic;
import io.clairfs.tools.simulate.scenario.Scenario;
import java.util.Arrays;

/**
 * The samples that trainers fetch themselves, one after the other, in one iteration. Each node fetches, preprocesses and computes in turn; a
 * fetch runs at t(g) / g with the g nodes that are at the source when it starts.
 */
final class SourceQueue {
    /** The weight of one iteration in the mean. */
    private static final double WEIGHT = 1.0 / 16;

    private final Costs costs;
    private final int[][] sizes;
    private final int[] length;
    private final int[] next;
    private final double[] at;
    private final double[] atSourceUntil;
    private final double[] seconds;
    private final double[] perByte;
    private final boolean bulk;
    private double atSource = 1;

    SourceQueue(Scenario scenario, Costs costs) {
        this.costs = costs;
        bulk = scenario.sync() == Scenario.Sync.BULK;
        int nodes = scenario.nodes();
        sizes = new int[nodes][0];
        length = new int[nodes];
        next = new int[nodes];
        at = new double[nodes];
        atSourceUntil = new double[nodes];
        seconds = new double[nodes];
        perByte = new double[nodes + 1];
        for (int readers = 1; readers <= nodes; readers++) {
            perByte[readers] = costs.fromSource(readers);
        }
    }

    void clear(int node) {
        length[node] = 0;
    }

    void add(int node, int size) {
        if (length[node] == sizes[node].length) {
            sizes[node] = Arrays.copyOf(sizes[node], Math.max(16, 2 * length[node]));
        }
        sizes[node][length[node]++] = size;
    }

    /** Fetches the queued samples. A node begins when it is free and its other samples are ready. */
    void run(double[] now, double[] ready, long[] batchBytes, SimulatedTraffic traffic) {
        int left = 0;
        for (int node = 0; node < at.length; node++) {
            next[node] = 0;
            seconds[node] = 0;
            at[node] = Math.max(now[node], ready[node]);
            atSourceUntil[node] = 0;
            left += length[node];
        }
        if (bulk) {
            for (; left > 0; left--) {
                fetchOne(traffic);
            }
        } else {
            fetchAll(now, batchBytes, traffic);
        }
    }

    /**
     * Nodes that do not wait for each other are at different times in the same iteration, so those that read at once are not known. A node meets
     * each other one at the source with the probability that the other is there, taken from the last iterations.
     */
    private void fetchAll(double[] now, long[] batchBytes, SimulatedTraffic traffic) {
        double each = costs.fromSource(1 + (at.length - 1) * atSource);
        double fetching = 0;
        double elapsed = 0;
        for (int node = 0; node < at.length; node++) {
            for (; next[node] < length[node]; next[node]++) {
                long size = sizes[node][next[node]];
                double fetch = size * each;
                seconds[node] += fetch + size * costs.write();
                fetching += fetch;
                traffic.add(costs.source(), 1, size, fetch * costs.stagingThreads()); // the others wait for it
            }
            elapsed += at[node] - now[node] + seconds[node] + batchBytes[node] * costs.compute();
        }
        atSource += elapsed > 0 ? WEIGHT * (fetching / elapsed - atSource) : 0;
    }

    private void fetchOne(SimulatedTraffic traffic) {
        int first = -1;
        for (int node = 0; node < at.length; node++) {
            if (next[node] < length[node] && (first < 0 || at[node] < at[first])) {
                first = node;
            }
        }
        int readers = 1;
        for (int node = 0; node < at.length; node++) {
            readers += node != first && atSourceUntil[node] > at[first] ? 1 : 0;
        }
        long size = sizes[first][next[first]++];
        double fetch = size * perByte[readers];
        atSourceUntil[first] = at[first] + fetch;
        at[first] += fetch + size * (costs.write() + costs.compute());
        seconds[first] += fetch + size * costs.write();
        traffic.add(costs.source(), 1, size, fetch * costs.stagingThreads()); // the others wait for it
    }

    /** Seconds that the node took to fetch and preprocess, without its computation. */
    double seconds(int node) {
        return length[node] == 0 ? 0 : seconds[node];
    }
}
