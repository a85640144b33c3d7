package io.clairfs.tools.bench;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A directory for a measurement, gone when it is closed. */
public record WorkDirectory(Path path) implements AutoCloseable {
    /** A new one inside {@code parent}. */
    public static WorkDirectory in(Path parent) throws IOException {
        return new WorkDirectory(
                Files.createTempDirectory(parent.toAbsolutePath().normalize(), "clairfs-work-"));
    }

    @Override
    public void close() throws IOException {
        Files.walkFileTree(path, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(
                    Path directory, @org.jspecify.annotations.Nullable IOException thrown) throws IOException {
                Files.delete(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
