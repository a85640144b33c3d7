package io.clairfs.cache.seed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/** Lines for the one who waits for a benchmark, and in a file. Each is written at once, so that one that is ended early has told what it saw. */
final class BenchmarkReport {
    private final Path file;

    /** Appends to {@code target/NAME}. */
    BenchmarkReport(String name) {
        file = Path.of("target", name).toAbsolutePath();
    }

    void line(String format, Object... arguments) {
        String line = String.format(Locale.ROOT, format, arguments) + "\n";
        System.out.print(line);
        System.out.flush();
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, line, UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The processor time of this thread, seconds: other load hardly matters to it. */
    static double cpuSeconds() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
    }
}
