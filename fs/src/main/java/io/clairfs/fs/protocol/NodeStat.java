package io.clairfs.fs.protocol;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** The attributes of a node, for a filesystem to set: a {@code struct fuse_attr} of a reply. */
public final class NodeStat {
    /** Bytes of the struct. */
    public static final int BYTES = 88;

    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    /** Bytes that a reader which follows {@code st_blksize} reads at a time: the kernel's default read-ahead. */
    private static final int BLOCK_SIZE = 128 * 1024;

    private final MemorySegment reply;
    private final long at;

    /** Those {@link #BYTES} of {@code reply} that begin at {@code at}, a multiple of 8. */
    public NodeStat(MemorySegment reply, long at) {
        this.reply = reply;
        this.at = at;
    }

    /**
     * Sets all attributes.
     *
     * @param node the node's number, which is its inode number
     * @param mode type and permission bits
     * @param size bytes
     * @param mtimeNs nanoseconds since 1970, used for all three times
     */
    public void set(long node, int mode, int uid, int gid, long size, long mtimeNs) {
        long seconds = Math.floorDiv(mtimeNs, NANOS_PER_SECOND);
        int nanos = (int) Math.floorMod(mtimeNs, NANOS_PER_SECOND);
        reply.set(JAVA_LONG, at, node);
        reply.set(JAVA_LONG, at + 8, size);
        reply.set(JAVA_LONG, at + 16, Math.ceilDiv(size, 512));
        for (int time = 0; time < 3; time++) {
            reply.set(JAVA_LONG, at + 24 + 8L * time, seconds);
            reply.set(JAVA_INT, at + 48 + 4L * time, nanos);
        }
        reply.set(JAVA_INT, at + 60, mode);
        reply.set(JAVA_INT, at + 64, 1); // links
        reply.set(JAVA_INT, at + 68, uid);
        reply.set(JAVA_INT, at + 72, gid);
        reply.set(JAVA_INT, at + 76, 0); // device
        reply.set(JAVA_INT, at + 80, BLOCK_SIZE);
        reply.set(JAVA_INT, at + 84, 0); // flags
    }
}
