package io.clairfs.tools.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.tools.JavaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A mount in its own process, as a user starts it. Closing it unmounts. */
public final class MountedProcess implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();
    private static final long COMMAND_TIMEOUT_S = 90;

    private final Path point;

    private MountedProcess(Path point) {
        this.point = point;
    }

    /** Runs {@code clairfs mount source point options...} and returns when it is ready. */
    public static MountedProcess start(Path source, Path point, List<String> options)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("mount", source.toString(), point.toString()));
        arguments.addAll(options);
        run(arguments);
        return new MountedProcess(point);
    }

    /** Runs {@code clairfs arguments...} to its end. Fails if the exit code is not 0. */
    public static void run(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(JavaCommand.asUsersStartIt());
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        if (!process.waitFor(COMMAND_TIMEOUT_S, TimeUnit.SECONDS)) {
            process.destroy();
            throw new IOException("clairfs " + arguments.getFirst() + " did not return");
        }
        if (process.exitValue() != 0) {
            throw new IOException("clairfs " + arguments.getFirst() + " failed: " + said);
        }
    }

    public Path point() {
        return point;
    }

    /** Writes one line to the job file. */
    public void writeJob(String line) throws IOException {
        Files.writeString(control("job"), line + "\n", StandardOpenOption.WRITE);
    }

    public JsonNode status() throws IOException {
        return JSON.readTree(Files.readString(control("status.json"), UTF_8));
    }

    /** The paths of the samples in index order. */
    public List<String> index() throws IOException {
        return Files.readAllLines(control("index"), UTF_8);
    }

    /** The sample indices that rank 0 of a job reads in an epoch. */
    public List<String> order(String job, int epoch) throws IOException {
        return Files.readAllLines(control("order").resolve(job).resolve(epoch + "/0"), UTF_8);
    }

    /** Waits until at least {@code samples} samples are staged for the newest job. */
    public void awaitStaged(int samples, long timeoutMs) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (status().path("jobs").path(0).path("staged_ahead").asInt() < samples) {
            if (System.nanoTime() > deadline) {
                throw new IOException("nothing was staged within " + timeoutMs + " ms");
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private Path control(String file) {
        return point.resolve(DatasetMount.CONTROL_DIRECTORY).resolve(file);
    }

    @Override
    public void close() throws IOException {
        try {
            run(List.of("umount", point.toString()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
