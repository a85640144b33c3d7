package io.clairfs.fs.slow;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A shell command that reads a mount; bytes of its output are kept as characters of the same number. */
public record NativeReader(int exitCode, String output) {
    private static final long TIMEOUT_S = 60;

    /** Runs {@code script} with the words after it as $1, $2, and so on. */
    public static NativeReader sh(String script, Object... words) throws IOException, InterruptedException {
        return await(start(script, words));
    }

    public static Process start(String script, Object... words) throws IOException {
        List<String> command = new java.util.ArrayList<>(List.of("sh", "-c", script, "sh"));
        for (Object word : words) {
            command.add(word.toString());
        }
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(Map.of("LC_ALL", "C"));
        Process process = builder.start();
        process.getOutputStream().close();
        return process;
    }

    public static NativeReader await(Process process) throws IOException, InterruptedException {
        String output = new String(process.getInputStream().readAllBytes(), ISO_8859_1);
        assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).as("ends").isTrue();
        return new NativeReader(process.exitValue(), output);
    }

    /** Every entry below {@code directory}: path, type, mode, size, time, target. */
    static String listing(Path directory) throws IOException, InterruptedException {
        NativeReader find = sh("cd \"$1\" && find . -printf '%P|%y|%m|%s|%T@|%l\\n' | sort", directory);
        assertThat(find.exitCode()).as(find.output()).isZero();
        return find.output();
    }
}
