package io.clairfs.fs.faulty;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The files of a faulty source: changes them, and knows every content that each of them ever had.
 *
 * <p>The directory behind the source is never touched. Each content has a modification time of its own, also when the file gets back what it
 * had before: a store whose content changes and whose size and time do not cannot be told from one that did not change. Paths are relative to the
 * source's root.
 */
public final class SourceFiles {
    /** What the times of consecutive contents differ by: less than a second, which is all that some programs look at. */
    private static final long BETWEEN_NS = TimeUnit.MILLISECONDS.toNanos(1) + 1;

    private final Path directory;
    private final Faults faults;
    private final ConcurrentHashMap<String, SourceFile> changed = new ConcurrentHashMap<>();

    SourceFiles(Path directory, Faults faults) {
        this.directory = directory;
        this.faults = faults;
    }

    /** Puts other content of the same size there. */
    public FileContent replace(String path, long seed) throws IOException {
        return change("replaced", path, was -> next(was, was.now().size(), OptionalLong.of(seed)));
    }

    /** Puts other content of another size there. */
    public FileContent replace(String path, long seed, long size) throws IOException {
        return change("resized", path, was -> next(was, size, OptionalLong.of(seed)));
    }

    /** Leaves the first {@code size} bytes, as its size then says. */
    public FileContent truncate(String path, long size) throws IOException {
        return change("truncated", path, was -> {
            if (size > was.now().size()) {
                throw new IllegalArgumentException(
                        path + " has only " + was.now().size() + " bytes");
            }
            return next(was, size, was.now().seed());
        });
    }

    /** Lets reads end after {@code length} bytes, while size and time stay as they were; until {@link #uncut}. */
    public FileContent cut(String path, long length) throws IOException {
        return change("cut", path, was -> new SourceFile(was.ever(), length));
    }

    /** Ends a {@link #cut}. */
    public FileContent uncut(String path) throws IOException {
        return change("uncut", path, was -> new SourceFile(was.ever(), SourceFile.WHOLE));
    }

    /** Puts back what the directory has. */
    public FileContent restore(String path) throws IOException {
        return change("restored", path, was -> next(was, was.ever().getFirst().size(), OptionalLong.empty()));
    }

    /** What a reader that asks now has to get. */
    public FileContent now(String path) throws IOException {
        return ever(path).getLast();
    }

    /** Every content that the file ever had, the oldest first. */
    public List<FileContent> ever(String path) throws IOException {
        SourceFile file = changed.get(path);
        return file == null ? List.of(original(path)) : file.ever();
    }

    /** Whether the file was ever changed. */
    public boolean isChanged(String path) {
        return changed.containsKey(path);
    }

    /** The bytes of a content of this file. */
    public byte[] bytes(String path, FileContent content) throws IOException {
        return bytes(path, content, 0, Math.toIntExact(content.size()));
    }

    /** {@code length} bytes from {@code offset} on of a content of this file; all of them are there. */
    public byte[] bytes(String path, FileContent content, long offset, int length) throws IOException {
        byte[] bytes = new byte[length];
        if (content.seed().isPresent()) {
            FileContent.fill(content.seed().getAsLong(), offset, MemorySegment.ofArray(bytes));
            return bytes;
        }
        try (RandomAccessFile file =
                new RandomAccessFile(directory.resolve(path).toFile(), "r")) {
            file.seek(offset);
            file.readFully(bytes);
        }
        return bytes;
    }

    /** The file if it was ever changed. */
    @Nullable
    SourceFile changed(String path) {
        return changed.get(path);
    }

    private static SourceFile next(SourceFile was, long size, OptionalLong seed) {
        return was.with(new FileContent(size, was.now().mtimeNs() + BETWEEN_NS, seed));
    }

    private FileContent change(String how, String path, UnaryOperator<SourceFile> change) throws IOException {
        FileContent original = original(path);
        SourceFile is = changed.compute(
                path,
                (_, was) -> change.apply(was == null ? new SourceFile(List.of(original), SourceFile.WHOLE) : was));
        faults.count(how);
        return is.now();
    }

    private FileContent original(String path) throws IOException {
        Path file = directory.resolve(path);
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(path + " is not a file of this source");
        }
        return new FileContent(
                Files.size(file), Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS), OptionalLong.empty());
    }
}
