package io.clairfs.cache.plan.preprocess;

import org.jspecify.annotations.Nullable;

/** A few linear equations, solved by Gaussian elimination with partial pivoting. */
final class LinearEquations {
    private static final double SINGULAR = 1e-9;

    private LinearEquations() {}

    /**
     * The solution; null if there is not exactly one.
     *
     * @param rows each with its right-hand side as the last entry; overwritten
     */
    static double @Nullable [] solve(double[][] rows) {
        int n = rows.length;
        double largest = 0;
        for (double[] row : rows) {
            for (int column = 0; column < n; column++) {
                largest = Math.max(largest, Math.abs(row[column]));
            }
        }
        for (int at = 0; at < n; at++) {
            int pivot = at;
            for (int row = at + 1; row < n; row++) {
                pivot = Math.abs(rows[row][at]) > Math.abs(rows[pivot][at]) ? row : pivot;
            }
            double[] swapped = rows[at];
            rows[at] = rows[pivot];
            rows[pivot] = swapped;
            if (!(Math.abs(rows[at][at]) > SINGULAR * largest)) {
                return null;
            }
            for (int row = at + 1; row < n; row++) {
                double factor = rows[row][at] / rows[at][at];
                for (int column = at; column <= n; column++) {
                    rows[row][column] -= factor * rows[at][column];
                }
            }
        }
        double[] solution = new double[n];
        for (int at = n - 1; at >= 0; at--) {
            double rest = rows[at][n];
            for (int column = at + 1; column < n; column++) {
                rest -= rows[at][column] * solution[column];
            }
            solution[at] = rest / rows[at][at];
        }
        return solution;
    }
}
