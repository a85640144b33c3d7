package io.clairfs.gpufeeder.decode.array;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/** The beginning of a file, and how long the whole is. */
record FirstBytes(MemorySegment bytes, long fileBytes) {
    /** At most {@code most} bytes of it. */
    static FirstBytes of(Path file, int most) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new FirstBytes(MemorySegment.ofArray(in.readNBytes(most)), Files.size(file));
        }
    }
}
