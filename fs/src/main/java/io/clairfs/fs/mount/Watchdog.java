package io.clairfs.fs.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A small process beside the one that serves FUSE mounts. It ends their connections if the serving process is killed and cannot end.
 *
 * <p>The kernel ends a killed process when none of its threads waits in the kernel any more. A thread that pushes pages may wait for a reader that
 * waits for the process. A thread that looks up a name on its own process's mount may wait for an answer that never comes. Without help they and all
 * readers would wait for ever. The same goes for a thread that waits for a dead source.
 *
 * <p>It sleeps until the kernel signals the end of the thread that started it, so a thread of this process does nothing else while the watchdog runs.
 * Where that signal cannot be requested, it looks once a second. See docs/decisions/watchdog.md.
 *
 * <p>One watchdog serves all mounts of this process. Its arguments are the mounts, so it is replaced when they change. The lock of {@code WATCHED}
 * guards both.
 */
final class Watchdog {
    /** Starts the shell with that signal, if possible. The script's first argument says whether the signal comes. */
    private static final String BEGIN =
            "setpriv --pdeathsig URG true && exec setpriv --pdeathsig URG /bin/sh -s told \"$@\";"
                    + " exec /bin/sh -s look \"$@\"";

    private static final List<Watch> WATCHED = new ArrayList<>();
    private static @Nullable Process process;

    private Watchdog() {}

    /** A mount that is watched over until this is closed. */
    static final class Watch implements AutoCloseable {
        private final Path point;
        private final String device;

        private Watch(Path point, String device) {
            this.point = point;
            this.device = device;
        }

        @Override
        public void close() {
            forget(this);
        }
    }

    /**
     * Watches over a mount of this process.
     *
     * @param device the mount's device as in /proc/self/mountinfo
     */
    static Watch over(Path point, String device) throws IOException {
        Watch watch = new Watch(point, device);
        synchronized (WATCHED) {
            WATCHED.add(watch);
            try {
                replace();
            } catch (IOException e) {
                WATCHED.remove(watch);
                throw e;
            }
        }
        return watch;
    }

    private static void forget(Watch watch) {
        synchronized (WATCHED) {
            WATCHED.remove(watch);
            try {
                replace();
            } catch (IOException e) {
                System.getLogger(Watchdog.class.getName())
                        .log(System.Logger.Level.WARNING, "the watchdog knows a mount that is gone", e);
            }
        }
    }

    /** Starts the new watchdog before it ends the old one. */
    private static void replace() throws IOException {
        Process old = process;
        process = WATCHED.isEmpty() ? null : start();
        if (old != null) {
            old.destroyForcibly();
        }
    }

    /** The command that watches over {@code pid}. It reads the script from its standard input, which stays open. */
    static List<String> command(long pid, List<String> devicesAndPoints) {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", BEGIN, "sh", Long.toString(pid)));
        command.addAll(devicesAndPoints);
        return command;
    }

    private static Process start() throws IOException {
        List<String> mounts = WATCHED.stream()
                .flatMap(w -> List.of(w.device, w.point.toString()).stream())
                .toList();
        ProcessBuilder builder = new ProcessBuilder(
                        command(ProcessHandle.current().pid(), mounts))
                .directory(Path.of("/").toFile())
                .redirectOutput(Redirect.DISCARD)
                .redirectError(Redirect.DISCARD);
        CompletableFuture<Process> started = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("watchdog").start(() -> startAndStay(builder, started));
        try {
            Process fresh = started.get();
            script(fresh);
            return fresh;
        } catch (ExecutionException e) {
            throw new IOException("the watchdog", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while starting the watchdog", e);
        }
    }

    private static void startAndStay(ProcessBuilder builder, CompletableFuture<Process> started) {
        try {
            Process process = builder.start();
            started.complete(process);
            process.waitFor();
        } catch (IOException | RuntimeException | Error e) {
            started.completeExceptionally(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void script(Process fresh) throws IOException {
        try {
            fresh.getOutputStream().write(script().getBytes(UTF_8));
            fresh.getOutputStream().flush();
        } catch (IOException e) {
            fresh.destroyForcibly();
            throw e;
        }
    }

    /** What the shell runs. */
    static String script() throws IOException {
        return script("connection.sh") + script("watchdog.sh");
    }

    /** A script of this package. */
    static String script(String name) throws IOException {
        try (InputStream script = Watchdog.class.getResourceAsStream(name)) {
            return new String(script.readAllBytes(), UTF_8);
        }
    }
}
