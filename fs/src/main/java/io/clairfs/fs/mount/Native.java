package io.clairfs.fs.mount;

import jnr.ffi.LibraryLoader;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import ru.serce.jnrfuse.LibFuse;

/** libfuse 2 through jnr-fuse. */
final class Native {
    private static final int ANY_STRUCT_BYTES = 512;

    private Native() {}

    /** The library, loaded on first use. */
    static LibFuse libfuse() {
        return Loaded.LIBFUSE;
    }

    /**
     * Loads the library now, and what is between it and Java, which is unpacked to the directory for temporary files.
     *
     * @throws MountException with the reason when one of them cannot be loaded
     */
    static void require() throws MountException {
        try {
            LibFuse _ = libfuse();
        } catch (LinkageError e) {
            throw new MountException("libfuse, which serves the control files, cannot be loaded (" + reason(e)
                    + "); 'clairfs doctor' says what is missing");
        }
    }

    /** The first line of what the innermost cause says. */
    private static String reason(Throwable failure) {
        Throwable innermost = failure;
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            innermost = cause;
        }
        return String.valueOf(innermost.getMessage()).lines().findFirst().orElse("for no reason that it tells");
    }

    /** Memory for a struct of which only the layout is used. */
    static Pointer anyPointer() {
        return Memory.allocate(Runtime.getSystemRuntime(), ANY_STRUCT_BYTES);
    }

    private static final class Loaded {
        static final LibFuse LIBFUSE =
                LibraryLoader.create(LibFuse.class).failImmediately().load("libfuse.so.2");
    }
}
