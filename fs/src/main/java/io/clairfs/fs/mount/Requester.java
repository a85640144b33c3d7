package io.clairfs.fs.mount;

/** Who is behind the request that a callback answers. */
public final class Requester {
    /** The kernel itself, or somebody whom this process cannot see. */
    public static final int UNKNOWN = 0;

    private Requester() {}

    /** The number of the thread that waits for the answer; to be asked by the callback's own thread only. */
    public static int thread() {
        return Native.libfuse().fuse_get_context().pid.intValue();
    }
}
