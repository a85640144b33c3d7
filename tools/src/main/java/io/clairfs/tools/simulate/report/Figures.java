package io.clairfs.tools.simulate.report;

import io.clairfs.tools.simulate.PolicyResult;
import io.clairfs.tools.simulate.SimulationReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The pictures of the report. */
public final class Figures {
    static final List<String> PLACES = List.of("prepare", "memory", "ssd", "peer", "source");
    private static final int ROW = 30;

    private Figures() {}

    /** The time of each policy, divided in proportion to the fetches from each place (NoPFS figure 8). */
    static String bars(SimulationReport report) {
        List<PolicyResult> ran = report.policies().stream()
                .filter(each -> each.unsupported() == null)
                .toList();
        double longest = Math.max(
                report.lowerBoundSeconds(),
                ran.stream().mapToDouble(PolicyResult::seconds).max().orElse(1));
        double scale = (Svg.WIDTH - 4) / longest;
        Svg svg = new Svg(ROW * ran.size() + 18, "seconds of each policy");
        for (int i = 0; i < ran.size(); i++) {
            bar(svg, ran.get(i), ROW * i, scale, report.lowerBoundSeconds());
            double bound = report.lowerBoundSeconds() * scale;
            svg.line(bound, ROW * i + 13, bound, ROW * i + 28, "bound"); // in pieces, beside the names
        }
        double x = report.lowerBoundSeconds() * scale;
        svg.label(
                x,
                ROW * ran.size() + 13,
                x > Svg.WIDTH / 2.0 ? "end" : "",
                "computation alone: " + seconds(report.lowerBoundSeconds()));
        return svg.toString();
    }

    private static void bar(Svg svg, PolicyResult each, int y, double scale, double bound) {
        String mark = (each.orderChanged() ? " *" : "") + (each.fullDataset() ? "" : " \u2020");
        svg.label(2, y + 11, "name", each.name() + mark);
        svg.label(
                Svg.WIDTH - 2,
                y + 11,
                "end",
                seconds(each.seconds()) + String.format(Locale.ROOT, "  (%.2f)", each.seconds() / bound));
        PolicyResult.FetchSeconds fetch = each.fetchSeconds();
        double[] parts = {fetch.memory(), fetch.ssd(), fetch.peer(), fetch.source()};
        double all = fetch.memory() + fetch.ssd() + fetch.peer() + fetch.source();
        double run = each.seconds() - each.prepareSeconds();
        double x = 0;
        x += piece(svg, x, y, each.prepareSeconds(), scale, 0);
        for (int i = 0; i < parts.length; i++) {
            x += piece(svg, x, y, all > 0 ? run * parts[i] / all : 0, scale, i + 1);
        }
    }

    private static double piece(Svg svg, double x, int y, double length, double scale, int place) {
        String name = PLACES.get(place);
        svg.rectangle(x, y + 15, length * scale, 10, name, name + ": " + seconds(length));
        return length * scale;
    }

    /** Time by memory and SSD (NoPFS figure 9). */
    static String grid(WhatIf whatIf) {
        int left = 58;
        int rows = whatIf.ssd().length;
        int columns = whatIf.memory().length;
        double width = (double) (Svg.WIDTH - left) / columns;
        Svg svg = new Svg(36 * rows + 34, "seconds by memory and SSD");
        svg.label(left, 10, "small", "memory on each node");
        for (int column = 0; column < columns; column++) {
            svg.label(left + width * (column + 0.5), 24, "small middle", size(whatIf.memory()[column]));
        }
        for (int row = 0; row < rows; row++) {
            int y = 30 + 36 * row;
            svg.label(2, y + 20, "small", size(whatIf.ssd()[row]));
            for (int column = 0; column < columns; column++) {
                double seconds = whatIf.seconds()[row][column];
                double ratio = seconds / whatIf.lowerBoundSeconds();
                double x = left + width * column;
                svg.fill(x, y, width - 2, 34, heat(ratio), seconds(seconds));
                svg.label(x + width / 2 - 1, y + 15, "small middle cell", seconds(seconds));
                svg.label(x + width / 2 - 1, y + 28, "small middle cell", String.format(Locale.ROOT, "%.2f", ratio));
            }
        }
        svg.label(2, 24, "small", "SSD");
        return svg.toString();
    }

    /** From green (no wait) to red (twice the time). */
    private static String heat(double ratio) {
        double waits = Math.clamp(ratio - 1, 0, 1);
        return String.format(Locale.ROOT, "hsl(%.0f 65%% 78%%)", 130 * (1 - waits));
    }

    /** A histogram; the expected values, if there are any, are a line. */
    static String histogram(long[] counts, double[] expected, String from, String to) {
        double most = 1;
        for (int i = 0; i < counts.length; i++) {
            most = Math.max(most, Math.max((double) counts[i], i < expected.length ? expected[i] : 0));
        }
        int bottom = 110;
        double width = (double) Svg.WIDTH / counts.length;
        Svg svg = new Svg(bottom + 16, "histogram");
        List<String> points = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            double height = counts[i] / most * (bottom - 6);
            svg.rectangle(
                    i * width, bottom - height, Math.max(0.5, width - 1), height, "memory", Long.toString(counts[i]));
            if (i < expected.length) {
                points.add(String.format(
                        Locale.ROOT, "%.1f,%.1f", (i + 0.5) * width, bottom - expected[i] / most * (bottom - 6)));
            }
        }
        svg.line(0, bottom, Svg.WIDTH, bottom, "axis");
        if (!points.isEmpty()) {
            svg.polyline(String.join(" ", points), "#d55e00");
        }
        svg.label(0, bottom + 12, "small", from);
        svg.label(Svg.WIDTH, bottom + 12, "small end", to);
        return svg.toString();
    }

    /** A time, such as {@code 12.3 s}. */
    public static String seconds(double seconds) {
        if (seconds < 100) {
            return String.format(Locale.ROOT, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
        }
        if (seconds < 3 * 3600) {
            return String.format(
                    Locale.ROOT, seconds < 600 ? "%.0f s" : "%.1f min", seconds < 600 ? seconds : seconds / 60);
        }
        return String.format(Locale.ROOT, "%.1f h", seconds / 3600);
    }

    static String size(double mega) {
        if (mega == 0) {
            return "none";
        }
        return mega < 1000
                ? String.format(Locale.ROOT, "%.3g MB", mega)
                : mega < 1e6
                        ? String.format(Locale.ROOT, mega < 1e4 && mega % 1e3 != 0 ? "%.3g GB" : "%.0f GB", mega / 1e3)
                        : String.format(Locale.ROOT, "%.1f TB", mega / 1e6);
    }
}
