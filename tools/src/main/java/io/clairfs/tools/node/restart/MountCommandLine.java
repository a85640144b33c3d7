package io.clairfs.tools.node.restart;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The command line of a mount's process, as the kernel shows it.
 *
 * @param program starts a JVM of its program, up to the main class
 * @param given what follows the name of the command {@code mount}
 */
public record MountCommandLine(List<String> program, List<String> given) {
    private static final String MAIN = "io.clairfs.tools.cli.Main";
    private static final String COMMAND = "mount";
    private static final String HEAP = "-Xm";

    public MountCommandLine {
        program = List.copyOf(program);
        given = List.copyOf(given);
    }

    /** That of this process. */
    static MountCommandLine own() throws IOException {
        return of("self");
    }

    /**
     * That of another process.
     *
     * @throws IOException if it cannot be seen from here, or is no mount's process
     */
    public static MountCommandLine of(long process) throws IOException {
        return of(Long.toString(process));
    }

    private static MountCommandLine of(String process) throws IOException {
        String text = Files.readString(Path.of("/proc", process, "cmdline"), UTF_8);
        List<String> words = Arrays.asList(text.split("\0", -1)); // each ends in a zero byte, so the last one is empty
        int main = words.indexOf(MAIN);
        if (main < 0 || main + 2 >= words.size() || !words.get(main + 1).equals(COMMAND)) {
            throw new IOException("the process '" + process + "' was not started as 'clairfs mount'");
        }
        return new MountCommandLine(words.subList(0, main + 1), words.subList(main + 2, words.size() - 1));
    }

    /** The command that starts {@code other} in place of this program, up to the command's name: with the size of this one's heap unless it names one. */
    public List<String> replacedBy(List<String> other) {
        List<String> command = new ArrayList<>(other);
        if (other.stream().noneMatch(flag -> flag.startsWith(HEAP))) {
            program.stream().filter(flag -> flag.startsWith(HEAP)).forEach(flag -> command.add(1, flag));
        }
        command.add(COMMAND);
        return command;
    }

    /** Whether this process was started by {@code command}, which {@link #replacedBy} was given. */
    public boolean isOf(List<String> command) {
        return program.containsAll(command);
    }
}
