package io.clairfs.cache.plan.loaders;

import io.clairfs.cache.plan.model.FetchCosts;
import java.util.Arrays;
import java.util.List;

/**
 * How many loader threads each local rank gets for its coming batch: Lobster's Algorithm 1 with sections 4.2 to 4.4.
 *
 * <p>First in proportion to pending requests. A rank whose loading then ends early or late by the threshold or more (T_dif) gets, by binary
 * search, the number with which it ends about in time. These numbers seldom add up to the total, so they are then balanced. Threads go one
 * by one to the rank that is latest, or away from the one that suffers least, until the latest rank is as early as it can be. Last, they go
 * from rank to rank while that narrows the gap between latest and earliest.
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
    private final double[] work;
    private final double[] until;
    private final int[] threads;
    private final int total;

    private ThreadAssignment(List<RankLoad> ranks, FetchCosts costs, int total) {
        work = ranks.stream().mapToDouble(rank -> rank.threadSeconds(costs)).toArray();
        until = ranks.stream().mapToDouble(RankLoad::secondsUntilNeeded).toArray();
        threads = proportional(ranks, total);
        this.total = total;
    }

    /**
     * Threads by rank, which add up to {@code total} unless nothing at all is pending. With fewer threads than ranks, those
     * that would be latest get one each.
     *
     * @param costs of one fetch by one thread
     * @param thresholdSeconds tau: a difference below it is as good as none
     */
    public static int[] assign(List<RankLoad> ranks, FetchCosts costs, int total, double thresholdSeconds) {
        if (total < 0 || !(thresholdSeconds > 0)) {
            throw new IllegalArgumentException(total + " threads, threshold " + thresholdSeconds + " s");
        }
        long busy = ranks.stream().filter(rank -> rank.requests() > 0).count();
        ThreadAssignment assignment = new ThreadAssignment(ranks, costs, total);
        if (busy == 0) {
            return new int[ranks.size()];
        }
        if (busy > total) {
            return assignment.latestFirst(ranks);
        }
        for (int rank = 0; rank < ranks.size(); rank++) {
            if (assignment.threads[rank] > 0
                    && Math.abs(assignment.lateness(rank, assignment.threads[rank])) >= thresholdSeconds) {
                assignment.threads[rank] = assignment.search(rank, thresholdSeconds);
            }
        }
        assignment.fitTotal();
        assignment.relieveLatest();
        assignment.narrowGap();
        return assignment.threads;
    }

    /** T_dif: how much later than needed the rank's loading ends, in seconds; equation 1 with one rate for each thread. */
    private double lateness(int rank, int number) {
        return work[rank] / number - until[rank];
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
        for (int given = 0; given < total; given++) {
            int latest = -1;
            for (int rank = 0; rank < few.length; rank++) {
                if (few[rank] == 0
                        && ranks.get(rank).requests() > 0
                        && (latest < 0 || lateness(rank, 1) > lateness(latest, 1))) {
                    latest = rank;
                }
            }
            few[latest] = 1;
        }
        return few;
    }

    private int search(int rank, double threshold) {
        int low = 1;
        int high = total;
        int number = Math.clamp(threads[rank], low, high);
        int best = number;
        while (low <= high) {
            double late = lateness(rank, number);
            if (Math.abs(late) < Math.abs(lateness(rank, best))) {
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
            int least = -1;
            for (int rank = 0; rank < threads.length; rank++) {
                if (threads[rank] > 1
                        && (least < 0 || lateness(rank, threads[rank] - 1) < lateness(least, threads[least] - 1))) {
                    least = rank;
                }
            }
            threads[least]--;
        }
        for (; sum < total; sum++) {
            threads[latest()]++;
        }
    }

    private int latest() {
        int latest = -1;
        for (int rank = 0; rank < threads.length; rank++) {
            if (threads[rank] > 0
                    && (latest < 0 || lateness(rank, threads[rank]) > lateness(latest, threads[latest]))) {
                latest = rank;
            }
        }
        return latest;
    }

    /** Moves threads to the latest rank from any that stays earlier than that one was; this ends at the least lateness. */
    private void relieveLatest() {
        for (int to = latest(), from = donor(to); from >= 0; to = latest(), from = donor(to)) {
            threads[from]--;
            threads[to]++;
        }
    }

    /** The rank that would be earliest with one thread less, if that is earlier than {@code to} is now; else -1. */
    private int donor(int to) {
        int donor = -1;
        double least = lateness(to, threads[to]);
        for (int rank = 0; rank < threads.length; rank++) {
            if (rank != to && threads[rank] > 1 && lateness(rank, threads[rank] - 1) < least) {
                donor = rank;
                least = lateness(rank, threads[rank] - 1);
            }
        }
        return donor;
    }

    /** Moves threads between the others while the gap gets smaller and no rank gets later than the latest; so it ends. */
    private void narrowGap() {
        for (boolean moved = true; moved; ) {
            moved = false;
            for (int from = 0; from < threads.length && !moved; from++) {
                for (int to = 0; to < threads.length && !moved; to++) {
                    moved = from != to && threads[from] > 1 && threads[to] > 0 && moveIfNarrower(from, to);
                }
            }
        }
    }

    private boolean moveIfNarrower(int from, int to) {
        double gap = gap();
        double most = lateness(latest(), threads[latest()]);
        threads[from]--;
        threads[to]++;
        if (gap() < gap && lateness(latest(), threads[latest()]) <= most) {
            return true;
        }
        threads[from]++;
        threads[to]--;
        return false;
    }

    private double gap() {
        double latest = Double.NEGATIVE_INFINITY;
        double earliest = Double.POSITIVE_INFINITY;
        for (int rank = 0; rank < threads.length; rank++) {
            if (threads[rank] > 0) {
                latest = Math.max(latest, lateness(rank, threads[rank]));
                earliest = Math.min(earliest, lateness(rank, threads[rank]));
            }
        }
        return latest - earliest;
    }
}
