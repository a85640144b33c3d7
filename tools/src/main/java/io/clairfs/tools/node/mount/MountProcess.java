package io.clairfs.tools.node.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The process that serves a mount, as /proc shows it, for mounts that do not answer. */
public final class MountProcess {
    private static final Path PROC = Path.of("/proc");
    private static final String PROGRAM = "io.clairfs.tools.cli.Main";
    private static final String COMMAND = "mount";
    private static final List<String> FOREGROUND = List.of("-f", "--foreground");

    private MountProcess() {}

    /** The state of a process. */
    public enum State {
        GONE,
        LIVES,
        /** It has ended, except for threads that wait in the kernel and cannot be ended. */
        WAITS_IN_THE_KERNEL
    }

    /** The processes of this program that serve {@code mountPoint}; normally one. */
    public static List<Long> of(Path mountPoint) {
        List<Long> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : all) {
                if (serves(process, mountPoint)) {
                    found.add(Long.parseLong(process.getFileName().toString()));
                }
            }
        } catch (IOException unreadable) {
            return List.of();
        }
        return found;
    }

    /** Whether {@code pid} is a process of this program. */
    public static boolean isOurs(long pid) {
        try {
            return arguments(PROC.resolve(Long.toString(pid))).contains(PROGRAM);
        } catch (IOException gone) {
            return false;
        }
    }

    private static boolean serves(Path process, Path mountPoint) {
        try {
            List<String> arguments = arguments(process);
            int at = arguments.indexOf(PROGRAM);
            if (at < 0 || at + 1 >= arguments.size() || !arguments.get(at + 1).equals(COMMAND)) {
                return false;
            }
            List<String> given = arguments.subList(at + 2, arguments.size());
            Path here = Files.readSymbolicLink(process.resolve("cwd"));
            return given.stream().anyMatch(FOREGROUND::contains)
                    && given.stream()
                            .anyMatch(a -> MountCheck.real(here.resolve(a)).equals(mountPoint));
        } catch (IOException | RuntimeException goneOrNotOurs) {
            return false;
        }
    }

    private static List<String> arguments(Path process) throws IOException {
        return Arrays.asList(Files.readString(process.resolve("cmdline"), UTF_8).split("\0", -1));
    }

    /** The state of {@code pid} now. */
    public static State state(long pid) {
        Path process = PROC.resolve(Long.toString(pid));
        try {
            String stat = Files.readString(process.resolve("stat"), UTF_8);
            char state = stat.charAt(stat.lastIndexOf(')') + 2);
            if (state != 'Z' && state != 'X') {
                return State.LIVES;
            }
            int threads = 0;
            try (DirectoryStream<Path> tasks = Files.newDirectoryStream(process.resolve("task"))) {
                for (Path _ : tasks) {
                    threads++;
                }
            }
            return threads > 1 ? State.WAITS_IN_THE_KERNEL : State.GONE;
        } catch (IOException gone) {
            return State.GONE;
        }
    }
}
