package io.clairfs.tools.node.restart;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.tools.node.config.RestartConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The command that starts the mount's process again: its own command line, in its own directory and environment. */
record RestartCommand(RestartConfig config) {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final String MAIN = "io.clairfs.tools.cli.Main";
    private static final String COMMAND = "mount";
    private static final String HEAP = "-Xm";

    /** Writes the script that starts it. */
    void write(RestartDirectory directory) throws IOException {
        write(directory, own());
    }

    /** Writes the script that starts another program in its place, with the size of this one's heap. */
    void write(RestartDirectory directory, List<String> program) throws IOException {
        List<String> command = new ArrayList<>(program);
        if (program.stream().noneMatch(flag -> flag.startsWith(HEAP))) {
            own().stream().filter(flag -> flag.startsWith(HEAP)).forEach(flag -> command.add(1, flag));
        }
        // The command's name stays first, and what the supervisor adds comes before the user's arguments, which may
        // have a "--".
        command.add(COMMAND);
        directory.writeScript(Path.of("").toAbsolutePath(), command, config.arguments());
    }

    /** The command line of this process up to the main class. */
    private static List<String> own() throws IOException {
        List<String> own = Arrays.asList(Files.readString(COMMAND_LINE, UTF_8).split("\0", -1));
        int main = own.indexOf(MAIN);
        if (main < 0 || main + 1 >= own.size() || !own.get(main + 1).equals(COMMAND)) {
            throw new IOException("this process was not started as 'clairfs mount'");
        }
        return own.subList(0, main + 1);
    }
}
