package io.clairfs.tools.cli;

import java.nio.file.Files;
import java.nio.file.Path;

/** Files that a command writes when it has worked for long. */
final class Outputs {
    private Outputs() {}

    /** Says before the work that a file cannot be written, where that is known. */
    static void requireWritable(Path file) throws CommandFailedException {
        Path parent = file.toAbsolutePath().getParent();
        if (Files.isDirectory(file)) {
            throw new CommandFailedException(file + " is a directory: name a file");
        }
        if (parent == null || !Files.isDirectory(parent)) {
            throw new CommandFailedException(file + " cannot be written: there is no directory " + parent);
        }
        if (!Files.isWritable(Files.exists(file) ? file : parent)) {
            throw new CommandFailedException(file + " cannot be written: permission denied");
        }
    }
}
