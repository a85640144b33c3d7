package io.clairfs.tools.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/** Samples for feeders below {@code train}: a header and random floats in each. */
final class FeedSamples {
    static final int SAMPLES = 103;

    /** In one class directory each: two names whose order differs between bytes of whole paths and class names. */
    private static final List<String> CLASSES = List.of("a", "a-b", "ä");

    private static final int HEADER_BYTES = 12;
    private static final int FLOATS = 6 * 5;

    private FeedSamples() {}

    static void make(Path source) throws IOException {
        Random random = new Random(5);
        for (int i = 0; i < SAMPLES; i++) {
            Path directory = Files.createDirectories(source.resolve("train/" + CLASSES.get(i % CLASSES.size())));
            byte[] content = new byte[HEADER_BYTES + Float.BYTES * FLOATS];
            random.nextBytes(content);
            Files.write(directory.resolve(i + ".jpg"), content);
        }
    }
}
