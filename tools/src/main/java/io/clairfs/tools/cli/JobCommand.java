package io.clairfs.tools.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Tells a mount which training runs read through it. */
@Command(
        name = "job",
        mixinStandardHelpOptions = true,
        description = "Starts, lists and stops the jobs of a mount.",
        synopsisSubcommandLabel = "COMMAND")
final class JobCommand implements Runnable {
    @picocli.CommandLine.Spec
    @SuppressWarnings("NullAway.Init")
    private picocli.CommandLine.Model.CommandSpec spec;

    @Override
    public void run() {
        throw new picocli.CommandLine.ParameterException(spec.commandLine(), "give one of start, list, stop");
    }

    @Command(name = "start", mixinStandardHelpOptions = true, description = "Starts a job, or changes it.")
    int start(
            @Parameters(paramLabel = "MOUNTPOINT") Path mountPoint,
            @Parameters(paramLabel = "KEY=VALUE", arity = "1..*", description = "Such as seed=42 epochs=3 batch=32.")
                    List<String> pairs)
            throws IOException, CommandFailedException {
        new ControlClient(mountPoint).writeJob(String.join(" ", pairs));
        return Main.DONE;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists the jobs, one line each.")
    int list(@Parameters(paramLabel = "MOUNTPOINT") Path mountPoint) throws IOException, CommandFailedException {
        System.out.print(new ControlClient(mountPoint).read("job"));
        return Main.DONE;
    }

    @Command(name = "stop", mixinStandardHelpOptions = true, description = "Ends a job.")
    int stop(
            @Parameters(paramLabel = "MOUNTPOINT") Path mountPoint,
            @Parameters(paramLabel = "NAME", defaultValue = "train", description = "Default: ${DEFAULT-VALUE}.")
                    String name)
            throws IOException, CommandFailedException {
        new ControlClient(mountPoint).writeJob("stop=" + name);
        return Main.DONE;
    }
}
