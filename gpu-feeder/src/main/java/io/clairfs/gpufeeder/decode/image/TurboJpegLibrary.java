package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * The functions of libjpeg-turbo's own C API, version 2, which version 3 has as well.
 *
 * <p>None is called as critical: decoding takes milliseconds, and no garbage collection waits for it.
 */
@SuppressWarnings("restricted")
final class TurboJpegLibrary {
    static final String NAME = "libturbojpeg.so.0";

    private static final Optional<SymbolLookup> LIBRARY = find();

    private TurboJpegLibrary() {}

    static boolean isPresent() {
        return LIBRARY.isPresent();
    }

    private static Optional<SymbolLookup> find() {
        try {
            return Optional.of(SymbolLookup.libraryLookup(NAME, Arena.global()));
        } catch (IllegalArgumentException _) { // the system does not have it
            return Optional.empty();
        }
    }

    /** Bound at the first call. Only used where the library {@link #isPresent}. */
    static final class Calls {
        static final MethodHandle INIT_DECOMPRESS = bind("tjInitDecompress", FunctionDescriptor.of(ADDRESS));
        static final MethodHandle DESTROY = bind("tjDestroy", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        static final MethodHandle DECOMPRESS = bind(
                "tjDecompress2",
                FunctionDescriptor.of(
                        JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT,
                        JAVA_INT));
        static final MethodHandle ERROR_CODE = bind("tjGetErrorCode", FunctionDescriptor.of(JAVA_INT, ADDRESS));
        static final MethodHandle ERROR_TEXT = bind("tjGetErrorStr2", FunctionDescriptor.of(ADDRESS, ADDRESS));

        private Calls() {}

        private static MethodHandle bind(String function, FunctionDescriptor descriptor) {
            MemorySegment address = LIBRARY.flatMap(library -> library.find(function))
                    .orElseThrow(() -> new LinkageError(NAME + " has no " + function));
            return Linker.nativeLinker().downcallHandle(address, descriptor);
        }
    }
}
