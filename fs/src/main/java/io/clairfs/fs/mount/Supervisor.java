package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.ChildProcess;
import io.clairfs.cache.posix.MessageIo;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.SharedDescriptor;
import io.clairfs.cache.posix.SocketPair;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A small process that keeps a mount's connection to the kernel open, and starts the mount's process again when that dies.
 *
 * <p>It holds the session's device, so the kernel keeps the connection: readers wait instead of getting an error, and pages stay in the page cache. It
 * runs {@code restart} in the directory of what a restart needs, which starts the process that takes over. That one has a supervisor of its own.
 * Where it cannot be restarted any more the connection is ended. See docs/decisions/restart.md.
 *
 * <p>Like the {@link Watchdog} it sleeps until the kernel signals the end of the thread that started it, which therefore does nothing else.
 *
 * <p>Life cycle: made when everything that a restart needs is saved; {@link #close} says that the mount ends, and waits for the supervisor's end.
 */
public final class Supervisor implements AutoCloseable {
    private static final long END_TIMEOUT_MS = 2_000;
    private static final int END_BYTES = 4;
    private static final int STANDARD_ERROR = 2;

    /** Starts the shell with that signal, if possible. Its first argument, which becomes its name, says whether the signal comes. */
    private static final String BEGIN = "script=$1; shift; setpriv --pdeathsig URG true 2>/dev/null &&"
            + " exec setpriv --pdeathsig URG /bin/sh -c \"$script\" told \"$@\"; exec /bin/sh -c \"$script\" look \"$@\"";

    /** What the script is given. */
    private static final List<Pattern> ARGUMENTS = List.of("[0-9]+", "[0-9]+:[0-9]+", "/.*", "/.*", "[0-9]+").stream()
            .map(argument -> Pattern.compile(argument, Pattern.DOTALL))
            .toList();

    private static final int NUMBER = 1;
    private static final int POINT = 2;

    private final int line;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private boolean closed;

    private Supervisor(int line) {
        this.line = line;
    }

    /**
     * The mount that a supervisor keeps.
     *
     * @param point the path of its mount point
     * @param number its device as in /proc/self/mountinfo
     */
    public record Kept(String point, String number) {}

    /** What a process keeps that has these arguments, its name first; null if it is no supervisor. */
    public static @Nullable Kept keptBy(List<String> arguments) {
        int first = arguments.size() - ARGUMENTS.size();
        if (first < 0) {
            return null;
        }
        for (int i = 0; i < ARGUMENTS.size(); i++) {
            if (!ARGUMENTS.get(i).matcher(arguments.get(first + i)).matches()) {
                return null;
            }
        }
        return new Kept(arguments.get(first + POINT), arguments.get(first + NUMBER));
    }

    /**
     * Starts one for this process.
     *
     * @param device the session's descriptor
     * @param number the mount's device as in /proc/self/mountinfo
     * @param directory has the script that starts the process again
     * @param restarts most restarts within a minute
     */
    static Supervisor start(Path point, SharedDescriptor device, String number, Path directory, int restarts)
            throws IOException {
        List<String> command = command(point, number, directory, restarts);
        int[] ends = SocketPair.open();
        int nothing = -1;
        Supervisor supervisor = new Supervisor(ends[0]);
        boolean running = false;
        try {
            nothing = Posix.openAt(Posix.AT_FDCWD, "/dev/null".getBytes(UTF_8), Posix.O_RDWR);
            if (!device.enter()) {
                throw new IOException("the mount is gone");
            }
            try {
                supervisor.run(command, nothing, nothing, STANDARD_ERROR, device.number(), ends[1]);
            } finally {
                device.leave();
            }
            running = true;
            return supervisor;
        } finally {
            Posix.close(ends[1]);
            if (nothing >= 0) {
                Posix.close(nothing);
            }
            if (!running) {
                Posix.close(ends[0]);
            }
        }
    }

    /** The command that becomes the supervisor of this process. */
    static List<String> command(Path point, String number, Path directory, int restarts) throws IOException {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", BEGIN, "sh"));
        command.add(Watchdog.script("connection.sh") + Watchdog.script("supervisor.sh"));
        command.addAll(List.of(
                Long.toString(ProcessHandle.current().pid()),
                number,
                point.toString(),
                directory.toString(),
                Integer.toString(restarts)));
        return command;
    }

    private void run(List<String> command, int... descriptors) throws IOException {
        List<String> environment = System.getenv().entrySet().stream()
                .map(variable -> variable.getKey() + "=" + variable.getValue())
                .toList();
        CompletableFuture<Integer> started = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("supervisor").start(() -> {
            try {
                int process = ChildProcess.startWith(command, environment, descriptors);
                started.complete(process);
                ChildProcess.awaitEnd(process);
            } catch (PosixException | RuntimeException | Error e) {
                started.completeExceptionally(e);
            } finally {
                ended.complete(null);
            }
        });
        try {
            started.get();
        } catch (ExecutionException e) {
            throw new IOException("the supervisor", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while starting the supervisor", e);
        }
    }

    /** Whether it waits no more: it was closed, or killed. */
    public boolean hasEnded() {
        return ended.isDone();
    }

    /** Says that the mount ends. A second call does nothing. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment end = arena.allocateFrom("end\n");
            MemorySegment piece = arena.allocate(MessageIo.IOVEC_BYTES, Long.BYTES);
            MessageIo.piece(piece, 0, end.address(), END_BYTES);
            int _ = MessageIo.writev(line, piece, 1); // fails where the supervisor was killed
            ended.get(END_TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException e) {
            System.getLogger(Supervisor.class.getName())
                    .log(
                            System.Logger.Level.WARNING,
                            "the supervisor has not ended; this process may be started again");
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        } finally {
            Posix.close(line);
        }
    }
}
