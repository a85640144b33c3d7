package io.clairfs.cache.plan.loaders;

import io.clairfs.cache.plan.model.Contention;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.Place;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * When the loading of each rank's batch ends, by how many threads each rank has: T_dif of Lobster's section 4.2, seconds.
 *
 * <p>Threads of all ranks share a place ({@link Readers}), and a rank that is done leaves it to the others. So {@link #lateness(int[])} goes from
 * the end of one rank to the next. {@link #estimate} is far cheaper: one rank's number changes, and the others read as they did.
 */
final class Prediction {
    private final double[] until;
    private final boolean[] pending;
    private final Readers all;
    private final Readers rest;
    private final double[] left;
    /** By rank and number of threads: {@link #estimate}; 0 where not known. */
    private final double[][] estimated;

    private int evaluations;
    private int settled;

    /** @param most threads of one rank */
    Prediction(List<RankLoad> ranks, FetchCosts costs, Map<Place, Contention> contention, int most) {
        until = ranks.stream().mapToDouble(RankLoad::secondsUntilNeeded).toArray();
        pending = new boolean[until.length];
        for (int rank = 0; rank < until.length; rank++) {
            pending[rank] = ranks.get(rank).requests() > 0;
        }
        all = new Readers(ranks, costs, contention, most);
        rest = new Readers(all);
        left = new double[until.length];
        estimated = new double[until.length][most + 1];
    }

    /** How often {@link #lateness(int[])} was computed, the dear one. */
    int evaluations() {
        return evaluations;
    }

    /** How often all ranks were {@link #settle settled} beside that. */
    int settled() {
        return settled;
    }

    /** T_dif of all ranks: how much later than needed each one's loading ends, seconds; minus infinity for one without threads or work. */
    double[] lateness(int[] threads) {
        double[] late = new double[until.length];
        lateness(threads, late);
        return late;
    }

    /** The same, into {@code late}. */
    void lateness(int[] threads, double[] late) {
        evaluations++;
        int reading = readOn(threads);
        rest.copy(all);
        Arrays.fill(late, Double.NEGATIVE_INFINITY);
        double now = 0;
        while (reading > 0) {
            double next = Double.POSITIVE_INFINITY;
            for (int rank = 0; rank < left.length; rank++) {
                next = left[rank] > 0 ? Math.min(next, left[rank] * rest.seconds(rank)) : next;
            }
            now += next;
            boolean faster = false;
            for (int rank = 0; rank < left.length; rank++) {
                if (left[rank] > 0) {
                    double seconds = rest.seconds(rank);
                    left[rank] = left[rank] * seconds <= next ? 0 : Math.max(0, left[rank] - next / seconds);
                    if (left[rank] == 0) {
                        late[rank] = now - until[rank];
                        reading--;
                        faster |= rest.shares(rank);
                    }
                }
            }
            if (faster && reading > 0) {
                rest.settle(threads, left);
            }
        }
    }

    private int readOn(int[] threads) {
        int reading = 0;
        for (int rank = 0; rank < left.length; rank++) {
            left[rank] = threads[rank] > 0 && pending[rank] ? 1 : 0;
            reading += left[rank] > 0 ? 1 : 0;
        }
        all.settle(threads, left);
        for (double[] each : estimated) {
            Arrays.fill(each, 0);
        }
        return reading;
    }

    /** Lets all ranks read with so many threads, for {@link #together(int)} and {@link #estimate}. */
    void settle(int[] threads) {
        settled++;
        readOn(threads);
    }

    /** Seconds that the rank's batch would take if all ranks read on until then, with the threads of the last evaluation. */
    double together(int rank) {
        return all.seconds(rank);
    }

    /** {@link #together(int)} of a rank with another number of threads, while the others read as they did in the last evaluation. */
    double estimate(int rank, int number) {
        if (estimated[rank][number] == 0) {
            estimated[rank][number] = all.seconds(rank, number);
        }
        return estimated[rank][number];
    }

    /** T_dif by {@link #estimate}. */
    double estimatedLateness(int rank, int number) {
        return estimate(rank, number) - until[rank];
    }
}
