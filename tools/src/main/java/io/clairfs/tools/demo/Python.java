package io.clairfs.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The Python that runs the trainer.
 *
 * @param torch whether it has PyTorch and torchvision
 */
record Python(Path executable, boolean torch) {
    private static final Path DEBIANS = Path.of("/usr/bin/python3");
    private static final long TIMEOUT_S = 60;

    /** Returns Debian's Python if it has PyTorch, else the first one on the PATH that works. */
    static Python find() throws DemoException {
        if (Files.isExecutable(DEBIANS) && runs(DEBIANS, "import torch, torchvision")) {
            return new Python(DEBIANS, true);
        }
        Python plain = plain();
        return new Python(plain.executable, runs(plain.executable, "import torch, torchvision"));
    }

    /** The first one on the PATH that works, for a trainer without PyTorch. */
    static Python plain() throws DemoException {
        for (Path candidate : candidates().toList()) {
            if (runs(candidate, "import concurrent.futures")) {
                return new Python(candidate, false);
            }
        }
        throw new DemoException("no python3 on the PATH; on Debian: apt-get install python3-torch python3-torchvision");
    }

    private static Stream<Path> candidates() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("/usr/bin:/bin");
        return Stream.of(path.split(":", -1))
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, "python3"))
                .filter(Files::isExecutable);
    }

    private static boolean runs(Path executable, String program) {
        try {
            Process process = new ProcessBuilder(List.of(executable.toString(), "-c", program))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            if (process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                return process.exitValue() == 0;
            }
            process.destroyForcibly();
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (IOException cannotBeRun) {
            return false;
        }
    }

    /** The library of the trainer, for people. */
    String title() {
        return torch ? "PyTorch" : "plain Python";
    }
}
