package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A process that has ended: its output and its exit code.
 *
 * @param err its output on stderr
 */
record Ended(int exit, String out, String err) {
    /** A command that takes longer hangs, even on a slow machine. */
    private static final long HANG_S = 600;

    /** Runs a command to its end. Fails if it does not end by itself. */
    static Ended run(List<String> command, Map<String, String> environment) throws IOException, InterruptedException {
        return run(command, environment, HANG_S);
    }

    /** The same within a given bound, in seconds. */
    static Ended run(List<String> command, Map<String, String> environment, long limitS)
            throws IOException, InterruptedException {
        Path out = Files.createTempFile("clairfs-out-", "");
        Path err = Files.createTempFile("clairfs-err-", "");
        try {
            Process process = start(command, environment, out, err);
            if (!process.waitFor(limitS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(
                        command + " did not end; it said:\n" + Files.readString(out) + Files.readString(err));
            }
            return new Ended(process.exitValue(), text(out), text(err));
        } finally {
            Files.delete(out);
            Files.delete(err);
        }
    }

    /** Starts a command without input. Its output goes to the two files. */
    static Process start(List<String> command, Map<String, String> environment, Path out, Path err) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().put("LC_ALL", "C.UTF-8");
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), UTF_8);
    }

    /** Fails unless the command succeeded. Returns its output. */
    String succeeded() {
        assertThat(exit).as("exit code; stdout: %s; stderr: %s", out, err).isZero();
        return out;
    }

    /** Fails unless the command ended with this code and exactly one line on stderr. Returns the line. */
    String complainedWith(int code) {
        assertThat(exit).as("exit code; stdout: %s; stderr: %s", out, err).isEqualTo(code);
        List<String> lines = err.lines().toList();
        assertThat(lines).as("lines on stderr").hasSize(1);
        assertThat(lines.getFirst()).startsWith("clairfs: ");
        return lines.getFirst();
    }
}
