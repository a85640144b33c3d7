package io.clairfs.tools.simulate;

/**
 * The threads that fill the storage classes while the run goes on, p_j of them for class j, each class in the order of its own
 * list. A class of a node is as far as its clock; what it begins before a moment counts as there.
 */
final class Background {
    private final Costs costs;
    private final int[] sizes;
    private final int classes;
    private final Filler filler;
    private final IntList[] lists;
    private final int[] next;
    private final double[] clock;
    private final double[] atSource;

    /** What a class is filled with. */
    @FunctionalInterface
    interface Filler {
        /**
         * The node's class is to keep the sample from now on.
         *
         * @return the place from which it is fetched, or -1 when there is nothing to fetch any more
         */
        int fill(int node, int storageClass, int sample);
    }

    Background(Setup setup, Filler filler) {
        costs = setup.costs();
        sizes = setup.load().sizes();
        classes = setup.classes();
        this.filler = filler;
        lists = new IntList[setup.nodes() * classes];
        java.util.Arrays.setAll(lists, _ -> new IntList());
        next = new int[lists.length];
        clock = new double[lists.length];
        atSource = new double[lists.length];
    }

    /** Appends to what the node's class is to keep. */
    void add(int node, int storageClass, int sample) {
        lists[node * classes + storageClass].add(sample);
    }

    /** Fetches what is begun before this time. */
    void advance(int node, double seconds) {
        for (int j = 0; j < classes; j++) {
            int which = node * classes + j;
            IntList list = lists[which];
            while (next[which] < list.length() && clock[which] < seconds) {
                int sample = list.get(next[which]++);
                int place = filler.fill(node, j, sample);
                if (place >= 0) {
                    double perByte = costs.fill(j, costs.fetch(place));
                    clock[which] += sizes[sample] * perByte;
                    if (place == costs.source()) {
                        double fetch = costs.fetch(place);
                        atSource[which] += sizes[sample] * perByte * fetch / (fetch + costs.writeTo(j));
                    }
                }
            }
            clock[which] = Math.max(clock[which], seconds);
        }
    }

    /** See {@link Policy#takeSecondsAtSource}. */
    double takeSecondsAtSource() {
        double sum = 0;
        for (int node = 0; node < lists.length; node += Math.max(1, classes)) {
            double longest = 0;
            for (int j = 0; j < classes; j++) {
                longest = Math.max(longest, atSource[node + j]);
                atSource[node + j] = 0;
            }
            sum += longest;
        }
        return sum;
    }
}
