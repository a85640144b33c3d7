package io.clairfs.cache.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Binds functions of the C library.
 *
 * <p>Handles made with {@link #bind} take a segment for the call state first ({@link #state()}), which receives the errno of the call. None
 * is marked critical: a thread in such a call never delays a garbage collection, so the daemon may touch its own mount.
 */
@SuppressWarnings("restricted")
public final class NativeCall {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final VarHandle ERRNO = Linker.Option.captureStateLayout()
            .varHandle(java.lang.foreign.MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> STATE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Linker.Option.captureStateLayout()));

    private NativeCall() {}

    /** A handle of {@code function} that captures errno; its first parameter is {@link #state()}. */
    public static MethodHandle bind(String function, FunctionDescriptor descriptor, Linker.Option... more) {
        Linker.Option[] options = new Linker.Option[more.length + 1];
        options[0] = Linker.Option.captureCallState("errno");
        System.arraycopy(more, 0, options, 1, more.length);
        return LINKER.downcallHandle(address(function), descriptor, options);
    }

    /** A handle of {@code function} that cannot fail with an errno. */
    public static MethodHandle bindPlain(String function, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(address(function), descriptor);
    }

    /** As {@link #bindPlain}; null where the C library does not have {@code function}. */
    public static @Nullable MethodHandle bindIfThere(String function, FunctionDescriptor descriptor) {
        return LINKER.defaultLookup()
                .find(function)
                .map(address -> LINKER.downcallHandle(address, descriptor))
                .orElse(null);
    }

    /** The segment that receives the errno of the calling thread's calls. */
    public static MemorySegment state() {
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

    private static MemorySegment address(String function) {
        return LINKER.defaultLookup()
                .find(function)
                .or(() -> SymbolLookup.loaderLookup().find(function))
                .orElseThrow(() -> new LinkageError("the C library has no " + function));
    }
}
