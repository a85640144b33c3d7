package io.clairfs.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.dataset.DatasetMount;
import io.clairfs.tools.node.mount.ControlRead;
import io.clairfs.tools.node.mount.ControlRead.Answer;
import io.clairfs.tools.node.mount.MountCheck;
import io.clairfs.tools.node.restart.RestartDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Talks to a mount through its control files. */
final class ControlClient {
    private static final long ANSWER_TIMEOUT_MS = 15_000;

    /** As long as the supervisor waits for a new process. */
    private static final long RESTART_TIMEOUT_MS = 60_000;

    private static final long RESTART_POLL_MS = 100;
    private static final String NOT_THERE = "No such file or directory";

    private final Path control;
    private final Path root;

    /** Finds the mount of {@code inside}, which is its mount point or any path below. */
    ControlClient(Path inside) throws IOException, CommandFailedException {
        Path here = inside.toAbsolutePath().normalize();
        Path mounted = above(here, path -> path);
        if (mounted == null) {
            mounted = above(here, MountCheck::real);
        }
        if (mounted == null) {
            throw new CommandFailedException(
                    here + " is not on a clairfs mount; mount one: clairfs mount SOURCE " + here);
        }
        root = mounted;
        control = mounted.resolve(DatasetMount.CONTROL_DIRECTORY);
    }

    /**
     * Finds the nearest mount point in the mount table, by the names that {@code real} gives to paths. The mount itself is not accessed,
     * because it may hang.
     */
    private static @Nullable Path above(Path path, UnaryOperator<Path> real) throws IOException {
        for (Path at = path; at != null; at = at.getParent()) {
            if (MountCheck.isOurs(real.apply(at))) {
                return at;
            }
        }
        return null;
    }

    /** Maps a path through the mount to its path in the dataset. Any other path counts as a path in the dataset already. */
    Path inDataset(Path path) {
        Path absolute = path.toAbsolutePath().normalize();
        return absolute.startsWith(root) ? root.relativize(absolute) : path.normalize();
    }

    /** The mount point. */
    Path root() {
        return root;
    }

    /** The path of a control file. */
    Path file(String name) {
        return control.resolve(name);
    }

    String read(String file) throws IOException, CommandFailedException {
        Answer answer = ControlRead.read(control.resolve(file), ANSWER_TIMEOUT_MS);
        if (answer instanceof Answer.Refused && awaitRestart()) {
            answer = ControlRead.read(control.resolve(file), ANSWER_TIMEOUT_MS);
        }
        return switch (answer) {
            case Answer.Content(String text) -> text;
            case Answer.Refused(String reason) when reason.endsWith(NOT_THERE) -> throw new NoSuchFileException(file);
            case Answer.Refused refused
            when refused.isOfPermission() -> throw new CommandFailedException(ControlRead.ofAnotherUser(root));
            case Answer.Refused(String reason) -> throw new CommandFailedException(reason);
            case Answer.Silence() -> throw new CommandFailedException(ControlRead.silence(root, ANSWER_TIMEOUT_MS));
        };
    }

    /** Where the mount's process has died and is being started again: waits for the new one. Returns whether a process answers now. */
    private boolean awaitRestart() throws IOException, CommandFailedException {
        Path status = control.resolve("status.json");
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RESTART_TIMEOUT_MS);
        while (true) {
            if (ControlRead.read(status, ANSWER_TIMEOUT_MS) instanceof Answer.Content) {
                return true; // perhaps only since the answer before this
            }
            if (!RestartDirectory.isAboutToStart(MountCheck.real(root)) || System.nanoTime() > deadline) {
                return false;
            }
            try {
                TimeUnit.MILLISECONDS.sleep(RESTART_POLL_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommandFailedException(
                        "interrupted while the process of " + root + " is being started again");
            }
        }
    }

    /** Writes one message to the job file. */
    void writeJob(String line) throws IOException, CommandFailedException {
        String _ = read("job"); // a read of a hanging mount has a timeout, a write has none
        ByteBuffer message = ByteBuffer.wrap((line + "\n").getBytes(UTF_8));
        try (FileChannel job = FileChannel.open(control.resolve("job"), StandardOpenOption.WRITE)) {
            int _ = job.write(message); // at once: each write is a message of its own
        } catch (IOException e) {
            throw new CommandFailedException(lastError(e));
        }
    }

    /** Why a write to a control file was refused: the last line of the mount's errors; what the write says itself if there is none. */
    String lastError(IOException refusal) throws IOException, CommandFailedException {
        List<String> errors = read("errors").lines().toList();
        return errors.isEmpty() ? String.valueOf(refusal.getMessage()) : withoutTime(errors.getLast());
    }

    private static String withoutTime(String line) {
        return line.substring(line.indexOf(' ') + 1);
    }
}
