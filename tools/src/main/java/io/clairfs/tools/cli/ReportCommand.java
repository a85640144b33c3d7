package io.clairfs.tools.cli;

import io.clairfs.tools.config.ConfigFile;
import io.clairfs.tools.config.ModelFile;
import io.clairfs.tools.report.BottleneckReport;
import io.clairfs.tools.report.JobReport;
import io.clairfs.tools.report.ReportJson;
import io.clairfs.tools.report.ReportPage;
import io.clairfs.tools.report.ReportText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Says whether data is the bottleneck of the trainings on a mount, and what would change it. */
@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        description = "Says whether data is the bottleneck of each job: how long its training waited in each epoch,"
                + " what the simulator expects of this machine, and what more memory, SSD or loaders would change.")
final class ReportCommand implements Callable<Integer> {
    private static final JsonMapper JSON = new JsonMapper();

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "MOUNTPOINT", description = "The mount point, or any path below it.")
    @SuppressWarnings("NullAway.Init")
    private Path mountPoint;

    @Option(names = "--html", paramLabel = "FILE", description = "Writes an HTML page with figures instead.")
    private @Nullable Path html;

    @Option(names = "--json", description = "As JSON.")
    private boolean json;

    @Option(names = "--job", paramLabel = "NAME", description = "This job alone.")
    private @Nullable String job;

    @Option(
            names = "--calibration",
            paramLabel = "FILE",
            description = "A file of 'clairfs calibrate', measured on this machine. Without it nothing is simulated.")
    private @Nullable Path calibration;

    @Option(
            names = "--step",
            paramLabel = "SECONDS",
            description = "How long a step takes when its data is there (default: as seen while no reader waited).")
    private @Nullable Double step;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        if (step != null && !(step > 0 && step <= 86_400)) {
            throw new ParameterException(spec.commandLine(), "--step must be a number of seconds, such as 0.25");
        }
        if (step != null && calibration == null) {
            throw new ParameterException(spec.commandLine(), "--step goes with --calibration");
        }
        ModelFile measured =
                calibration == null ? null : ConfigFile.read(calibration).modelOrUnmeasured();
        if (measured != null && (measured.source() == null || !measured.source().hasReadRates())) {
            throw new CommandFailedException(calibration
                    + " has no rates of the source; measure them: clairfs calibrate SOURCE --write " + calibration);
        }
        ControlClient client = new ControlClient(mountPoint);
        JsonNode status = JSON.readTree(client.read("status.json"));
        List<JsonNode> jobs = jobs(client, status);
        List<JobReport> reports = new ArrayList<>();
        try (SimulationBar bar = new SimulationBar()) {
            for (JsonNode each : jobs) {
                reports.add(BottleneckReport.of(status, each, step, measured, bar));
            }
        }
        String mount = status.path("mount").asString();
        String source = status.path("source").asString();
        if (html != null) {
            write(html, ReportPage.of(mount, source, reports));
        }
        if (json) {
            System.out.print(ReportJson.of(mount, source, reports));
        } else if (html == null) {
            System.out.print(ReportText.of(reports));
        } else {
            reports.forEach(each -> System.out.println("job " + each.job().name() + ": " + each.verdict()));
        }
        return Main.DONE;
    }

    private static void write(Path file, String page) throws CommandFailedException {
        try {
            Files.writeString(file, page);
        } catch (IOException e) {
            throw new CommandFailedException(
                    "cannot write " + file + ": give --html a file in a directory that is there and can be written to");
        }
    }

    private List<JsonNode> jobs(ControlClient client, JsonNode status) throws CommandFailedException {
        List<JsonNode> chosen = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (JsonNode each : status.path("jobs")) {
            String name = each.path("name").asString();
            names.add(name);
            if (job == null || job.equals(name)) {
                chosen.add(each);
            }
        }
        if (names.isEmpty()) {
            throw new CommandFailedException("there is no job at " + client.root()
                    + " to report on; start one, train, and ask again: clairfs job start " + client.root()
                    + " seed=42");
        }
        if (chosen.isEmpty()) {
            throw new CommandFailedException(
                    "there is no job '" + job + "' at " + client.root() + ", but " + String.join(", ", names));
        }
        return chosen;
    }
}
