package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.scenario.RandomScenarios;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import io.clairfs.tools.simulate.scenario.Scenarios;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Our policy beside the others in random scenarios. {@code .ci/long-run sweep} runs it, and prints a table and each scenario in which another
 * policy is better.
 *
 * <p>Policies that change the order, or leave data out, run too but are not compared: with them another model is trained.
 */
final class PolicySweep {
    /** A shorter time by a smaller share than this counts as equal. */
    private static final double EQUAL = 1e-3;

    private static final int SCENARIOS = 40;
    private static final int READS = 1_000_000;

    @Test
    void clairfs_is_best_or_equal_in_random_scenarios() throws IOException {
        assertThat(lost(Long.getLong("clairfs.sweep.seed", 1), SCENARIOS, READS))
                .isEmpty();
    }

    /** Runs scenarios of so many reads each, and prints them. Returns the names of those in which another policy is better. */
    static List<String> lost(long seed, int scenarios, int reads) throws IOException {
        List<Beside> all = new ArrayList<>();
        Set<String> leftOut = new TreeSet<>();
        System.out.printf("seed %d%n%s%n", seed, Beside.HEADER);
        for (int number = 0; number < scenarios; number++) {
            SimulationReport report = Scenarios.runAll(RandomScenarios.of(seed, number, reads));
            report.policies().stream()
                    .filter(each -> each.unsupported() == null && !each.isComparable())
                    .forEach(each -> leftOut.add(each.name()));
            all.add(Beside.of(report));
            System.out.println(all.getLast().line());
        }
        List<Beside> lost = all.stream().filter(each -> each.loss() > EQUAL).toList();
        System.out.printf("clairfs is best or equal in %d of %d%n", all.size() - lost.size(), all.size());
        System.out.printf(
                "not compared, since they read other samples or another order: %s%n", String.join(", ", leftOut));
        for (Beside each : lost) {
            System.out.printf("%n# %s%n%s", each.line(), ScenarioFile.text(each.scenario));
        }
        return lost.stream().map(each -> each.scenario.name()).toList();
    }

    /** Our result in a scenario, and that of the best other policy that reads all data in the sampler's order. */
    private record Beside(Scenario scenario, double bound, PolicyResult ours, PolicyResult best) {
        static final String HEADER = String.format(
                "%-14s %5s %6s %-22s %10s %8s %8s %-16s %8s",
                "scenario", "nodes", "epochs", "classes (share)", "bound s", "clairfs", "best", "other", "loss");

        static Beside of(SimulationReport report) {
            PolicyResult best = Scenarios.comparable(report).stream()
                    .filter(each -> !each.name().equals(Policies.CLAIRFS))
                    .min(Comparator.comparingDouble(PolicyResult::seconds))
                    .orElseThrow();
            return new Beside(
                    report.scenario(), report.lowerBoundSeconds(), Scenarios.of(report, Policies.CLAIRFS), best);
        }

        /** The share by which the best other policy is faster; negative where ours is. */
        double loss() {
            return ours.seconds() / best.seconds() - 1;
        }

        String line() {
            double data = scenario.dataset().samples() * scenario.dataset().mean();
            StringBuilder classes = new StringBuilder();
            for (Scenario.Device each : scenario.classes()) {
                classes.append(String.format(
                        Locale.ROOT, "%.1s %.2f ", each.name(), each.capacity() * scenario.nodes() / data));
            }
            return String.format(
                    Locale.ROOT,
                    "%-14s %5d %6d %-22s %10.2f %7.3fx %7.3fx %-16s %7.3f%%",
                    scenario.name(),
                    scenario.nodes(),
                    scenario.epochs(),
                    classes,
                    bound,
                    ours.seconds() / bound,
                    best.seconds() / bound,
                    best.name(),
                    100 * loss());
        }
    }
}
