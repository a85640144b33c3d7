package io.clairfs.gpufeeder.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where jcuda unpacks its library: a directory of our own, for as long as it is loaded.
 *
 * <p>jcuda would use the directory for temporary files, under a name that is always the same, and load what it finds there: a file that another
 * user of the machine has put there, for one.
 */
final class NativeDirectory implements AutoCloseable {
    private static final String PROPERTY = "java.io.tmpdir";

    private final String usual;
    private final Path own;

    private NativeDirectory(String usual, Path own) {
        this.usual = usual;
        this.own = own;
    }

    static NativeDirectory open() {
        try {
            String usual = System.getProperty(PROPERTY);
            Path own = Files.createTempDirectory("clairfs-jcuda-");
            System.setProperty(PROPERTY, own.toString());
            return new NativeDirectory(usual, own);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A library that is loaded no longer needs its file. */
    @Override
    public void close() {
        System.setProperty(PROPERTY, usual);
        try (Stream<Path> unpacked = Files.list(own)) {
            List<Path> files = unpacked.toList();
            for (Path file : files) {
                Files.delete(file);
            }
            Files.delete(own);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
