package io.clairfs.tools.cli;

import io.clairfs.tools.ByteSize;
import io.clairfs.tools.JavaCommand;
import io.clairfs.tools.demo.Demo;
import io.clairfs.tools.demo.DemoReport;
import io.clairfs.tools.demo.DemoSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows on this machine what clairfs does to a training run on a slow source. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        description = "Trains on a slow source, directly and through clairfs, and compares. Takes about a minute.")
final class DemoCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(
            names = "--files",
            paramLabel = "N",
            defaultValue = "2000",
            description = "JPEG files of about 110 KB in the dataset (default: ${DEFAULT-VALUE}).")
    private int files = 2000;

    @Option(
            names = "--epochs",
            paramLabel = "N",
            defaultValue = "3",
            description = "Epochs each way (default: ${DEFAULT-VALUE}).")
    private int epochs = 3;

    @Option(
            names = "--bandwidth",
            paramLabel = "SIZE",
            defaultValue = "80MB",
            description = "Rate of the source, per second, for all readers together (default: ${DEFAULT-VALUE}).")
    @SuppressWarnings("NullAway.Init")
    private ByteSize bandwidth;

    @Option(
            names = "--open-latency-ms",
            paramLabel = "N",
            defaultValue = "10",
            description = "Latency of each open of the source (default: ${DEFAULT-VALUE}).")
    private int openLatencyMs = 10;

    @Option(
            names = "--compute-ms",
            paramLabel = "N",
            defaultValue = "64",
            description = "Computation per batch of 32 samples (default: ${DEFAULT-VALUE}).")
    private int computeMs = 64;

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "2",
            description = "Reader processes of the trainer (default: ${DEFAULT-VALUE}).")
    private int workers = 2;

    @Option(
            names = "--memory-percent",
            paramLabel = "N",
            defaultValue = "125",
            description = "Memory for samples, percent of the dataset (default: ${DEFAULT-VALUE}).")
    private int memoryPercent = 125;

    @Option(
            names = "--ssd-percent",
            paramLabel = "N",
            defaultValue = "0",
            description = "Room for samples on the local disk, percent of the dataset (default: ${DEFAULT-VALUE}).")
    private int ssdPercent;

    @Option(names = "--json", description = "The figures as JSON.")
    private boolean json;

    @Option(names = "--plain", description = "Train with plain Python, where PyTorch is installed too; starts faster.")
    private boolean plain;

    @Option(
            names = "--feed",
            description =
                    "Decode the images, and train a third time, with batches of clairfs' feeder in place of the trainer's "
                            + "workers; needs PyTorch.")
    private boolean feed;

    @Option(
            names = "--no-seed",
            description = "The trainer does not tell its seed: clairfs finds it by the first reads.")
    private boolean noSeed;

    @Option(names = "--keep", description = "Leave the dataset and the logs, and say where.")
    private boolean keep;

    @Override
    public Integer call() throws IOException {
        DemoReport report = Demo.run(demoSpec(), plain, JavaCommand.thisProgram());
        System.out.print(json ? report.json() : report.text());
        return Main.DONE;
    }

    private DemoSpec demoSpec() {
        if (feed && (plain || noSeed)) {
            throw new ParameterException(
                    spec.commandLine(), "--feed needs PyTorch and the seed: it goes without --plain and --no-seed");
        }
        try {
            return new DemoSpec(
                    files,
                    epochs,
                    bandwidth.bytes(),
                    Duration.ofMillis(openLatencyMs),
                    Duration.ofMillis(computeMs),
                    workers,
                    memoryPercent,
                    ssdPercent,
                    feed,
                    !noSeed,
                    keep);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }
}
