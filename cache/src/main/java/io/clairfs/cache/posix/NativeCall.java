package io.clairfs.cache.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/** What the last call of a {@link NativeFunction} by the calling thread left. */
public final class NativeCall {
    private static final VarHandle ERRNO =
            Linker.Option.captureStateLayout().varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> STATE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Linker.Option.captureStateLayout()));

    private NativeCall() {}

    /** The segment that receives the errno of the calling thread's calls. */
    static MemorySegment state() {
        return STATE.get();
    }

    /** The errno of the calling thread's last call; meaningful only after a failure. */
    public static int errno() {
        return (int) ERRNO.get(STATE.get(), 0L);
    }

    /** A handle's checked exceptions are bugs of the binding, never conditions. */
    public static AssertionError bug(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return new AssertionError("native call", thrown);
    }
}
