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

    /** Memory for a struct of which only the layout is used. */
    static Pointer anyPointer() {
        return Memory.allocate(Runtime.getSystemRuntime(), ANY_STRUCT_BYTES);
    }

    private static final class Loaded {
        static final LibFuse LIBFUSE =
                LibraryLoader.create(LibFuse.class).failImmediately().load("libfuse.so.2");
    }
}
