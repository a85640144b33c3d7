package io.clairfs.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.tools.node.mount.ControlRead;
import io.clairfs.tools.node.mount.MountProcess;
import io.clairfs.tools.node.restart.MountCommandLine;
import io.clairfs.tools.node.restart.RestartDirectory;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks the program of an upgrade whether it could go on with a mount, while the mount's process still serves it. A process of that program is started as the
 * supervisor will start it: with the same arguments, environment and directory. It reads the options and the files that they name, loads libfuse, and ends.
 *
 * @param process the mount's process
 * @param kept what a restart of it needs
 */
record UpgradeCheck(long process, RestartDirectory kept) {
    /** As long as the supervisor gives a process to take over. */
    private static final long TIMEOUT_MS = 60_000;

    private static final Path NULL = Path.of("/dev/null");
    private static final Path ROOT = Path.of("/");
    private static final String COMPLAINT = "clairfs: ";

    /**
     * Returns if {@code program}, a command up to the main class, could go on with the mount.
     *
     * @throws CommandFailedException with the reason why it could not
     */
    void require(List<String> program) throws IOException, CommandFailedException {
        MountCommandLine now = commandLine();
        List<String> command = new ArrayList<>(now.replacedBy(program));
        command.addAll(RestartOptions.toCheck(kept.path(), now.given()));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory().toFile())
                .redirectInput(NULL.toFile())
                .redirectOutput(Redirect.DISCARD);
        takeEnvironment(builder.environment());
        Process asked = builder.start();
        try {
            CompletableFuture<String> said = ControlRead.collect(asked.getErrorStream());
            if (!asked.waitFor(TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                throw refusal("it did not say so within " + TIMEOUT_MS / 1000 + " s");
            }
            if (asked.exitValue() != Main.DONE) {
                throw refusal(reason(said.get(TIMEOUT_MS, TimeUnit.MILLISECONDS), asked.exitValue()));
            }
        } catch (TimeoutException | ExecutionException unread) {
            throw refusal("what it says cannot be read");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailedException("interrupted; process " + process + " goes on with the mount");
        } finally {
            Process _ = asked.destroyForcibly();
        }
    }

    private MountCommandLine commandLine() throws CommandFailedException {
        try {
            return MountCommandLine.of(process);
        } catch (IOException e) {
            throw new CommandFailedException(
                    "process " + process + ", which serves the mount, cannot be seen from here;"
                            + " call 'clairfs upgrade' as its user, and in its container");
        }
    }

    private CommandFailedException refusal(String reason) {
        return new CommandFailedException("this program could not go on with the mount, so process " + process
                + " does; put this right and call 'clairfs upgrade' again: " + reason);
    }

    /** Where the supervisor's script goes. */
    private Path directory() {
        try {
            Path its = MountProcess.directory(process);
            return Files.isDirectory(its) ? its : ROOT;
        } catch (IOException notTold) {
            return ROOT;
        }
    }

    /** Takes the environment of the mount's process, which its supervisor has, too. It stays this one's where the kernel does not tell it. */
    private void takeEnvironment(Map<String, String> into) {
        String all;
        try {
            Path environment = Path.of("/proc", Long.toString(process), "environ");
            all = new String(Files.readAllBytes(environment), UTF_8);
        } catch (IOException notTold) {
            return;
        }
        into.clear();
        for (String variable : all.split("\0", -1)) {
            int equals = variable.indexOf('=');
            if (equals > 0) {
                into.put(variable.substring(0, equals), variable.substring(equals + 1));
            }
        }
    }

    private static String reason(String said, int code) {
        List<String> lines =
                said.lines().filter(line -> !line.isBlank()).toList().reversed();
        return lines.stream()
                .filter(line -> line.startsWith(COMPLAINT))
                .map(line -> line.substring(COMPLAINT.length()))
                .findFirst()
                .orElseGet(() -> lines.isEmpty() ? "it ended with code " + code : lines.getFirst());
    }
}
