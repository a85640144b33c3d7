package io.clairfs.cache.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** The user and group of this process. */
public final class ProcessIdentity {
    private static final MethodHandle GETGID = NativeCall.bindPlain("getegid", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle GETUID = NativeCall.bindPlain("geteuid", FunctionDescriptor.of(JAVA_INT));

    private ProcessIdentity() {}

    /** The effective user of this process. */
    public static int userId() {
        try {
            return (int) GETUID.invokeExact();
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }

    /** The effective group of this process. */
    public static int groupId() {
        try {
            return (int) GETGID.invokeExact();
        } catch (Throwable t) {
            throw NativeCall.bug(t);
        }
    }
}
