package io.clairfs.tools.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.report.EpochChart;
import io.clairfs.tools.simulate.report.HtmlReport;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import io.clairfs.tools.simulate.scenario.Scenarios;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SimulationReportTest {
    @Test
    void json_has_what_programs_rely_on() throws IOException {
        SimulationReport report = Scenarios.runAll(Scenarios.small());
        JsonNode json = JsonMapper.shared().readTree(report.json());
        assertThat(json.propertyNames()).containsExactly("scenario", "lower_bound_seconds", "policies");
        assertThat(json.at("/scenario/drop_last").asBoolean()).isTrue();
        assertThat(json.at("/scenario/sync").asString()).isEqualTo("bulk");
        assertThat(json.at("/policies")).hasSize(Policies.names().size());
        for (JsonNode policy : json.at("/policies")) {
            assertThat(policy.propertyNames())
                    .contains(
                            "name",
                            "seconds",
                            "epochs",
                            "fetched",
                            "stall_seconds",
                            "imbalanced_iterations",
                            "order_changed",
                            "full_dataset",
                            "unsupported");
            for (String place : new String[] {"memory", "ssd", "peer", "source"}) {
                assertThat(policy.at("/fetched/" + place).propertyNames()).containsExactly("count", "bytes");
            }
        }
        assertThat(json.at("/policies/0/epochs")).hasSize(4);
    }

    @Test
    void policies_that_change_the_order_or_leave_data_out_are_marked() throws IOException {
        SimulationReport report = Scenarios.runAll(Scenarios.small());
        assertThat(Scenarios.of(report, "deepio-opportunistic").orderChanged()).isTrue();
        assertThat(Scenarios.of(report, "deepio-opportunistic").fullDataset()).isFalse();
        assertThat(Scenarios.of(report, "locality-aware").orderChanged()).isTrue();
        assertThat(Scenarios.of(report, "locality-aware").fullDataset()).isTrue();
        assertThat(Scenarios.of(report, Policies.CLAIRFS).isComparable()).isTrue();
        assertThat(report.text())
                .contains("changes the order")
                .contains("leaves data out")
                .contains("cannot run this");
    }

    @Test
    void page_is_self_contained() throws IOException {
        String page = HtmlReport.of(Scenarios.runAll(Scenarios.small()), Scenarios.SILENT);
        assertThat(page)
                .startsWith("<!doctype html>")
                .contains("<svg", "What if", "clairfs", "width=device-width", "dataset", "cannot run this")
                .doesNotContainPattern("(?i)https?://|src=|href=|@import|url\\(|<script|NaN|Infinity");
        assertThat(page.split("<svg", -1)).hasSize(1 + 5);
    }

    /** A policy that is much slower than the others does not affect the scale. */
    @Test
    void epochs_that_differ_a_little_can_be_told_apart_beside_one_that_is_slow() throws IOException {
        Scenario scenario = Scenarios.small().withEpochs(2);
        SimulationReport report = Scenarios.runAll(scenario);
        PolicyResult some = Scenarios.of(report, Policies.CLAIRFS);
        SimulationReport apart = new SimulationReport(
                scenario,
                20,
                List.of(taking(some, "slow", 100, 99), taking(some, "one", 11, 10), taking(some, "other", 12, 10)));
        assertThat(EpochChart.of(apart))
                .contains("points='10.0,14.0 354.0,14.0'") // at the top
                .contains("points='10.0,106.0 354.0,190.0'") // half way between the computation alone, 10 s, and the
                // longest
                .contains("points='10.0,22.0 354.0,190.0'")
                .contains("slow: up to 100 s", "not to scale");
    }

    private static PolicyResult taking(PolicyResult some, String name, double first, double second) {
        return new PolicyResult(
                name,
                first + second,
                List.of(first, second),
                0,
                some.fetched(),
                some.fetchSeconds(),
                0,
                0,
                false,
                true,
                null);
    }

    @Test
    void page_of_a_cluster_without_storage() throws IOException {
        Scenario scenario =
                ScenarioFile.read("bare", Scenarios.FILE.replaceAll("(?s)classes:.*?source", "classes: []\nsource"));
        assertThat(scenario.classes()).isEmpty();
        assertThat(HtmlReport.of(Scenarios.runAll(scenario), Scenarios.SILENT)).doesNotContain("What if", "NaN");
    }
}
