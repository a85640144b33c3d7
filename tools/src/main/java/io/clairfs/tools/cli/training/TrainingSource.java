package io.clairfs.tools.cli.training;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.slow.SlowMount;
import io.clairfs.fs.slow.SlowSourceSpec;
import io.clairfs.tools.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The dataset behind a source whose opens take a moment, so that nodes rather fetch samples from each other. It is mounted by a process of
 * its own, for what it does is not to be learned, until it is closed or this process ends.
 */
final class TrainingSource implements AutoCloseable {
    private static final SlowSourceSpec SLOWNESS = new SlowSourceSpec(1_000_000_000, Duration.ofMillis(3));
    private static final String MOUNTED = "mounted";

    private final Process process;
    private final Path root;

    private TrainingSource(Process process, Path root) {
        this.process = process;
        this.root = root;
    }

    /** Mounts {@code dataset}, or has it as it is where that is not possible. */
    static TrainingSource of(Path dataset, Path mountPoint) throws IOException {
        List<String> command = new ArrayList<>(JavaCommand.shortProgram(TrainingSource.class.getName()));
        command.addAll(List.of(dataset.toString(), mountPoint.toString()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader said = process.inputReader(UTF_8);
        return new TrainingSource(process, MOUNTED.equals(said.readLine()) ? mountPoint : dataset);
    }

    /** Where its files are. */
    Path root() {
        return root;
    }

    /** Takes the dataset and an empty directory; mounts until its input ends. */
    public static void main(String[] arguments) throws IOException {
        Path mountPoint = Files.createDirectories(Path.of(arguments[1]));
        try (SlowMount _ = SlowMount.mount(Path.of(arguments[0]), mountPoint, SLOWNESS)) {
            System.out.println(MOUNTED);
            while (System.in.read() >= 0) {
                // whoever started it writes nothing
            }
        }
    }

    /** Unmounts it, once nobody has a file of it open. */
    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
    }
}
