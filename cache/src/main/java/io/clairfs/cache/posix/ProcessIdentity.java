package io.clairfs.cache.posix;

/** The user and group of this process. */
public final class ProcessIdentity {
    private static final NativeFunction GETGID = NativeFunction.of("getegid");
    private static final NativeFunction GETUID = NativeFunction.of("geteuid");

    private ProcessIdentity() {}

    /** The effective user of this process. */
    public static int userId() {
        return (int) GETUID.call();
    }

    /** The effective group of this process. */
    public static int groupId() {
        return (int) GETGID.call();
    }
}
