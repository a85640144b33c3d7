package io.clairfs.fs.protocol;

import java.io.IOException;

/**
 * A read-only tree whose files and directories have numbers: what a {@link ProtocolSession} asks to answer the kernel.
 *
 * <p>A number means the same for as long as the tree lives, so nothing has to be remembered of what the kernel knows. The root has {@link #ROOT}.
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

    void attributes(long node, NodeStat into) throws IOException;

    /** What a symbolic link says. */
    byte[] linkTarget(long link) throws IOException;

    /** Gives the entries of a directory to {@code into}, from the one with index {@code first} on, "." and ".." not among them, until it takes no more. */
    void list(long directory, long first, EntrySink into) throws IOException;

    /** Answers with the bytes from {@code offset} on, {@code length} of them or up to the file's end; now, or later on any thread. */
    void read(long file, long offset, int length, int thread, ReadReply reply) throws IOException;

    /** What the tree holds. */
    Content content();

    /** Where a node is, for messages: a path that begins with a slash. */
    byte[] path(long node);

    /** Takes the entries of a directory. */
    @FunctionalInterface
    interface EntrySink {
        /**
         * One entry.
         *
         * @param type the type bits of {@code st_mode}
         * @return whether there was room for it; if not, no further one is taken
         */
        boolean add(byte[] name, int type, long node) throws IOException;
    }

    /**
     * What {@code statfs} tells.
     *
     * @param bytes of all files
     * @param entries files, directories and links
     */
    record Content(long bytes, long entries) {}
}
