package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A function of the C library that takes at most six integers and addresses, and returns one of them or nothing.
 *
 * <p>All are bound with one signature, six words of 64 bits and a word as the result. The calling conventions of 64-bit Linux on x86 and ARM pass an
 * integer or address of any size in a register of that size, ignore its upper half where the type is shorter, and ignore registers that the
 * function does not take; a function with variable arguments gets them in the same registers. A signature of its own would cost each function, at
 * its first call, several milliseconds of compiling, a sixth of a mount's start in all: docs/decisions/own-protocol.md.
 *
 * <p>A result that is an {@code int} in C has to be cast to {@code int}, for its upper half is undefined. After a failure {@link NativeCall#errno} has
 * the errno. An address is a number: the caller keeps its memory alive until the call has returned, if nothing else does by
 * {@link Reference#reachabilityFence}.
 *
 * <p>None is marked critical: a thread in such a call never delays a garbage collection, so the daemon may touch its own mount.
 *
 * @param handle takes the segment for the call's errno, and six words
 */
@SuppressWarnings("restricted")
public record NativeFunction(MethodHandle handle) {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final FunctionDescriptor WORDS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    /** The function of this name. */
    public static NativeFunction of(String name) {
        return find(name).orElseThrow(() -> new LinkageError("the C library has no " + name));
    }

    /** As {@link #of}; null where the C library does not have it. */
    public static @Nullable NativeFunction ifThere(String name) {
        return find(name).orElse(null);
    }

    private static Optional<NativeFunction> find(String name) {
        Optional<MemorySegment> address = LINKER.defaultLookup()
                .find(name)
                .or(() -> SymbolLookup.loaderLookup().find(name));
        return address.map(
                at -> new NativeFunction(LINKER.downcallHandle(at, WORDS, Linker.Option.captureCallState("errno"))));
    }

    /** Calls it without arguments. */
    public long call() {
        return call(0, 0, 0, 0, 0, 0);
    }

    /** Calls it with one argument. */
    public long call(long first) {
        return call(first, 0, 0, 0, 0, 0);
    }

    /** Calls it with two arguments. */
    public long call(long first, long second) {
        return call(first, second, 0, 0, 0, 0);
    }

    /** Calls it with three arguments. */
    public long call(long first, long second, long third) {
        return call(first, second, third, 0, 0, 0);
    }

    /** Calls it with four arguments. */
    public long call(long first, long second, long third, long fourth) {
        return call(first, second, third, fourth, 0, 0);
    }

    /** Calls it with four arguments, and keeps the memory of the second alive meanwhile. */
    public long call(long first, MemorySegment second, long third, long fourth) {
        try {
            return call(first, second.address(), third, fourth, 0, 0);
        } finally {
            Reference.reachabilityFence(second);
        }
    }

    /** Calls it with five arguments. */
    public long call(long first, long second, long third, long fourth, long fifth) {
        return call(first, second, third, fourth, fifth, 0);
    }

    /** Calls it with six arguments. */
    public long call(long first, long second, long third, long fourth, long fifth, long sixth) {
        try {
            return (long) handle.invokeExact(NativeCall.state(), first, second, third, fourth, fifth, sixth);
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }
}
