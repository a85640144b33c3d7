package io.clairfs.tools.mount;

import io.clairfs.fs.faulty.FileContent;
import io.clairfs.fs.faulty.SourceFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The present and past contents of the files of a random test's source. Every content follows from a seed, so that a comparison needs no
 * other file, and a wrong byte shows its origin.
 */
final class StressTruth {
    private static final int PIECE = 1 << 20;

    private final SourceFiles files;
    private final Map<String, FileContent> originals = new ConcurrentHashMap<>();

    StressTruth(SourceFiles files) {
        this.files = files;
    }

    /** Makes a file of {@code size} bytes in the directory behind the source. Returns its content. */
    static FileContent make(Path file, long seed, long size) throws IOException {
        byte[] piece = new byte[(int) Math.min(size, PIECE)];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (long at = 0; at < size; at += piece.length) {
                int length = (int) Math.min(piece.length, size - at);
                FileContent.fill(seed, at, MemorySegment.ofArray(piece).asSlice(0, length));
                out.write(piece, 0, length);
            }
        }
        return new FileContent(size, Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS), OptionalLong.of(seed));
    }

    /** Adds a file of the source that was {@link #make made}. */
    void add(String path, FileContent made) {
        originals.put(path, made);
    }

    /** The content that the source has now. */
    FileContent now(String path) throws IOException {
        return ever(path).getLast();
    }

    /** Every content that the file ever had, the oldest first. */
    List<FileContent> ever(String path) throws IOException {
        FileContent original = original(path);
        return files.isChanged(path)
                ? files.ever(path).stream().map(c -> seeded(c, original)).toList()
                : List.of(original);
    }

    /** Returns the content with a seed. The content in the directory has none and gets the seed of the original. */
    private static FileContent seeded(FileContent content, FileContent original) {
        return content.seed().isPresent()
                ? content
                : new FileContent(content.size(), content.mtimeNs(), original.seed());
    }

    private FileContent original(String path) throws IOException {
        FileContent original = originals.get(path);
        if (original == null) {
            throw new IOException(path + " is not a file of this source");
        }
        return original;
    }

    /** {@code length} bytes from {@code offset} on of a content. */
    static byte[] bytes(FileContent content, long offset, int length) {
        byte[] bytes = new byte[length];
        FileContent.fill(content.seed().orElseThrow(), offset, MemorySegment.ofArray(bytes));
        return bytes;
    }

    /** The origin of eight bytes, the lowest first: file, version and offset. */
    String origin(long word) throws IOException {
        for (String path : originals.keySet()) {
            List<FileContent> all = ever(path);
            for (int version = 0; version < all.size(); version++) {
                long number = FileContent.wordNumber(all.get(version).seed().orElseThrow(), word);
                if (number >= 0 && number <= all.get(version).size() / Long.BYTES) {
                    return path + " version " + version + " of " + all.size() + " at " + number * Long.BYTES;
                }
            }
        }
        return word == 0 ? "zeros" : "no file of the source";
    }
}
