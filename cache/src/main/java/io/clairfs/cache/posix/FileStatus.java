package io.clairfs.cache.posix;

/**
 * The result of {@code statx} for one file.
 *
 * @param mode type and permission bits as in {@code st_mode}
 * @param size bytes
 * @param mtimeNs modification time, nanoseconds since 1970
 * @param inode the file's number on its filesystem
 * @param ctimeNs when its status changed last, nanoseconds since 1970; no program can set it
 */
public record FileStatus(int mode, int uid, int gid, long size, long mtimeNs, long inode, long ctimeNs) {
    public static final int TYPE_MASK = 0170000;
    public static final int DIRECTORY = 0040000;
    public static final int REGULAR = 0100000;
    public static final int SYMLINK = 0120000;

    /** A status whose change time does not matter. */
    public FileStatus(int mode, int uid, int gid, long size, long mtimeNs, long inode) {
        this(mode, uid, gid, size, mtimeNs, inode, mtimeNs);
    }

    public boolean isDirectory() {
        return (mode & TYPE_MASK) == DIRECTORY;
    }

    public boolean isRegular() {
        return (mode & TYPE_MASK) == REGULAR;
    }

    public boolean isSymlink() {
        return (mode & TYPE_MASK) == SYMLINK;
    }
}
