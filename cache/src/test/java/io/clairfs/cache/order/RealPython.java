package io.clairfs.cache.order;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs the scripts in resources/differential with a Python that has the libraries to compare with. */
public final class RealPython {
    private static final long TIMEOUT_SECONDS = 600;

    private RealPython() {}

    /**
     * The lines that a script prints. The test is skipped when no Python of this machine has all of {@code modules}.
     *
     * @param directory for the script and its output
     */
    public static List<String> run(String script, Path directory, String modules, String... arguments)
            throws IOException, InterruptedException {
        Path copy = directory.resolve(script);
        try (InputStream in = RealPython.class.getResourceAsStream("/differential/" + script)) {
            Files.copy(in, copy);
        }
        List<String> command = new ArrayList<>(List.of(interpreter(modules), copy.toString()));
        command.addAll(Arrays.asList(arguments));
        Path output = directory.resolve(script + ".out");
        ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(output.toFile());
        builder.redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("PYTHONIOENCODING", "utf-8");
        builder.environment().put("PYTHONUTF8", "1");
        builder.environment()
                .put("TMPDIR", directory.toString()); // where workers of a process that is killed leave files
        if (wait(builder.start()) != 0) {
            throw new IOException(String.join(" ", command) + " failed");
        }
        return Files.readAllLines(output, UTF_8);
    }

    private static String interpreter(String modules) throws InterruptedException {
        for (String candidate : List.of("/usr/bin/python3", "python3")) {
            try {
                Process process = new ProcessBuilder(candidate, "-c", "import " + modules)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
                if (wait(process) == 0) {
                    return candidate;
                }
            } catch (IOException e) {
                System.out.println("RealPython: " + e.getMessage());
            }
        }
        assumeTrue(false, "no Python here has " + modules);
        throw new AssertionError();
    }

    private static int wait(Process process) throws InterruptedException {
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("Python did not end within " + TIMEOUT_SECONDS + " s");
        }
        return process.exitValue();
    }
}
