package io.clairfs.cache.posix;

/** Linux numbers of the errors that clairfs raises or distinguishes; the same on x86-64 and ARM64. */
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EEXIST = 17;
    public static final int EXDEV = 18;
    public static final int ENODEV = 19;
    public static final int ENOTDIR = 20;
    public static final int EISDIR = 21;
    public static final int EINVAL = 22;
    public static final int ENOTTY = 25;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int ENOSPC = 28;
    public static final int EROFS = 30;
    public static final int ENAMETOOLONG = 36;
    public static final int ENOSYS = 38;
    public static final int ENOTSUP = 95;
    public static final int EPROTO = 71;
    public static final int ELOOP = 40;
    public static final int ECONNABORTED = 103;
    public static final int ENOTCONN = 107;
    public static final int ETIMEDOUT = 110;
    public static final int ESTALE = 116;

    private Errno() {}
}
