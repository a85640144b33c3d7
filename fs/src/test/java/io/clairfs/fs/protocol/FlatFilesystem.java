package io.clairfs.fs.protocol;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.SourceFailedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** One directory with files called "file-0" and so on, whose reads a test answers. */
final class FlatFilesystem implements NodeFilesystem {
    static final long FIRST = 100;
    static final int MODE = FileStatus.REGULAR | 0644;
    static final long MTIME_NS = -1_500_000_000L;

    private final int files;
    private final long bytes;
    private final Reads reads;

    /** Answers reads. */
    @FunctionalInterface
    interface Reads {
        void read(long file, long offset, int length, ReadReply reply) throws IOException;
    }

    FlatFilesystem(int files, long bytes, Reads reads) {
        this.files = files;
        this.bytes = bytes;
        this.reads = reads;
    }

    static byte[] name(long file) {
        return ("file-" + file).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public long lookup(long directory, byte[] name) throws IOException {
        String text = new String(name, StandardCharsets.UTF_8);
        if (text.equals("failing")) {
            throw new SourceFailedException("failing", io.clairfs.cache.posix.Errno.EACCES);
        }
        for (int file = 0; file < files; file++) {
            if (text.equals("file-" + file)) {
                return FIRST + file;
            }
        }
        return NONE;
    }

    @Override
    public long parent(long directory) {
        return ROOT;
    }

    @Override
    public void attributes(long node, NodeStat into) {
        if (node == ROOT) {
            into.set(node, FileStatus.DIRECTORY | 0755, 1, 2, 0, 0);
        } else {
            into.set(node, MODE, 3, 4, bytes, MTIME_NS);
        }
    }

    @Override
    public byte[] linkTarget(long link) {
        return new byte[] {'a', '/', 'b'};
    }

    @Override
    public void list(long directory, long first, EntrySink into) throws IOException {
        for (long file = first; file < files; file++) {
            if (!into.add(name(file), FileStatus.REGULAR, FIRST + file)) {
                return;
            }
        }
    }

    @Override
    public void read(long file, long offset, int length, int thread, ReadReply reply) throws IOException {
        reads.read(file, offset, length, reply);
    }

    @Override
    public Content content() {
        return new Content(files * bytes, files);
    }

    @Override
    public byte[] path(long node) {
        return node == ROOT ? new byte[] {'/'} : ("/file-" + (node - FIRST)).getBytes(StandardCharsets.UTF_8);
    }
}
