package io.clairfs.fs.protocol;

import java.io.IOException;

/**
 * A read-only tree whose files and directories have numbers. A {@link ProtocolSession} answers the kernel from it.
 *
 * <p>A number means the same for the life of the tree, so the session keeps no record of what the kernel knows. The root has {@link #ROOT}.
 * Methods run on the session's threads, many at once. What they throw becomes an errno.
 */
public interface NodeFilesystem {
    /** The number of the root, which the protocol fixes. */
    long ROOT = 1;

    /** In place of a number: there is no such node. */
    long NONE = 0;

    /** The number of the entry called {@code name} in a directory, or {@link #NONE}. */
    long lookup(long directory, byte[] name) throws IOException;

    /** The directory above; the root is its own. */
    long parent(long directory);

    /** Writes the attributes of a node to {@code into}. */
    void attributes(long node, NodeStat into) throws IOException;

    /** The target of a symbolic link. */
    byte[] linkTarget(long link) throws IOException;

    /** Gives the entries of a directory, without "." and "..", to {@code into}, from index {@code first} on until it takes no more. */
    void list(long directory, long first, EntrySink into) throws IOException;

    /** Answers with {@code length} bytes from {@code offset} on, or up to the file's end; now, or later on any thread. */
    void read(long file, long offset, int length, int thread, ReadReply reply) throws IOException;

    /** The size of the tree. */
    Content content();

    /** The path of a node, for messages. It begins with a slash. */
    byte[] path(long node);

    /** Takes the entries of a directory. */
    @FunctionalInterface
    interface EntrySink {
        /**
         * Takes one entry.
         *
         * @param type the type bits of {@code st_mode}
         * @return false if there was no room; then it takes no further entry
         */
        boolean add(byte[] name, int type, long node) throws IOException;
    }

    /**
     * What {@code statfs} reports.
     *
     * @param bytes of all files
     * @param entries files, directories and links
     */
    record Content(long bytes, long entries) {}
}
