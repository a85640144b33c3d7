package io.clairfs.tools.simulate.policy;

import java.util.Arrays;

/**
 * The threads that fill the storage classes during the run: a crew for each class, of its p_j threads. Each crew has a list and fetches it in
 * order. A crew's clock shows its progress; a sample whose fetch begins before a moment counts as present at that moment.
 */
final class Background {
    private final Costs costs;
    private final int[] sizes;
    private final int crews;
    private final int[] threads;
    private final double[] write;
    private final Filler filler;
    private final IntList[] lists;
    private final int[] next;
    private final double[] clock;
    private final double[] atSource;

    /** Fills a class. */
    @FunctionalInterface
    interface Filler {
        /**
         * The node's crew reaches this sample. The node keeps it from now on.
         *
         * @return the place from which it is fetched, or -1 if it need not be fetched any more
         */
        int fill(int node, int crew, int sample);
    }

    private Background(Setup setup, int[] threads, double[] write, Filler filler) {
        costs = setup.costs();
        sizes = setup.load().sizes();
        crews = threads.length;
        this.threads = threads;
        this.write = write;
        this.filler = filler;
        lists = new IntList[setup.nodes() * crews];
        Arrays.setAll(lists, _ -> new IntList());
        next = new int[lists.length];
        clock = new double[lists.length];
        atSource = new double[lists.length];
    }

    /** A crew for each class. */
    static Background byClass(Setup setup, Filler filler) {
        int[] threads = new int[setup.classes()];
        double[] write = new double[threads.length];
        Arrays.setAll(threads, setup::threads);
        Arrays.setAll(write, setup.costs()::writeTo);
        return new Background(setup, threads, write, filler);
    }

    /** Appends a sample to the list of the node's crew. */
    void add(int node, int crew, int sample) {
        lists[node * crews + crew].add(sample);
    }

    /** Performs the fetches that begin before this time. */
    void advance(int node, double seconds) {
        for (int crew = 0; crew < crews; crew++) {
            int which = node * crews + crew;
            IntList list = lists[which];
            while (next[which] < list.length() && clock[which] < seconds) {
                int sample = list.get(next[which]++);
                int place = filler.fill(node, crew, sample);
                if (place >= 0) {
                    double fetch = costs.fetchToFill(place, threads[crew]);
                    clock[which] += sizes[sample] * (fetch + write[crew]) / threads[crew];
                    if (place == costs.source()) {
                        atSource[which] += sizes[sample] * fetch / threads[crew];
                    }
                }
            }
            clock[which] = Math.max(clock[which], seconds);
        }
    }

    /** See {@link Policy#takeAtSource}. */
    AtSource takeAtSource() {
        double sum = 0;
        double ofThreads = 0;
        for (int node = 0; node < lists.length; node += Math.max(1, crews)) {
            double longest = 0;
            for (int crew = 0; crew < crews; crew++) {
                longest = Math.max(longest, atSource[node + crew]);
                ofThreads += atSource[node + crew] * threads[crew];
                atSource[node + crew] = 0;
            }
            sum += longest;
        }
        return new AtSource(sum, ofThreads, false);
    }
}
