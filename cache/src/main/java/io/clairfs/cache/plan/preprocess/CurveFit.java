package io.clairfs.cache.plan.preprocess;

import io.clairfs.cache.plan.preprocess.PreprocessCurve.Node;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Fits a {@link PreprocessCurve} to measurements: continuous piecewise linear regression (Lobster, section 4.1), with at most three segments.
 *
 * <p>The unknowns are the times at the nodes. Their best values for given knots follow from linear least squares; the best knots are
 * found by trying all numbers of threads. The squares are of relative errors, so that a long time counts no more than a short one, divided by the
 * number of threads, for the curve matters up to its peak and has a long tail behind it. Another segment is taken only while the fit is off by more than
 * noise, and only if it halves the squares: it would follow the noise otherwise.
 */
final class CurveFit {
    /** The relative error that is taken for noise. */
    private static final double NOISE = 0.003;

    private static final int MOST_SEGMENTS = 3;

    /** Of two knots, all pairs of numbers up to the largest are tried. */
    private static final int MOST_THREADS = 1024;

    private final int[] threads;
    private final double[] seconds;

    private CurveFit(SortedMap<Integer, Double> measured) {
        threads = measured.keySet().stream().mapToInt(n -> n).toArray();
        seconds = measured.values().stream().mapToDouble(s -> s).toArray();
    }

    /** The curve of these measurements: seconds that a thread takes for a sample, by the number of threads. */
    static PreprocessCurve of(SortedMap<Integer, Double> measured) {
        if (measured.size() < 2) {
            return new PreprocessCurve(measured.entrySet().stream()
                    .map(e -> new Node(e.getKey(), e.getValue()))
                    .toList());
        }
        measured.forEach(Node::new); // refuses what is no time
        if (measured.lastKey() > MOST_THREADS) {
            throw new IllegalArgumentException(
                    "a rate of " + measured.lastKey() + " threads; " + MOST_THREADS + " is the most that is looked at");
        }
        return new CurveFit(measured).best();
    }

    private record Fit(int[] knots, double[] values, double squares) {}

    private PreprocessCurve best() {
        Fit best = fit(new int[0]);
        for (int segments = 2; segments <= MOST_SEGMENTS && segments < threads.length; segments++) {
            if (best != null && best.squares <= NOISE * NOISE * weights()) {
                break;
            }
            Fit more = withKnots(segments - 1);
            if (more != null && (best == null || more.squares < best.squares / 2)) {
                best = more;
            }
        }
        if (best == null) { // no line through so few points is positive everywhere
            List<Node> nodes = new ArrayList<>();
            for (int i = 0; i < threads.length; i++) {
                nodes.add(new Node(threads[i], seconds[i]));
            }
            return new PreprocessCurve(nodes);
        }
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < best.values.length; i++) {
            nodes.add(new Node(node(best.knots, i), best.values[i]));
        }
        return new PreprocessCurve(nodes);
    }

    private double weights() {
        return Arrays.stream(threads).mapToDouble(n -> 1.0 / n).sum();
    }

    private @Nullable Fit withKnots(int count) {
        Fit best = null;
        int last = threads[threads.length - 1];
        for (int first = threads[0] + 1; first < last; first++) {
            if (count == 1) {
                best = better(best, fit(new int[] {first}));
            } else {
                for (int second = first + 1; second < last; second++) {
                    best = better(best, fit(new int[] {first, second}));
                }
            }
        }
        return best;
    }

    private static @Nullable Fit better(@Nullable Fit one, @Nullable Fit other) {
        return one == null || (other != null && other.squares < one.squares) ? other : one;
    }

    private int node(int[] knots, int i) {
        return i == 0 ? threads[0] : i <= knots.length ? knots[i - 1] : threads[threads.length - 1];
    }

    /** The best values at the ends and at these knots; null if the measurements do not determine them, or if one is no time. */
    private @Nullable Fit fit(int[] knots) {
        int count = knots.length + 2;
        double[][] equations = new double[count][count + 1];
        for (int i = 0; i < threads.length; i++) {
            int from = segment(knots, threads[i]);
            double share = share(knots, from, threads[i]);
            double weight = 1.0 / threads[i];
            double left = (1 - share) / seconds[i];
            double right = share / seconds[i];
            equations[from][from] += weight * left * left;
            equations[from][from + 1] += weight * left * right;
            equations[from + 1][from] += weight * left * right;
            equations[from + 1][from + 1] += weight * right * right;
            equations[from][count] += weight * left;
            equations[from + 1][count] += weight * right;
        }
        double[] values = LinearEquations.solve(equations);
        if (values == null) {
            return null;
        }
        for (double value : values) {
            if (!(value > 0)) {
                return null;
            }
        }
        double squares = 0;
        for (int i = 0; i < threads.length; i++) {
            int from = segment(knots, threads[i]);
            double share = share(knots, from, threads[i]);
            double off = ((1 - share) * values[from] + share * values[from + 1]) / seconds[i] - 1;
            squares += off * off / threads[i];
        }
        return new Fit(knots, values, squares);
    }

    private static int segment(int[] knots, int at) {
        int segment = 0;
        while (segment < knots.length && at > knots[segment]) {
            segment++;
        }
        return segment;
    }

    private double share(int[] knots, int from, int at) {
        int left = node(knots, from);
        return (double) (at - left) / (node(knots, from + 1) - left);
    }
}
