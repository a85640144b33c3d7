package io.clairfs.tools.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.tools.scratch.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The mount of the demonstration, started and ended by the commands that a user types. */
final class DemoMount {
    private static final long COMMAND_TIMEOUT_S = 90;
    private static final long STAGING_MIB = 64;

    private final List<String> clairfs;
    private final Scratch scratch;
    private final Path point;

    private DemoMount(List<String> clairfs, Scratch scratch, Path point) {
        this.clairfs = clairfs;
        this.scratch = scratch;
        this.point = point;
    }

    /**
     * Mounts {@code source} with the demonstration's tiers and a staging buffer.
     *
     * @param clairfs the words that run the command {@code clairfs}
     * @param name of its directories
     * @param bytes of the dataset
     */
    static DemoMount mount(List<String> clairfs, Scratch scratch, String name, Path source, long bytes, DemoSpec spec)
            throws IOException {
        DemoMount mount = new DemoMount(clairfs, scratch, scratch.subdirectory(name));
        List<String> arguments = new ArrayList<>(List.of(
                "mount",
                source.toString(),
                mount.point.toString(),
                "--memory",
                percent(spec.memoryPercent(), bytes),
                "--staging",
                STAGING_MIB + "MiB"));
        if (spec.ssdPercent() > 0) {
            Path disk = scratch.subdirectory(name + "-ssd");
            arguments.addAll(
                    List.of("--ssd", disk + ":" + percent(spec.ssdPercent(), bytes), "--ssd-reserve", "64MiB"));
        }
        mount.run(arguments.toArray(String[]::new));
        return mount;
    }

    private static String percent(int percent, long bytes) {
        return bytes * percent / 100 + "B";
    }

    Path point() {
        return point;
    }

    /** The output of {@code status --json}. */
    JsonNode status() throws IOException {
        return new JsonMapper().readTree(run("status", "--json", point.toString()));
    }

    void unmount() throws IOException {
        run("umount", point.toString());
    }

    private String run(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(clairfs);
        command.addAll(List.of(arguments));
        Path said = Files.createTempFile(scratch.directory(), arguments[0], ".out");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
        // The mount's process keeps its log and its listing in the scratch directory, which is removed at the end.
        builder.environment().put("XDG_STATE_HOME", scratch.directory().toString());
        builder.environment().put("XDG_CACHE_HOME", scratch.directory().toString());
        Process process = scratch.start(builder);
        process.getOutputStream().close();
        try {
            if (!process.waitFor(COMMAND_TIMEOUT_S, TimeUnit.SECONDS)) {
                throw new DemoException(
                        "'clairfs " + arguments[0] + "' did not return within " + COMMAND_TIMEOUT_S + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("interrupted in 'clairfs " + arguments[0] + "'");
        } finally {
            process.destroyForcibly();
        }
        String output = Files.readString(said, UTF_8);
        if (process.exitValue() != 0) {
            String reason = output.strip().lines().reduce((_, last) -> last).orElse("it gave no reason");
            throw new DemoException("'clairfs " + arguments[0] + "' failed: " + reason);
        }
        return output;
    }
}
