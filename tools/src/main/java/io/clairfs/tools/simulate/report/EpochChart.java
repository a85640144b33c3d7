package io.clairfs.tools.simulate.report;

import io.clairfs.tools.simulate.PolicyResult;
import io.clairfs.tools.simulate.SimulationReport;
import io.clairfs.tools.simulate.policy.Policies;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Seconds of each epoch, a line for each policy.
 *
 * <p>The scale is that of the policies that are worth comparing. It begins with the computation alone, or a shorter epoch, and ends with
 * the longest epoch that takes at most {@link #MOST} times that of the quickest policy. Otherwise one policy that waits for the source in
 * every epoch would press all others onto one line. A longer epoch leaves the picture at its top, and the key shows its time.
 */
public final class EpochChart {
    private static final List<String> COLORS = List.of(
            "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7f7f7f", "#a6761d", "#7570b3",
            "#e7298a", "#66a61e");

    /** The colour of our own policy, which stands out. */
    private static final String OUR_COLOR = "#000000";

    private static final double MOST = 2;
    /** The smallest range of the scale, as a share of its start, so that a tiny difference does not look like a real one. */
    private static final double LEAST_RANGE = 0.05;

    private static final int LEFT = 4;
    private static final int TOP = 22;
    private static final int BOTTOM = 190;
    private static final int KEY_ROW = 14;

    private final List<PolicyResult> ran;
    private final int epochs;
    private final double from;
    private final double to;

    private EpochChart(SimulationReport report) {
        ran = report.policies().stream()
                .filter(each -> each.unsupported() == null)
                .toList();
        epochs = report.scenario().epochs();
        double bound = report.lowerBoundSeconds() / epochs;
        double quickest = ran.stream().mapToDouble(EpochChart::longest).min().orElse(bound);
        from = Math.min(
                bound, ran.stream().mapToDouble(EpochChart::shortest).min().orElse(bound));
        double longest = ran.stream()
                .flatMap(each -> each.epochs().stream())
                .mapToDouble(Double::doubleValue)
                .filter(each -> each <= MOST * quickest)
                .max()
                .orElse(quickest);
        to = Math.max(longest, from * (1 + LEAST_RANGE));
    }

    public static String of(SimulationReport report) {
        return new EpochChart(report)
                .draw(report.lowerBoundSeconds() / report.scenario().epochs());
    }

    private String draw(double bound) {
        Svg svg = new Svg(BOTTOM + 22 + KEY_ROW * Math.ceilDiv(ran.size(), 2), "seconds of each epoch");
        svg.line(LEFT, BOTTOM, Svg.WIDTH, BOTTOM, "axis");
        svg.label(
                LEFT, TOP - 12, "small", Figures.seconds(to) + (above() ? "; what takes longer is not to scale" : ""));
        svg.line(LEFT, y(bound), Svg.WIDTH, y(bound), "bound");
        svg.label(Svg.WIDTH - 2, BOTTOM + 12, "small end", "epoch " + epochs);
        svg.label(LEFT, BOTTOM + 12, "small", "epoch 1");
        svg.label(Svg.WIDTH / 2.0, BOTTOM + 12, "small middle", "computation alone: " + Figures.seconds(bound));
        IntStream.range(0, ran.size()).filter(i -> !isOurs(i)).forEach(i -> line(svg, i));
        IntStream.range(0, ran.size()).filter(this::isOurs).forEach(i -> line(svg, i)); // drawn on top
        for (int i = 0; i < ran.size(); i++) {
            int x = LEFT + i % 2 * Svg.WIDTH / 2;
            int y = BOTTOM + 26 + KEY_ROW * (i / 2);
            PolicyResult each = ran.get(i);
            String longer = longest(each) > to ? ": up to " + Figures.seconds(longest(each)) : "";
            svg.fill(x, y - 8, 10, 10, color(i), each.name());
            svg.label(x + 15, y + 1, "small", each.name() + longer);
        }
        return svg.toString();
    }

    private void line(Svg svg, int which) {
        List<String> points = new ArrayList<>();
        List<Double> seconds = ran.get(which).epochs();
        for (int epoch = 0; epoch < epochs; epoch++) {
            double x = epochs == 1 ? 0.5 : (double) epoch / (epochs - 1);
            points.add(point(LEFT + 6 + x * (Svg.WIDTH - LEFT - 12), seconds.get(epoch)));
        }
        if (epochs == 1) {
            points.add(point(Svg.WIDTH / 2.0 + 8, seconds.getFirst()));
        }
        svg.polyline(String.join(" ", points), color(which));
    }

    private String point(double x, double seconds) {
        return String.format(Locale.ROOT, "%.1f,%.1f", x, y(seconds));
    }

    private double y(double seconds) {
        return Math.max(TOP - 8, BOTTOM - (seconds - from) / (to - from) * (BOTTOM - TOP));
    }

    private boolean above() {
        return ran.stream().anyMatch(each -> longest(each) > to);
    }

    private boolean isOurs(int which) {
        return ran.get(which).name().equals(Policies.CLAIRFS);
    }

    private String color(int which) {
        return isOurs(which) ? OUR_COLOR : COLORS.get(which % COLORS.size());
    }

    private static double longest(PolicyResult policy) {
        return policy.epochs().stream().mapToDouble(Double::doubleValue).max().orElse(0);
    }

    private static double shortest(PolicyResult policy) {
        return policy.epochs().stream().mapToDouble(Double::doubleValue).min().orElse(0);
    }
}
