package io.clairfs.tools.node.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.mount.FuseConnection;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The process that serves a mount, as /proc shows it, for mounts that do not answer. */
public final class MountProcess {
    private static final long RESOLVE_TIMEOUT_MS = 2_000;
    static final Path PROC = Path.of("/proc");
    private static final Path NAMESPACE = Path.of("ns/mnt");
    private static final String PROGRAM = "io.clairfs.tools.cli.Main";
    private static final String COMMAND = "mount";
    private static final String JAVA = "/java";
    private static final List<String> FOREGROUND = List.of("-f", "--foreground");

    private static final int STACKS_TIMEOUT_S = 5;

    private MountProcess() {}

    /** The state of a process. */
    public enum State {
        GONE,
        LIVES,
        /** It has ended, except for threads that wait in the kernel and cannot be ended. */
        WAITS_IN_THE_KERNEL
    }

    /** The other processes of this program that serve {@code mountPoint}; normally one. This one may be about to serve it. */
    public static List<Long> of(Path mountPoint) {
        return others(process -> serves(process, mountPoint) && isHere(process, mountPoint));
    }

    /** Those of {@link #of} that have made a mount, or are about to: they do not go on with that of a process that died. */
    public static List<Long> making(Path mountPoint) {
        return others(process -> serves(process, mountPoint) && makes(process) && isHere(process, mountPoint));
    }

    /** The other processes of which {@code so} holds for their directories in /proc. */
    static List<Long> others(Predicate<Path> so) {
        long own = ProcessHandle.current().pid();
        List<Long> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path process : all) {
                long pid = Long.parseLong(process.getFileName().toString());
                if (pid != own && so.test(process)) {
                    found.add(pid);
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

    /** Whether {@code pid}, which the mount itself names, is its process: seen from another container the number may be that of a stranger. */
    public static boolean isOf(long pid, Path mountPoint) {
        Path process = PROC.resolve(Long.toString(pid));
        return isOurs(pid) && isHere(process, mountPoint);
    }

    /**
     * Whether what a process sees at the mount point is the same as here. A container may have another mount at the same place, and so may a job with a /tmp of its
     * own, and their processes may be seen from here.
     */
    private static boolean isHere(Path process, Path mountPoint) {
        try {
            return namespace(process).equals(namespace(PROC.resolve("self")))
                    || FuseConnection.isSeenBy(process, FuseConnection.device(mountPoint));
        } catch (IOException goneOrNotToBeSeen) {
            return false;
        }
    }

    /** The set of mounts that a process sees. */
    static Path namespace(Path process) throws IOException {
        return Files.readSymbolicLink(process.resolve(NAMESPACE));
    }

    /** Whether another process was given {@code path}, as an argument or behind the {@code =} of one. */
    public static boolean isNamed(Path path) {
        return !others(process -> names(process, path.toString())).isEmpty();
    }

    private static boolean names(Path process, String path) {
        try {
            return arguments(process).stream().anyMatch(each -> each.equals(path) || each.endsWith("=" + path));
        } catch (IOException gone) {
            return false;
        }
    }

    private static boolean serves(Path process, Path mountPoint) {
        try {
            List<String> arguments = arguments(process);
            int at = arguments.indexOf(PROGRAM);
            // A shell that starts the process has the same words behind its own.
            boolean isJava = arguments.getFirst().endsWith(JAVA);
            if (!isJava
                    || at < 0
                    || at + 1 >= arguments.size()
                    || !arguments.get(at + 1).equals(COMMAND)) {
                return false;
            }
            List<String> given = arguments.subList(at + 2, arguments.size());
            Path here = Files.readSymbolicLink(process.resolve("cwd"));
            return given.stream().anyMatch(FOREGROUND::contains)
                    && (given.stream().anyMatch(a -> here.resolve(a).normalize().equals(mountPoint))
                            || isReally(given.stream().map(here::resolve).toList(), mountPoint));
        } catch (IOException | RuntimeException goneOrNotOurs) {
            return false;
        }
    }

    private static boolean makes(Path process) {
        try {
            List<String> arguments = arguments(process);
            return arguments.contains(PROGRAM) && arguments.stream().noneMatch(RestartProcesses::isToTakeOver);
        } catch (IOException gone) {
            return false;
        }
    }

    /** Whether one of these paths leads to {@code mountPoint}. One that leads to a source that does not answer is waited for a moment only. */
    private static boolean isReally(List<Path> paths, Path mountPoint) {
        CompletableFuture<Boolean> found = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("resolver").start(() -> {
            try {
                found.complete(
                        paths.stream().anyMatch(path -> MountCheck.real(path).equals(mountPoint)));
            } catch (RuntimeException e) {
                found.complete(false);
            }
        });
        return found.completeOnTimeout(false, RESOLVE_TIMEOUT_MS, TimeUnit.MILLISECONDS)
                .join();
    }

    /** What a process was started with, its name first, and an empty word at the end. That has one that is gone alone. */
    static List<String> arguments(Path process) throws IOException {
        return Arrays.asList(Files.readString(process.resolve("cmdline"), UTF_8).split("\0", -1));
    }

    /** What {@code clairfs mount} was given that became process {@code pid}; empty if it cannot be read. */
    public static List<String> given(long pid) {
        try {
            List<String> all = arguments(PROC.resolve(Long.toString(pid)));
            int at = all.indexOf(PROGRAM);
            return at < 0 || at + 2 > all.size()
                    ? List.of()
                    : all.subList(at + 2, all.size()).stream()
                            .filter(argument -> !argument.isEmpty())
                            .toList();
        } catch (IOException gone) {
            return List.of();
        }
    }

    /** The directory to which its paths are relative. */
    public static Path directory(long pid) throws IOException {
        return Files.readSymbolicLink(PROC.resolve(Long.toString(pid)).resolve("cwd"));
    }

    /** The file that it writes its messages to. */
    public static Path log(long pid) throws IOException {
        return Files.readSymbolicLink(PROC.resolve(Long.toString(pid)).resolve("fd/2"));
    }

    /** Has a process of ours write the stacks of its threads to its log, as every JVM does, and waits a second for it. */
    public static void writeStacks(long pid) throws IOException {
        Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -QUIT \"$0\" && sleep 1", Long.toString(pid)).start();
        kill.getOutputStream().close();
        try {
            boolean _ = kill.waitFor(STACKS_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            kill.destroyForcibly();
        }
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
