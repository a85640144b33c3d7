package io.clairfs.cache.plan.loaders;

/**
 * Last moves of single threads between ranks, each checked by the {@link Prediction}: equation 3 of Lobster's section 4.2, where the latest rank
 * comes first and the gap second.
 *
 * <p>{@link Prediction#estimate} says which moves are worth a check, and few of them are checked. The number of checks is bounded, since the
 * assignment is computed anew every few milliseconds.
 */
final class Refinement {
    /** A thread that makes a rank earlier by a smaller share of the batch's time than this makes it no earlier. */
    static final double NOTHING = 1e-3;

    /** For each of the three kinds of moves. */
    static final int MOST_CHECKS = 24;

    private static final int MOST_TRIES = 3;

    private final Prediction prediction;
    private final int[] threads;
    private double[] late;
    private double[] then;
    /** By rank: how good it would be to move from it, or to it; infinity if it is out of the question. */
    private final double[] order;

    private final double[] without;
    private final double[] donors;
    private int checks;

    /** @param threads by rank; they are changed */
    Refinement(Prediction prediction, int[] threads) {
        this.prediction = prediction;
        this.threads = threads;
        late = new double[threads.length];
        then = new double[threads.length];
        order = new double[threads.length];
        without = new double[threads.length];
        donors = new double[threads.length];
    }

    void run() {
        prediction.lateness(threads, late);
        repeat(this::relieveLatest);
        repeat(this::narrowGap);
        int[] given = new int[threads.length];
        repeat(() -> passOnUseless(given));
    }

    private interface Move {
        boolean moved();
    }

    private void repeat(Move move) {
        checks = MOST_CHECKS;
        boolean moved = true;
        while (moved && checks > 0) {
            prediction.settle(threads);
            moved = move.moved();
        }
    }

    /**
     * A thread to the latest rank if that makes it earlier, or from one rank to another where that leaves the latest a greater share of a place.
     * Those that would be earliest without it are asked first.
     */
    private boolean relieveLatest() {
        double least = late[latest(late)];
        for (int from = 0; from < threads.length; from++) {
            without[from] = threads[from] > 1
                    ? prediction.estimatedLateness(from, threads[from] - 1)
                    : Double.POSITIVE_INFINITY;
        }
        orderReceivers(-1);
        for (int to = next(order); to >= 0; to = next(order)) {
            System.arraycopy(without, 0, donors, 0, donors.length);
            donors[to] = Double.POSITIVE_INFINITY;
            for (int from = next(donors); from >= 0 && checks > 0; from = next(donors)) {
                if (tried(from, to) && then[latest(then)] < least) {
                    return accept();
                }
                move(to, from);
            }
        }
        return false;
    }

    /** A thread from the earliest rank to another, if the gap gets smaller and the latest rank no later. */
    private boolean narrowGap() {
        int from = earliest(late);
        if (threads[from] <= 1) {
            return false;
        }
        orderReceivers(from);
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            int to = next(order);
            if (to < 0) {
                return false;
            }
            if (tried(from, to) && gap(then) < gap(late) && then[latest(then)] <= late[latest(late)]) {
                return accept();
            }
            move(to, from);
        }
        return false;
    }

    /** The later ones first; none that a thread makes no earlier. */
    private void orderReceivers(int from) {
        for (int to = 0; to < threads.length; to++) {
            boolean gains = to != from
                    && threads[to] > 0
                    && prediction.estimate(to, threads[to] + 1) < prediction.estimate(to, threads[to]) * (1 - NOTHING);
            order[to] = gains ? -late[to] : Double.POSITIVE_INFINITY;
        }
    }

    /**
     * A thread from a rank that reads as fast without it, since the places that it reads from are saturated, to one that it makes earlier.
     *
     * @param given by rank: such threads that it was given, which it keeps
     */
    private boolean passOnUseless(int[] given) {
        boolean[] useless = new boolean[threads.length];
        double[] together = new double[threads.length];
        for (int rank = 0; rank < threads.length; rank++) {
            together[rank] = prediction.together(rank);
            useless[rank] = threads[rank] > 1
                    && given[rank] == 0
                    && prediction.estimate(rank, threads[rank] - 1)
                            <= prediction.estimate(rank, threads[rank]) * (1 + NOTHING);
        }
        for (int from = 0; from < threads.length; from++) {
            if (useless[from]) {
                orderReceivers(from);
                for (int to = next(order); to >= 0; to = next(order)) {
                    if (tried(from, to) && passes(from, to, together[from])) {
                        given[to]++;
                        return accept();
                    }
                    move(to, from);
                }
                prediction.settle(threads);
            }
        }
        return false;
    }

    private boolean passes(int from, int to, double together) {
        double most = late[latest(late)];
        return prediction.together(from) <= together * (1 + NOTHING)
                && then[to] < late[to] - NOTHING * Math.abs(late[to])
                && then[latest(then)] <= most + NOTHING * Math.abs(most);
    }

    private boolean tried(int from, int to) {
        move(from, to);
        if (checks == 0) {
            return false;
        }
        checks--;
        prediction.lateness(threads, then);
        return true;
    }

    private boolean accept() {
        double[] accepted = then;
        then = late;
        late = accepted;
        return true;
    }

    private void move(int from, int to) {
        threads[from]--;
        threads[to]++;
    }

    /** The rank with the least value, which is then out of the question; -1 if all are. */
    private static int next(double[] order) {
        int next = -1;
        for (int rank = 0; rank < order.length; rank++) {
            if (order[rank] < Double.POSITIVE_INFINITY && (next < 0 || order[rank] < order[next])) {
                next = rank;
            }
        }
        if (next >= 0) {
            order[next] = Double.POSITIVE_INFINITY;
        }
        return next;
    }

    static int latest(double[] late) {
        int latest = 0;
        for (int rank = 1; rank < late.length; rank++) {
            latest = late[rank] > late[latest] ? rank : latest;
        }
        return latest;
    }

    private static int earliest(double[] late) {
        int earliest = latest(late);
        for (int rank = 0; rank < late.length; rank++) {
            earliest = late[rank] > Double.NEGATIVE_INFINITY && late[rank] < late[earliest] ? rank : earliest;
        }
        return earliest;
    }

    private static double gap(double[] late) {
        return late[latest(late)] - late[earliest(late)];
    }
}
