package io.clairfs.tools.simulate.report;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.tools.simulate.PolicyResult;
import io.clairfs.tools.simulate.SimulationReport;
import io.clairfs.tools.simulate.Simulator;
import io.clairfs.tools.simulate.scenario.AccessFrequency;
import io.clairfs.tools.simulate.scenario.InvalidScenarioException;
import io.clairfs.tools.simulate.scenario.ReuseDistance;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.Workload;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** A simulation as one self-contained page, designed for the width of a phone. */
public final class HtmlReport {
    private static final int MOST_EPOCHS_COUNTED = 90;
    private static final int FEW_SAMPLES = 20_000;
    private static final int REUSE_CLASSES = 60;
    private static final double GIGA = 1e9;
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .build();

    private final SimulationReport report;
    private final StringBuilder page = new StringBuilder();

    private HtmlReport(SimulationReport report) {
        this.report = report;
    }

    /**
     * Makes the page. It runs the scenario again for other sizes of storage, on a part of the dataset.
     *
     * @throws InvalidScenarioException with one line, if the scenario cannot be run with fewer samples
     */
    public static String of(SimulationReport report, Simulator.Listener listener) throws InvalidScenarioException {
        try {
            return new HtmlReport(report).make(listener);
        } catch (InvalidSpecException e) {
            throw new InvalidScenarioException(report.scenario().name() + ": " + e.getMessage());
        }
    }

    private String make(Simulator.Listener listener) throws InvalidScenarioException, InvalidSpecException {
        Scenario scenario = report.scenario();
        String name = Svg.escaped(scenario.name());
        page.append(HtmlPage.beginning(scenario.name()))
                .append("<h1>Will this run wait for data?</h1>\n<p><b>")
                .append(name)
                .append("</b>: ")
                .append(String.format(
                        Locale.ROOT,
                        "%d nodes, %,d samples, %d epochs.",
                        scenario.nodes(),
                        scenario.dataset().samples(),
                        scenario.epochs()))
                .append("</p>\n<p class='verdict'>")
                .append(Svg.escaped(report.verdict()))
                .append("</p>\n");
        bars();
        if (!scenario.classes().isEmpty()) {
            whatIf(WhatIf.of(scenario, listener));
        }
        section("Each epoch", EpochChart.of(report));
        orders(scenario);
        parameters(scenario);
        return page.append(HtmlPage.END).toString();
    }

    private void section(String title, String content) {
        page.append("<h2>").append(title).append("</h2>\n").append(content);
    }

    private void bars() {
        StringBuilder key = new StringBuilder("<p class='key'>");
        Map<String, String> colors = Map.of(
                "prepare", "#999", "memory", "#56b4e9", "ssd", "#009e73", "peer", "#e69f00", "source", "#d55e00");
        for (String place : Figures.PLACES) {
            key.append("<span><i style='background:")
                    .append(colors.get(place))
                    .append("'></i>")
                    .append(place.equals("prepare") ? "before the first epoch" : place)
                    .append("</span>");
        }
        section("Time of each policy", Figures.bars(report));
        page.append(key)
                .append(
                        "</p>\n<p><small>Each bar is the time of the run, divided as the time for fetching is; in brackets,")
                .append(" how many times the computation alone. * reads in another order than the sampler's;")
                .append(" \u2020 leaves data out.</small></p>\n");
        page.append("<div class='table'><table><tr><th>policy<th>time<th>waited<th>memory GB<th>ssd GB<th>peer GB")
                .append("<th>source GB</tr>\n");
        StringBuilder cannot = new StringBuilder();
        for (PolicyResult each : report.policies()) {
            if (each.unsupported() == null) {
                page.append(row(each));
            } else {
                cannot.append("<p><small><b>")
                        .append(Svg.escaped(each.name()))
                        .append("</b> cannot run this: ")
                        .append(Svg.escaped(each.unsupported()))
                        .append("</small></p>\n");
            }
        }
        page.append("</table></div>\n").append(cannot);
    }

    private static String row(PolicyResult each) {
        PolicyResult.Fetched fetched = each.fetched();
        return String.format(
                Locale.ROOT,
                "<tr><td>%s<td>%s<td>%s<td>%,.1f<td>%,.1f<td>%,.1f<td>%,.1f</tr>%n",
                Svg.escaped(each.name()),
                Figures.seconds(each.seconds()),
                Figures.seconds(each.prepareSeconds() + each.stallSeconds()),
                fetched.memory().bytes() / GIGA,
                fetched.ssd().bytes() / GIGA,
                fetched.peer().bytes() / GIGA,
                fetched.source().bytes() / GIGA);
    }

    private void whatIf(WhatIf whatIf) {
        section("What if there were more, or less?", Figures.grid(whatIf));
        page.append("<p><small>Time with ")
                .append(whatIf.policy())
                .append(" by storage on each node, and how many times the computation alone it is")
                .append(whatIf.divisor() == 1 ? "." : ", from one in " + whatIf.divisor() + " of the samples.")
                .append("</small></p>\n");
    }

    private void orders(Scenario scenario) throws InvalidScenarioException, InvalidSpecException {
        int divisor = Math.max(1, scenario.dataset().samples() / FEW_SAMPLES);
        Scenario small = scenario.shrunk(divisor);
        Workload load = new Workload(small);
        int epochs = Math.min(small.epochs(), MOST_EPOCHS_COUNTED);
        long[] counted = AccessFrequency.counted(load, epochs);
        int last = counted.length - 1;
        while (last > 1 && counted[last] == 0) {
            last--;
        }
        double[] expected = new double[last + 1];
        for (int times = 0; times <= last; times++) {
            expected[times] = AccessFrequency.expected(small.dataset().samples(), epochs, small.nodes(), times);
        }
        section(
                "How often one node reads the same sample",
                Figures.histogram(java.util.Arrays.copyOf(counted, last + 1), expected, "never", last + " times"));
        if (epochs > 1) {
            ReuseDistance reuse = ReuseDistance.counted(load, small.batch(), epochs, REUSE_CLASSES);
            section(
                    "After how many iterations it reads it again",
                    Figures.histogram(
                            reuse.counts(), new double[0], "0", "%,d".formatted((long) load.iterations() * epochs)));
        }
        page.append("<p><small>Of ")
                .append(String.format(Locale.ROOT, "%,d", small.dataset().samples()))
                .append(" samples")
                .append(epochs < small.epochs() ? ", in " + epochs + " of the " + small.epochs() + " epochs" : "")
                .append("; the line is what chance gives.</small></p>\n");
    }

    private void parameters(Scenario scenario) {
        StringBuilder rows = new StringBuilder("<div class='table'><table>\n");
        JSON.valueToTree(scenario)
                .properties()
                .forEach(each -> rows.append("<tr><td>")
                        .append(Svg.escaped(each.getKey()))
                        .append("<td class='why'>")
                        .append(Svg.escaped(
                                        each.getValue().isString()
                                                ? each.getValue().asString()
                                                : each.getValue().toString())
                                .replace(",", ", "))
                        .append("</tr>\n"));
        section("Parameters (MB, MB/s)", rows.append("</table></div>\n").toString());
    }
}
