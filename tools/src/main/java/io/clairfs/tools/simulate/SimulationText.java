package io.clairfs.tools.simulate;

import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.scenario.Scenario;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** A simulation as a table with a verdict at the end. */
final class SimulationText {
    private static final double GIGA = 1e9;
    private static final double PERCENT = 100;
    private static final double NEARLY = 1.01;

    private SimulationText() {}

    static String of(SimulationReport report) {
        Scenario scenario = report.scenario();
        StringBuilder text = new StringBuilder(format(
                "%s: %d nodes, %,d samples, %d epochs, %.1f GB of storage on each node%n%n",
                scenario.name(),
                scenario.nodes(),
                scenario.dataset().samples(),
                scenario.epochs(),
                scenario.classes().stream()
                                .mapToDouble(Scenario.Device::capacity)
                                .sum()
                        / 1e3));
        text.append(format(
                "%-21s %12s %7s %12s %10s %10s %10s %10s%n",
                "", "seconds", "", "waited (s)", "memory GB", "ssd GB", "peer GB", "source GB"));
        text.append(format("%-21s %,12.2f %6.2fx%n", Policies.LOWER_BOUND, report.lowerBoundSeconds(), 1.0));
        for (PolicyResult each : report.policies()) {
            text.append(each.unsupported() == null ? line(each, report) : unsupported(each));
        }
        return text.append('\n').append(verdict(report)).append('\n').toString();
    }

    private static String line(PolicyResult each, SimulationReport report) {
        PolicyResult.Fetched fetched = each.fetched();
        return format(
                "%-21s %,12.2f %6.2fx %,12.2f %,10.1f %,10.1f %,10.1f %,10.1f%s%s%n",
                each.name(),
                each.seconds(),
                each.seconds() / report.lowerBoundSeconds(),
                each.prepareSeconds() + each.stallSeconds(),
                fetched.memory().bytes() / GIGA,
                fetched.ssd().bytes() / GIGA,
                fetched.peer().bytes() / GIGA,
                fetched.source().bytes() / GIGA,
                each.orderChanged() ? "  changes the order" : "",
                each.fullDataset() ? "" : "  leaves data out");
    }

    private static String unsupported(PolicyResult each) {
        return format("%-21s cannot run this: %s%n", each.name(), String.valueOf(each.unsupported()));
    }

    /** The verdict in one sentence. */
    static String verdict(SimulationReport report) {
        List<PolicyResult> comparable = report.policies().stream()
                .filter(PolicyResult::isComparable)
                .sorted(Comparator.comparingDouble(PolicyResult::seconds)
                        .thenComparing(each -> !each.name().equals(Policies.CLAIRFS)))
                .toList();
        if (comparable.isEmpty()) {
            return "None of these policies reads all data in the sampler's order.";
        }
        PolicyResult best = comparable.getFirst();
        if (best.seconds() <= NEARLY * report.lowerBoundSeconds()) {
            return "This run need not wait for data: with " + best.name() + " it is bound by computation.";
        }
        return format(
                "This run waits for data: at best, with %s, %.0f %% of its time.",
                best.name(), PERCENT * (1 - report.lowerBoundSeconds() / best.seconds()));
    }

    private static String format(String form, Object... values) {
        return String.format(Locale.ROOT, form, values);
    }
}
