package io.clairfs.tools.node.restart;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * How the mount's process is started again: with its own command line, in its own directory and environment.
 *
 * @param arguments of the command {@code mount}, as the user gave them
 * @param mostInAMinute how often within a minute; 0 for never
 */
public record RestartCommand(List<String> arguments, int mostInAMinute) {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final String MAIN = "io.clairfs.tools.cli.Main";

    public RestartCommand {
        arguments = List.copyOf(arguments);
    }

    /** Writes the script that starts it. */
    void write(RestartDirectory directory) throws IOException {
        List<String> own = Arrays.asList(Files.readString(COMMAND_LINE, UTF_8).split("\0", -1));
        int main = own.indexOf(MAIN);
        if (main < 0 || main + 1 >= own.size()) {
            throw new IOException("this process was not started as 'clairfs mount'");
        }
        // The command's name stays first, and what the supervisor adds comes before the user's arguments, which may
        // have a "--".
        directory.writeScript(Path.of("").toAbsolutePath(), own.subList(0, main + 2), arguments);
    }
}
