package io.clairfs.tools.node.mount;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Reads a control file of a mount that may not answer.
 *
 * <p>A separate process reads: a thread that waits for a FUSE server cannot be interrupted, and would keep this process from ending.
 */
public final class ControlRead {
    /** The program where every system has it, because the PATH may lack its directory. */
    private static final String CAT = Stream.of("/bin/cat", "/usr/bin/cat")
            .filter(program -> Files.isExecutable(Path.of(program)))
            .findFirst()
            .orElse("cat");

    private ControlRead() {}

    /** The result of a read. */
    public sealed interface Answer {
        /** The content. */
        record Content(String text) implements Answer {}

        /** An error at once, in the system's English words: no process serves the mount, or this user may not read it. */
        record Refused(String reason) implements Answer {
            /** Whether the kernel has no process that serves the mount. */
            boolean isOfDeadMount() {
                return reason.endsWith("Transport endpoint is not connected")
                        || reason.endsWith("Software caused connection abort");
            }

            /** Whether another user may read it. */
            public boolean isOfPermission() {
                return reason.endsWith("Permission denied");
            }
        }

        /** No answer in time. */
        record Silence() implements Answer {}
    }

    /** Reads {@code file}; waits {@code timeoutMs} at most. */
    public static Answer read(Path file, long timeoutMs) throws IOException {
        ProcessBuilder reader = new ProcessBuilder(CAT, "--", file.toString());
        reader.environment().put("LC_ALL", "C.UTF-8"); // so that messages are in English
        Process cat = reader.start();
        cat.getOutputStream().close();
        CompletableFuture<String> out = collect(cat.getInputStream());
        CompletableFuture<String> err = collect(cat.getErrorStream());
        try {
            if (!cat.waitFor(timeoutMs, TimeUnit.MILLISECONDS)) {
                return new Answer.Silence();
            }
            return cat.exitValue() == 0
                    ? new Answer.Content(out.get(timeoutMs, TimeUnit.MILLISECONDS))
                    : new Answer.Refused(
                            err.get(timeoutMs, TimeUnit.MILLISECONDS).strip().replaceFirst("^[^ ]*cat: ", ""));
        } catch (TimeoutException e) {
            return new Answer.Silence();
        } catch (ExecutionException e) {
            throw new IOException("reading " + file, e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while reading " + file, e);
        } finally {
            cat.destroyForcibly();
        }
    }

    /** Reads the output while the process runs. Otherwise a long file would fill the pipe and block the process. */
    public static CompletableFuture<String> collect(InputStream from) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try (from) {
                        return new String(from.readAllBytes(), UTF_8);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                run -> Thread.ofPlatform().daemon().name("control-read").start(run));
    }

    /** The message for a mount that only another user may read. */
    public static String ofAnotherUser(Path mountPoint) {
        return "the control files of " + mountPoint + " are for the user who mounted it: call this as that user";
    }

    /** The message for {@link Answer.Silence}. */
    public static String silence(Path mountPoint, long timeoutMs) {
        List<Long> processes = MountProcess.of(mountPoint);
        return "the mount at " + mountPoint + " did not answer within " + timeoutMs / 1000 + " s; "
                + (processes.isEmpty()
                        ? "its process hangs"
                        : "its process " + processes.getFirst() + " is stopped or hangs: kill -CONT "
                                + processes.getFirst() + " if it is stopped")
                + ", or clairfs umount " + mountPoint;
    }
}
