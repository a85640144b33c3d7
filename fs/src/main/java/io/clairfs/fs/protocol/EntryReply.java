package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** {@code struct fuse_entry_out} and {@code struct fuse_attr_out}: a node, and how long the kernel may rely on the reply. */
final class EntryReply {
    /** Bytes of {@code fuse_entry_out}. */
    static final int BYTES = 40 + NodeStat.BYTES;

    /** Bytes of {@code fuse_attr_out}. */
    static final int ATTRIBUTES_BYTES = 16 + NodeStat.BYTES;

    /** A day: nothing about a listed tree changes, but the clock may have been set. */
    private static final long VALID_S = 86_400;

    private EntryReply() {}

    /** Writes a node with its attributes. */
    static void write(NodeFilesystem filesystem, long node, MemorySegment into, long at) throws IOException {
        into.set(JAVA_LONG, at, node);
        into.set(JAVA_LONG, at + 8, 0); // generation: no number is ever used for another node
        into.set(JAVA_LONG, at + 16, VALID_S);
        into.set(JAVA_LONG, at + 24, VALID_S);
        into.set(JAVA_LONG, at + 32, 0); // nanoseconds of both
        filesystem.attributes(node, new NodeStat(into, at + 40));
    }

    /** Writes the attributes alone. */
    static void writeAttributes(NodeFilesystem filesystem, long node, MemorySegment into) throws IOException {
        into.set(JAVA_LONG, 0, VALID_S);
        into.set(JAVA_LONG, 8, 0);
        filesystem.attributes(node, new NodeStat(into, 16));
    }
}
