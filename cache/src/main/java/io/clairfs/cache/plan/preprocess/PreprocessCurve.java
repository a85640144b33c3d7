package io.clairfs.cache.plan.preprocess;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * How long a thread takes to preprocess one sample of some size, as a function of how many threads preprocess at once: Lobster, section 4.1.
 *
 * <p>Piecewise linear between its nodes. The time of one thread is the quantity to model so: it stays the same while threads do not hinder each
 * other, and grows in proportion to their number once something they share is used up. Below the first node it is as there. Beyond the
 * last one the rate of all threads together stays as it is, for nobody has seen it grow.
 *
 * @param nodes threads ascending
 */
public record PreprocessCurve(List<Node> nodes) {
    /** A number of threads reaches the peak if its rate is at least this share of the highest one. */
    private static final double AT_PEAK = 0.98;

    public PreprocessCurve {
        nodes = List.copyOf(nodes);
        if (nodes.isEmpty()) {
            throw new IllegalArgumentException("no measured number of threads");
        }
        for (int i = 1; i < nodes.size(); i++) {
            if (nodes.get(i).threads <= nodes.get(i - 1).threads) {
                throw new IllegalArgumentException("threads do not ascend: " + nodes);
            }
        }
    }

    /**
     * The time at one number of threads.
     *
     * @param threads that preprocess at once
     * @param seconds that each of them takes for one sample
     */
    public record Node(int threads, double seconds) {
        public Node {
            if (threads < 1 || !(seconds > 0) || Double.isInfinite(seconds)) {
                throw new IllegalArgumentException(
                        "not positive or not finite: " + threads + " threads, " + seconds + " s per sample");
            }
        }
    }

    /** A guess where nothing was measured: threads do not hinder each other until each processor has one. */
    public static PreprocessCurve perProcessor(double seconds, int processors) {
        List<Node> nodes = new ArrayList<>(List.of(new Node(1, seconds)));
        if (processors > 1) {
            nodes.add(new Node(processors, seconds));
        }
        nodes.add(new Node(2 * processors, 2 * seconds));
        return new PreprocessCurve(nodes);
    }

    /** Seconds that each of {@code threads} threads takes for one sample; {@code threads} is positive and may be a mean. */
    public double seconds(double threads) {
        if (!(threads > 0)) {
            throw new IllegalArgumentException("not positive: " + threads + " threads");
        }
        Node below = nodes.getFirst();
        if (threads <= below.threads) {
            return below.seconds;
        }
        for (Node above : nodes) {
            if (threads <= above.threads) {
                double share = (threads - below.threads) / (above.threads - below.threads);
                return below.seconds + share * (above.seconds - below.seconds);
            }
            below = above;
        }
        return below.seconds * threads / below.threads;
    }

    /** Samples per second of {@code threads} threads together. */
    public double rate(double threads) {
        return threads / seconds(threads);
    }

    /** The largest number of threads that was measured. */
    public int measuredThreads() {
        return nodes.getLast().threads;
    }

    /** The fewest threads, of at most {@code most}, that reach 98 % of the highest rate: p* of Lobster, section 4.1, step 1. */
    public int fewestAtPeak(int most) {
        int end = Math.min(most, measuredThreads());
        if (end < 1) {
            throw new IllegalArgumentException("not positive: " + most + " threads");
        }
        double peak = 0;
        for (int threads = 1; threads <= end; threads++) {
            peak = Math.max(peak, rate(threads));
        }
        int fewest = 1;
        while (rate(fewest) < AT_PEAK * peak) {
            fewest++;
        }
        return fewest;
    }

    /** The same shape, every time multiplied by {@code factor}. */
    public PreprocessCurve scaled(double factor) {
        return new PreprocessCurve(nodes.stream()
                .map(node -> new Node(node.threads, node.seconds * factor))
                .toList());
    }

    /** The curve between this one and another: this one for a {@code share} of 0, the other for 1. */
    PreprocessCurve towards(PreprocessCurve other, double share) {
        TreeSet<Integer> threads = new TreeSet<>();
        nodes.forEach(node -> threads.add(node.threads));
        other.nodes.forEach(node -> threads.add(node.threads));
        return new PreprocessCurve(threads.stream()
                .map(n -> new Node(n, (1 - share) * seconds(n) + share * other.seconds(n)))
                .toList());
    }
}
