package io.clairfs.tools.report;

import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.simulate.Simulator;
import io.clairfs.tools.simulate.scenario.InvalidScenarioException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Makes the report on a job. */
public final class BottleneckReport {
    private BottleneckReport() {}

    /**
     * The report. What cannot be simulated is reported without.
     *
     * @param status of the mount, as in {@code status.json}
     * @param job one of those in it
     * @param stepSeconds what a step takes when its data is there; null to take it from the status
     * @param measured on this machine; null if nothing was
     */
    public static JobReport of(
            JsonNode status,
            JsonNode job,
            @Nullable Double stepSeconds,
            @Nullable ModelFile measured,
            Simulator.Listener listener) {
        MeasuredJob seen = MeasuredJob.of(job);
        if (measured == null) {
            return new JobReport(seen, null, unmeasured(status));
        }
        try {
            JobScenario scenario = JobScenario.of(status, job, stepSeconds, measured);
            return new JobReport(seen, Outlook.of(scenario, measured, listener), null);
        } catch (JobScenario.UnknownException | InvalidScenarioException e) {
            return new JobReport(seen, null, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) { // a scenario with a value out of its range
            return new JobReport(seen, null, "this job is no scenario for the simulator: " + e.getMessage());
        }
    }

    private static String unmeasured(JsonNode status) {
        return "this machine was not measured; measure it: clairfs calibrate "
                + status.path("source").asString() + " --memory --ssd DIR --write rates.yaml, then: clairfs report "
                + status.path("mount").asString() + " --calibration rates.yaml";
    }
}
