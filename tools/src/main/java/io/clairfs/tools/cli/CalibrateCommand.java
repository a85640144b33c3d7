package io.clairfs.tools.cli;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.tools.calibrate.Calibration;
import io.clairfs.tools.calibrate.DecodeOperation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures the performance model's parameters and writes them as YAML, for {@code clairfs mount --config}. */
@Command(
        name = "calibrate",
        mixinStandardHelpOptions = true,
        description = "Measures source, SSD and memory, and writes what 'mount --config' reads.")
final class CalibrateCommand implements Callable<Integer> {
    private static final double MILLIS_PER_SECOND = 1e3;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "SOURCE", description = "The directory that holds the dataset; its files are read.")
    @SuppressWarnings("NullAway.Init")
    private Path source;

    @Option(
            names = "--ssd",
            paramLabel = "DIR",
            description = "A directory on the local disk to measure; half a gigabyte is written there and removed.")
    private @Nullable Path ssd;

    @Option(names = "--memory", description = "Measures memory too.")
    private boolean memory;

    @Option(
            names = "--decode",
            paramLabel = "OP",
            description =
                    "Measures how fast so many threads decode the files of SOURCE, too: image, or what the feeder makes"
                            + " of images, such as image,size=224,resize=256.")
    private @Nullable String decode;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "1",
            description = "Duration of each step, seconds (default: ${DEFAULT-VALUE}).")
    private double seconds = 1;

    @Option(
            names = {"-w", "--write"},
            paramLabel = "FILE",
            description = "Output file (default: standard output).")
    private @Nullable Path file;

    @Override
    public Integer call() throws IOException, CommandFailedException {
        if (!(seconds >= 0.01 && seconds <= 600)) {
            throw new ParameterException(spec.commandLine(), "--seconds must be 0.01 to 600");
        }
        if (!Files.isDirectory(source)) {
            throw new CommandFailedException("source " + source + " is not a directory");
        }
        if (file != null) {
            Outputs.requireWritable(file);
        }
        String text = Calibration.run(
                        source.toRealPath(), ssd, memory, operation(), (long) (seconds * MILLIS_PER_SECOND))
                .text();
        if (file == null) {
            System.out.print(text);
        } else {
            Files.writeString(file, text);
        }
        return Main.DONE;
    }

    private @Nullable DecodeOperation operation() {
        if (decode == null) {
            return null;
        }
        try {
            return DecodeOperation.of(decode);
        } catch (InvalidSpecException e) {
            throw new ParameterException(spec.commandLine(), "--decode " + decode + ": " + e.getMessage());
        }
    }
}
