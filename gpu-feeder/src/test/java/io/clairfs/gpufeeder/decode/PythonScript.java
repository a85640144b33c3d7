package io.clairfs.gpufeeder.decode;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Runs the scripts of resources/decode with Debian's Python. */
public final class PythonScript {
    private static final String PYTHON = "/usr/bin/python3";
    private static final long TIMEOUT_SECONDS = 300;

    private PythonScript() {}

    /** The lines that the script prints. The test is skipped where Python lacks {@code module}. */
    public static List<String> run(Path directory, String module, String script, String... arguments)
            throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of(PYTHON)), PYTHON + " is not there");
        assumeTrue(
                run(directory.resolve("import.out"), List.of(PYTHON, "-c", "import " + module)),
                PYTHON + " has no " + module);
        Path copy = directory.resolve(script);
        try (InputStream in = Objects.requireNonNull(PythonScript.class.getResourceAsStream("/decode/" + script))) {
            Files.write(copy, in.readAllBytes());
        }
        List<String> command = new ArrayList<>(List.of(PYTHON, copy.toString()));
        command.addAll(List.of(arguments));
        Path output = directory.resolve(script + ".out");
        assertThat(run(output, command)).as(String.join(" ", command)).isTrue();
        return Files.readAllLines(output, UTF_8);
    }

    private static boolean run(Path output, List<String> command) throws IOException, InterruptedException {
        Path errors = output.resolveSibling(output.getFileName() + ".err");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(output.toFile()).redirectError(errors.toFile());
        builder.environment().put("OMP_NUM_THREADS", "1");
        Process process = builder.start();
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError(String.join(" ", command) + " did not end within " + TIMEOUT_SECONDS + " s");
        }
        if (process.exitValue() != 0) {
            System.out.println(Files.readString(errors, UTF_8));
        }
        return process.exitValue() == 0;
    }
}
