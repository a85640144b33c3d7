package io.clairfs.tools.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.tools.JavaCommand;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Real mounts for a test: a directory and daemons in processes of their own. Afterwards nothing is left of them, even after a failure.
 *
 * <p>In a static field it serves all tests of a class, in an instance field each test by itself. Tests of a class may use it at the same
 * time.
 */
final class MountFixture
        implements ExecutionCondition, BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    /** A need of the tests beside mounts. Returns why it cannot be met, or null if it can. */
    private interface Need {
        @Nullable
        String missing() throws IOException, InterruptedException;
    }

    /** Starts the mount's own process and waits until it says that the mount answers. Arguments: the log, the command. */
    private static final String AS_THE_LAUNCHER_DOES = """
            log=$1 code=0
            shift
            exec 8<"$log"
            exec 7< <(exec setsid "$@" </dev/null 2>"$log" 8<&-)
            if IFS= read -r -d '' -t 160 said <&7; then
                exit
            elif [ $? -gt 128 ]; then
                IFS= read -r -d '' -t 0.1 said <&7 && exit # it was this process that stood still
                echo "not ready within 160 s" >&2
            fi
            kill "$!" || true
            wait "$!" || code=$?
            echo "the process of the mount ended with code $code; its log:" >&2
            cat <&8 >&2
            exit 1
            """;

    private final Need need;
    private TestDirectory directory;
    private final List<Process> started = Collections.synchronizedList(new ArrayList<>());
    private final Map<String, String> further = new TreeMap<>();
    private final List<NodeNetwork> networks = Collections.synchronizedList(new ArrayList<>());
    private int depth;
    private int names;
    private boolean guarded;

    MountFixture() {
        this(() -> null);
    }

    private MountFixture(Need need) {
        this.need = need;
    }

    /** A fixture for tests that arrange devices for one process. */
    static MountFixture withNamespaces() {
        return new MountFixture(Requirements::missingForNamespaces);
    }

    /** A fixture for tests that give nodes networks of their own. */
    static MountFixture withNetworks() {
        return new MountFixture(Requirements::missingForNetworks);
    }

    /** For a static field this is called for the whole class, and again for each test, which adds nothing. */
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (context.getTestMethod().isPresent()) {
            return ConditionEvaluationResult.enabled("the class is");
        }
        try {
            String missing = Requirements.missingForMounts();
            if (missing == null) {
                missing = need.missing();
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

    private synchronized void open() throws IOException, InterruptedException {
        depth++;
        if (depth == 1) {
            Requirements.mounts();
            TestDirectory.removeLeftovers();
            NodeNetwork.removeLeftovers();
            KernelSetting.removeLeftovers();
            directory = TestDirectory.create();
            Path temporary = Files.createDirectory(temporary());
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxrwxrwx")); // for other users
        }
    }

    private synchronized void close() throws IOException, InterruptedException {
        depth--;
        if (depth == 0 && directory != null) {
            started.forEach(Process::destroyForcibly);
            started.clear();
            further.clear();
            try {
                directory.remove();
            } finally {
                directory = null;
                guarded = false;
                for (NodeNetwork network : networks) {
                    network.remove();
                }
                networks.clear();
            }
        }
    }

    /** The directory of the test. */
    Path directory() {
        return directory.path();
    }

    /** Has a process of its own end and remove everything if this process is killed. */
    synchronized void guard() throws IOException, InterruptedException {
        if (!guarded) {
            StressGuard.start(ProcessHandle.current().pid(), directory());
            guarded = true;
        }
    }

    /** Makes a new directory. */
    synchronized Path newDirectory(String name) throws IOException {
        return Files.createDirectory(directory().resolve(name + names++));
    }

    /** Runs {@code clairfs arguments...} to its end. */
    Ended clairfs(Object... arguments) throws IOException, InterruptedException {
        String[] texts = java.util.Arrays.stream(arguments).map(String::valueOf).toArray(String[]::new);
        return Ended.run(Clairfs.command(texts), environment());
    }

    /** Starts a process that ends with the test at the latest. Its output goes to a new file {@code NAME.out}. */
    Process start(String name, List<String> command) throws IOException {
        Process process =
                Ended.start(command, environment(), said(name), directory().resolve(name + ".err"));
        started.add(process);
        return process;
    }

    /** The output file of the process of this name. */
    Path said(String name) {
        return directory().resolve(name + ".out");
    }

    /** The output of the daemons so far. */
    String logs() throws IOException {
        StringBuilder said = new StringBuilder();
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(directory().resolve("clairfs"), "*.log")) {
            for (Path log : logs) {
                said.append(log.getFileName()).append(":\n").append(new String(Files.readAllBytes(log), UTF_8));
            }
        }
        return said.toString();
    }

    /** The environment of every command: the directory of its logs, and the variables that the test set. */
    Map<String, String> environment() {
        Map<String, String> all = new TreeMap<>(further);
        all.put("XDG_STATE_HOME", directory().toString());
        all.put("XDG_CACHE_HOME", directory().toString());
        return all;
    }

    /** Sets a variable in the environment of all further commands. */
    void environment(String name, String value) {
        further.put(name, value);
    }

    /** Makes a network for nodes. Each has a bandwidth of {@code bytesPerSecond} in and out. */
    NodeNetwork network(int nodes, long bytesPerSecond) throws IOException, InterruptedException {
        NodeNetwork network = NodeNetwork.make(nodes, bytesPerSecond);
        networks.add(network);
        return network;
    }

    /** Mounts {@code source} at a new mount point. */
    LiveMount mount(Path source, String... options) throws IOException, InterruptedException {
        return mountAt(newDirectory("mnt"), source, options);
    }

    /** Mounts {@code source} at {@code point}. */
    LiveMount mountAt(Path point, Path source, String... options) throws IOException, InterruptedException {
        return mountAt(UnaryOperator.identity(), point, source, options);
    }

    /** Mounts {@code source} at {@code point} by a command that {@code place} wraps. */
    LiveMount mountAt(UnaryOperator<String[]> place, Path point, Path source, String... options)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("mount", source.toString(), point.toString()));
        if (!List.of(options).contains("--restarts")) {
            arguments.addAll(List.of("--restarts", "0")); // what a test kills stays dead
        }
        arguments.addAll(List.of(options));
        Path logs = Files.createDirectories(directory().resolve("clairfs"));
        Files.setPosixFilePermissions(logs, PosixFilePermissions.fromString("rwx------"));
        Path log = Files.createTempFile(logs, "mount-", "");
        List<String> command =
                new ArrayList<>(List.of("/bin/bash", "-c", AS_THE_LAUNCHER_DOES, "mount", log.toString()));
        command.addAll(Clairfs.daemon(log, arguments));
        Map<String, String> environment = environment();
        environment.put(JavaCommand.ALLOCATION_VARIABLE, JavaCommand.ALLOCATION);
        Ended.run(List.of(place.apply(command.toArray(String[]::new))), environment)
                .succeeded();
        return new LiveMount(point);
    }

    /** Processes of the program that have this fixture's directory on their command line. */
    List<ProcessHandle> processes() {
        return directory.processes();
    }

    /** Mount points below the directory, the newest first. */
    List<Path> mounts() throws IOException {
        return directory.mounts();
    }

    /** Runs a script of the tests' resources, or a piece of Python, to its successful end. Returns its output. */
    String python(String script, Object... arguments) throws IOException, InterruptedException {
        return Ended.run(pythonCommand(script, arguments), Map.of()).succeeded();
    }

    /** The directory where Python's temporary files are, so that those of a killed process are removed. A socket has a short path there. */
    private Path temporary() {
        return directory().resolve("tmp");
    }

    /** The beginning of a command of Python. */
    List<String> interpreter() {
        return List.of("/usr/bin/env", "TMPDIR=" + temporary(), Requirements.PYTHON);
    }

    List<String> pythonCommand(String script, Object... arguments) throws IOException {
        String text = script;
        if (script.endsWith(".py")) {
            try (InputStream resource = MountFixture.class.getResourceAsStream(script)) {
                text = new String(resource.readAllBytes(), UTF_8);
            }
        }
        List<String> command = new ArrayList<>(interpreter());
        command.addAll(List.of("-c", text));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return command;
    }
}
