package io.clairfs.tools.simulate;

import io.clairfs.tools.simulate.scenario.Scenario;
import java.util.List;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The results for a scenario; the names of the components are the keys of {@link #json}, in snake case.
 *
 * @param scenario the scenario as read
 * @param lowerBoundSeconds the time of a run in which data is always ready
 * @param policies in the order of the request
 */
public record SimulationReport(Scenario scenario, double lowerBoundSeconds, List<PolicyResult> policies) {
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    public SimulationReport {
        policies = List.copyOf(policies);
    }

    /** The report for programs: one JSON object. */
    public String json() {
        return JSON.writeValueAsString(this) + "\n";
    }

    /** The report for people. */
    public String text() {
        return SimulationText.of(this);
    }

    /** One sentence that says whether the run waits for data. */
    public String verdict() {
        return SimulationText.verdict(this);
    }
}
