package io.clairfs.tools.cli;

import io.clairfs.tools.config.ConfigFile;
import io.clairfs.tools.simulate.SimulationReport;
import io.clairfs.tools.simulate.Simulator;
import io.clairfs.tools.simulate.policy.Policies;
import io.clairfs.tools.simulate.report.HtmlReport;
import io.clairfs.tools.simulate.scenario.Scenario;
import io.clairfs.tools.simulate.scenario.ScenarioFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares policies on a described cluster. */
@Command(
        name = "simulate",
        mixinStandardHelpOptions = true,
        description = {
            "Simulates a training run on a described cluster, under our policy and others:",
            "how long it takes, how long it waits for data, and what more storage would change."
        })
final class SimulateCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(
            paramLabel = "SCENARIO",
            arity = "0..1",
            description = "A YAML file, or the name of a scenario that comes with the program.")
    private @Nullable String scenario;

    @Option(
            names = "--policy",
            paramLabel = "P",
            split = ",",
            description = "Policies to simulate (default: all); partial-local:Q sets its fraction.")
    private @Nullable List<String> policies;

    @Option(
            names = "--calibration",
            paramLabel = "FILE",
            description = "A file of 'clairfs calibrate'; its rates replace those of the scenario.")
    private @Nullable Path calibration;

    @Option(names = "--json", description = "As JSON.")
    private boolean json;

    @Option(names = "--report", paramLabel = "FILE", description = "Writes an HTML page with figures.")
    private @Nullable Path report;

    @Option(names = "--list", description = "Lists scenarios and policies.")
    private boolean list;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        if (list) {
            System.out.println("scenarios: " + String.join(", ", ScenarioFile.names()));
            System.out.println("policies: " + Policies.LOWER_BOUND + ", " + String.join(", ", Policies.names()));
            return Main.DONE;
        }
        if (scenario == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "name a scenario: a file, or one of " + String.join(", ", ScenarioFile.names()));
        }
        List<String> names = policies == null ? Policies.names() : policies;
        try {
            names.forEach(Policies::check);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        if (report != null) {
            Outputs.requireWritable(report);
        }
        Scenario read = read(scenario);
        SimulationReport result;
        String page = "";
        try (SimulationBar bar = new SimulationBar()) {
            result = Simulator.run(read, names, bar);
            if (report != null) {
                page = HtmlReport.of(result, bar);
            }
        }
        System.out.print(json ? result.json() : result.text());
        if (report != null) {
            Files.writeString(report, page);
        }
        return Main.DONE;
    }

    private Scenario read(String nameOrFile) throws IOException, CommandFailedException {
        Scenario read = ScenarioFile.load(nameOrFile);
        if (calibration == null) {
            return read;
        }
        try {
            return read.calibrated(ConfigFile.read(calibration).modelOrUnmeasured());
        } catch (IllegalArgumentException e) {
            throw new CommandFailedException(calibration + ": " + e.getMessage());
        }
    }
}
