package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** Samples of random bytes, no two files alike. */
final class Images {
    private Images() {}

    /**
     * Writes {@code 0.jpg}, {@code 1.jpg} and so on, each of {@code bytes}, into {@code directory}. Makes the directory if it is missing.
     */
    static void make(Path directory, int count, int bytes) throws IOException {
        Files.createDirectories(directory);
        Random random = new Random(directory.getFileName().hashCode());
        byte[] content = new byte[bytes];
        for (int i = 0; i < count; i++) {
            random.nextBytes(content);
            Files.write(directory.resolve(i + ".jpg"), content);
        }
    }
}
