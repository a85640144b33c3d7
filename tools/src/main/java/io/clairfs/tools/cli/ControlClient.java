package io.clairfs.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.fs.mount.DatasetMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Talks to a mount through its control files. */
final class ControlClient {
    private final Path control;
    private final Path root;

    /** The mount that {@code inside}, its mount point or any path below, belongs to. */
    ControlClient(Path inside) throws CommandFailedException {
        Path here = inside.toAbsolutePath().normalize();
        for (Path at = here; at != null; at = at.getParent()) {
            Path candidate = at.resolve(DatasetMount.CONTROL_DIRECTORY);
            if (Files.exists(candidate.resolve("status.json"))) {
                control = candidate;
                root = at;
                return;
            }
        }
        throw new CommandFailedException(here + " is not on a clairfs mount; mount one: clairfs mount SOURCE " + here);
    }

    /** A path through the mount as one in the dataset; any other is taken to be one in the dataset already. */
    Path inDataset(Path path) {
        Path absolute = path.toAbsolutePath().normalize();
        return absolute.startsWith(root) ? root.relativize(absolute) : path.normalize();
    }

    String read(String file) throws IOException {
        return Files.readString(control.resolve(file), UTF_8);
    }

    /** Writes one message to the job file. */
    void writeJob(String line) throws IOException, CommandFailedException {
        try {
            Files.write(control.resolve("job"), (line + "\n").getBytes(UTF_8), StandardOpenOption.WRITE);
        } catch (IOException e) {
            List<String> errors = read("errors").lines().toList();
            throw new CommandFailedException(
                    errors.isEmpty() ? String.valueOf(e.getMessage()) : withoutTime(errors.getLast()));
        }
    }

    private static String withoutTime(String line) {
        return line.substring(line.indexOf(' ') + 1);
    }
}
