package io.clairfs.cache.plan.loaders;

import io.clairfs.cache.plan.model.Contention;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.Place;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * How many loader threads each local rank gets for its coming batch: Lobster's Algorithm 1 with sections 4.2 to 4.4.
 *
 * <p>First in proportion to pending requests. A rank whose loading then ends early or late by the threshold or more (T_dif) gets, by binary
 * search, the number with which it ends about in time. These numbers seldom add up to the total, so they are then balanced. Threads go one
 * by one to the rank that is latest, or away from the one that suffers least, until the latest rank is as early as it can be. So far a rank's
 * time is an {@link Prediction#estimate estimate}. Last, the {@link Refinement} checks a bounded number of further moves by the whole
 * {@link Prediction}.
 *
 * <p>Where the paper's listing cannot be followed, and what this class does instead:
 * <ul>
 *   <li>Lines 12 to 15 raise the lower bound when T_dif is negative, so T_dif would be time until needed less loading time; the
 *       text has it the other way round, and so does this class: positive is late.
 *   <li>Lines 16 and 17 stand in the else branch, so that the search would not move after line 13; here they follow both.
 *   <li>Line 18 keeps the larger difference, and compares signed values; here the one nearest to 0 is kept.
 *   <li>Lines 21 to 23 stand in the loop, though they reset it; here every rank starts with fresh bounds.
 *   <li>The bound of line 10 needs an "IsConsistent" that is not defined. The array W ends the search when it holds as many
 *       differences as there are threads; as bounds close in by halves, they meet before that, so no array is kept.
 *   <li>A lower bound of 0 would starve a rank; here a rank with anything pending has at least one thread, if there are enough.
 *   <li>Equation 3 wants the least gap, which making all ranks equally late would reach; since ranks wait for the latest at
 *       each step, here the latest comes first and the gap second.
 *   <li>Line 24 returns numbers that need not add up to the total; hence the balancing, which the text asks for.
 * </ul>
 */
public final class ThreadAssignment {
    private final Prediction prediction;
    private final int[] threads;
    private final int total;

    private ThreadAssignment(List<RankLoad> ranks, Prediction prediction, int total) {
        this.prediction = prediction;
        threads = proportional(ranks, total);
        this.total = total;
    }

    /**
     * Threads by rank, which add up to {@code total} unless nothing at all is pending. With fewer threads than ranks, those
     * that would be latest get one each.
     *
     * @param costs of one fetch by one thread, from a place whose rate each thread has for itself
     * @param contention the places whose rate depends on how many read there
     * @param thresholdSeconds tau: a difference below it is as good as none
     */
    public static int[] assign(
            List<RankLoad> ranks,
            FetchCosts costs,
            Map<Place, Contention> contention,
            int total,
            double thresholdSeconds) {
        if (total < 0 || !(thresholdSeconds > 0)) {
            throw new IllegalArgumentException(total + " threads, threshold " + thresholdSeconds + " s");
        }
        return assign(ranks, new Prediction(ranks, costs, contention, total + 1), total, thresholdSeconds);
    }

    static int[] assign(List<RankLoad> ranks, Prediction prediction, int total, double thresholdSeconds) {
        int busy = (int) ranks.stream().filter(rank -> rank.requests() > 0).count();
        ThreadAssignment assignment = new ThreadAssignment(ranks, prediction, total);
        if (busy == 0) {
            return new int[ranks.size()];
        }
        if (busy > total) {
            return assignment.latestFirst(ranks);
        }
        prediction.settle(assignment.threads);
        int most = total - busy + 1;
        for (int rank = 0; rank < ranks.size(); rank++) {
            int number = assignment.threads[rank];
            if (number > 0 && Math.abs(prediction.estimatedLateness(rank, number)) >= thresholdSeconds) {
                assignment.threads[rank] = assignment.search(rank, most, thresholdSeconds);
            }
        }
        assignment.fitTotal();
        assignment.relieveLatest();
        new Refinement(prediction, assignment.threads).run();
        return assignment.threads;
    }

    /** Shares, rounded, so that they add up only roughly; at least one for a rank with anything pending. */
    private static int[] proportional(List<RankLoad> ranks, int total) {
        int[] shares = new int[ranks.size()];
        long requests = Math.max(1, ranks.stream().mapToLong(RankLoad::requests).sum());
        for (int rank = 0; rank < shares.length; rank++) {
            long mine = ranks.get(rank).requests();
            shares[rank] = mine == 0 ? 0 : (int) Math.max(1, Math.round((double) mine * total / requests));
        }
        return shares;
    }

    private int[] latestFirst(List<RankLoad> ranks) {
        int[] few = new int[threads.length];
        Arrays.fill(threads, 1);
        double[] late = prediction.lateness(threads);
        for (int given = 0; given < total; given++) {
            int latest = -1;
            for (int rank = 0; rank < few.length; rank++) {
                if (few[rank] == 0 && ranks.get(rank).requests() > 0 && (latest < 0 || late[rank] > late[latest])) {
                    latest = rank;
                }
            }
            few[latest] = 1;
        }
        return few;
    }

    /** @param most threads, which leave one to each other rank */
    private int search(int rank, int most, double threshold) {
        int low = 1;
        int high = most;
        int number = Math.clamp(threads[rank], low, high);
        int best = number;
        while (low <= high) {
            double late = prediction.estimatedLateness(rank, number);
            if (Math.abs(late) < Math.abs(prediction.estimatedLateness(rank, best))) {
                best = number;
            }
            if (Math.abs(late) < threshold) {
                break;
            }
            if (late > 0) {
                low = number + 1;
            } else {
                high = number - 1;
            }
            number = low + (high - low) / 2;
        }
        return best;
    }

    private void fitTotal() {
        int sum = Arrays.stream(threads).sum();
        for (; sum > total; sum--) {
            threads[donor(-1, Double.POSITIVE_INFINITY)]--;
        }
        for (; sum < total; sum++) {
            threads[gainer()]++;
        }
    }

    /** The latest rank that another thread makes earlier; the latest if it makes none earlier. */
    private int gainer() {
        int latest = -1;
        int gainer = -1;
        for (int rank = 0; rank < threads.length; rank++) {
            if (threads[rank] > 0) {
                double late = lateness(rank);
                latest = latest < 0 || late > lateness(latest) ? rank : latest;
                gainer = (gainer < 0 || late > lateness(gainer)) && gains(rank) ? rank : gainer;
            }
        }
        return gainer < 0 ? latest : gainer;
    }

    private boolean gains(int rank) {
        return prediction.estimate(rank, threads[rank] + 1)
                < prediction.estimate(rank, threads[rank]) * (1 - Refinement.NOTHING);
    }

    private double lateness(int rank) {
        return prediction.estimatedLateness(rank, threads[rank]);
    }

    private int latest() {
        int latest = -1;
        for (int rank = 0; rank < threads.length; rank++) {
            latest = threads[rank] > 0 && (latest < 0 || lateness(rank) > lateness(latest)) ? rank : latest;
        }
        return latest;
    }

    /** The rank but {@code to} that would be earliest with one thread less, if that is earlier than {@code least}, or that is infinite; else -1. */
    private int donor(int to, double least) {
        int donor = -1;
        double earliest = least;
        for (int rank = 0; rank < threads.length; rank++) {
            if (rank != to && threads[rank] > 1) {
                double late = prediction.estimatedLateness(rank, threads[rank] - 1);
                if (late < earliest || (donor < 0 && least == Double.POSITIVE_INFINITY)) {
                    donor = rank;
                    earliest = late;
                }
            }
        }
        return donor;
    }

    /**
     * Moves threads to the latest rank from any that stays earlier than that one was; this ends at the least lateness, or nearly so where ranks
     * share a place.
     */
    private void relieveLatest() {
        for (int moves = 0; moves < total; moves++) {
            prediction.settle(threads);
            int to = latest();
            int from = donor(to, lateness(to));
            if (from < 0 || !gains(to)) {
                return;
            }
            threads[from]--;
            threads[to]++;
        }
    }
}
