package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.posix.FileStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A page of a directory: {@code struct fuse_dirent}s, or {@code struct fuse_direntplus}s, which bring the attributes as well, so that whoever
 * walks the tree leaves nothing to be looked up. "." and ".." come first. An entry's offset is the number of those before the next one.
 */
final class DirectoryReply implements NodeFilesystem.EntrySink {
    private static final int DIRENT_BYTES = 24;
    private static final int DOTS = 2;

    private final NodeFilesystem filesystem;
    private final Layout layout;
    private final MemorySegment body;
    private long filled;
    private long offset;

    /** What an entry is. */
    enum Layout {
        /** {@code struct fuse_dirent}. */
        NAMES,
        /** {@code struct fuse_direntplus}. */
        WITH_ATTRIBUTES,
        /** The same without a node, by which the kernel knows that there are no attributes. */
        ATTRIBUTES_LEFT_OUT
    }

    DirectoryReply(NodeFilesystem filesystem, Layout layout, MemorySegment body) {
        this.filesystem = filesystem;
        this.layout = layout;
        this.body = body;
    }

    /** Fills the page with what comes behind {@code from} entries. Returns its bytes; 0 is the end of the directory. */
    long fill(long directory, long from) throws IOException {
        offset = from;
        boolean room = true;
        if (offset == 0) {
            room = put(new byte[] {'.'}, FileStatus.DIRECTORY, directory, false);
        }
        if (room && offset == 1) {
            room = put(new byte[] {'.', '.'}, FileStatus.DIRECTORY, filesystem.parent(directory), false);
        }
        if (room) {
            filesystem.list(directory, offset - DOTS, this);
        }
        return filled;
    }

    @Override
    public boolean add(byte[] name, int type, long node) throws IOException {
        return put(name, type, node, layout == Layout.WITH_ATTRIBUTES);
    }

    /** Without attributes the kernel takes a name of a page with attributes for a name and no more. */
    private boolean put(byte[] name, int type, long node, boolean withAttributes) throws IOException {
        long entry = layout == Layout.NAMES ? 0 : EntryReply.BYTES;
        long length = (entry + DIRENT_BYTES + name.length + 7) & ~7L;
        if (filled + length > body.byteSize()) {
            return false;
        }
        if (withAttributes) {
            EntryReply.write(filesystem, node, body, filled);
        }
        long at = filled + entry;
        offset++;
        body.set(JAVA_LONG, at, node);
        body.set(JAVA_LONG, at + 8, offset);
        body.set(JAVA_INT, at + 16, name.length);
        body.set(JAVA_INT, at + 20, type >> 12); // DT_ numbers are the type bits, moved
        MemorySegment.copy(name, 0, body, JAVA_BYTE, at + DIRENT_BYTES, name.length);
        filled += length;
        return true;
    }
}
