package io.clairfs.tools.node.restart;

import io.clairfs.tools.node.config.RestartConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The command that starts the mount's process again: its own command line, in its own directory and environment. */
record RestartCommand(RestartConfig config) {
    /** Writes the script that starts it. */
    void write(RestartDirectory directory) throws IOException {
        write(directory, MountCommandLine.own().program());
    }

    /** Writes the script that starts another program in its place, with the size of this one's heap. */
    void write(RestartDirectory directory, List<String> program) throws IOException {
        // The command's name stays first, and what the supervisor adds comes before the user's arguments, which may
        // have a "--".
        directory.writeScript(
                Path.of("").toAbsolutePath(), MountCommandLine.own().replacedBy(program), config.arguments());
    }
}
