package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Real mounts for a test: a directory, daemons in processes of their own, and nothing left of them afterwards, whatever happens.
 *
 * <p>Registered in a static field it serves all tests of a class, in another field each test by itself.
 */
final class MountFixture
        implements ExecutionCondition, BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private final boolean namespaces;
    private TestDirectory directory;
    private final List<Process> started = new ArrayList<>();
    private int depth;
    private int names;

    MountFixture() {
        this(false);
    }

    private MountFixture(boolean namespaces) {
        this.namespaces = namespaces;
    }

    /** For tests that arrange devices for one process. */
    static MountFixture withNamespaces() {
        return new MountFixture(true);
    }

    /** In a static field this is asked for the whole class, and once more for each test, which adds nothing. */
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (context.getTestMethod().isPresent()) {
            return ConditionEvaluationResult.enabled("the class is");
        }
        try {
            String missing = Requirements.missingForMounts();
            if (missing == null && namespaces) {
                missing = Requirements.missingForNamespaces();
            }
            if (missing == null) {
                return ConditionEvaluationResult.enabled("can mount");
            }
            System.out.println("skipped: " + missing);
            return ConditionEvaluationResult.disabled(missing);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        open();
    }

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        open();
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        close();
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        close();
    }

    private void open() throws IOException, InterruptedException {
        depth++;
        if (depth == 1) {
            Requirements.mounts();
            TestDirectory.removeLeftovers();
            directory = TestDirectory.create();
        }
    }

    private void close() throws IOException, InterruptedException {
        depth--;
        if (depth == 0 && directory != null) {
            started.forEach(Process::destroyForcibly);
            started.clear();
            directory.remove();
            directory = null;
        }
    }

    /** Where the test may do what it likes. */
    Path directory() {
        return directory.path();
    }

    /** A new directory. */
    Path newDirectory(String name) throws IOException {
        return Files.createDirectory(directory().resolve(name + names++));
    }

    /** Runs {@code clairfs arguments...} to its end. */
    Ended clairfs(Object... arguments) throws IOException, InterruptedException {
        String[] texts = java.util.Arrays.stream(arguments).map(String::valueOf).toArray(String[]::new);
        return Ended.run(Clairfs.command(texts), environment());
    }

    /** Starts a process that ends with the test at the latest. What it says goes to a new file {@code NAME.out}. */
    Process start(String name, List<String> command) throws IOException {
        Process process =
                Ended.start(command, environment(), said(name), directory().resolve(name + ".err"));
        started.add(process);
        return process;
    }

    /** Where the process of this name says what it says. */
    Path said(String name) {
        return directory().resolve(name + ".out");
    }

    /** What every command is told beside its arguments: where its logs go. */
    Map<String, String> environment() {
        return Map.of("XDG_STATE_HOME", directory().toString());
    }

    /** Mounts {@code source} at a new mount point. */
    LiveMount mount(Path source, String... options) throws IOException, InterruptedException {
        return mountAt(newDirectory("mnt"), source, options);
    }

    /** Mounts {@code source} at {@code point}. */
    LiveMount mountAt(Path point, Path source, String... options) throws IOException, InterruptedException {
        List<Object> arguments = new ArrayList<>(List.of("mount", source, point));
        arguments.addAll(List.of(options));
        clairfs(arguments.toArray()).succeeded();
        return new LiveMount(point);
    }

    /** Processes of the program that were told of this fixture's directory. */
    List<ProcessHandle> processes() {
        return directory.processes();
    }

    /** Mount points below the directory, the newest first. */
    List<Path> mounts() throws IOException {
        return directory.mounts();
    }

    /** Runs a script of the tests' resources, or a piece of Python, to its successful end. Returns what it printed. */
    String python(String script, Object... arguments) throws IOException, InterruptedException {
        return Ended.run(pythonCommand(script, arguments), Map.of()).succeeded();
    }

    List<String> pythonCommand(String script, Object... arguments) throws IOException {
        String text = script;
        if (script.endsWith(".py")) {
            try (InputStream resource = MountFixture.class.getResourceAsStream(script)) {
                text = new String(resource.readAllBytes(), UTF_8);
            }
        }
        List<String> command = new ArrayList<>(List.of("/usr/bin/python3", "-c", text));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return command;
    }
}
