package io.clairfs.tools.bench.wire;

import java.util.Locale;
import java.util.Map;

/**
 * One line of the result.
 *
 * @param what was measured
 * @param fileBytes bytes of a file; 0 where it does not matter
 * @param readers the number of concurrent readers
 * @param unit of the figures
 * @param clairfs the figure through the mount
 * @param beside the figures of other filesystems, by their names
 */
public record WireRow(
        String what, long fileBytes, int readers, String unit, double clairfs, Map<String, Double> beside) {
    /** The row as text for people. Each figure beside is followed by the ratio to it. */
    String line(String size) {
        StringBuilder text = new StringBuilder(
                String.format(Locale.ROOT, "%-38s %8s %7d %10.2f %-12s", what, size, readers, clairfs, unit));
        beside.forEach((name, figure) ->
                text.append(String.format(Locale.ROOT, "  %s %.2f (%.2f)", name, figure, clairfs / figure)));
        return text.append('\n').toString();
    }
}
