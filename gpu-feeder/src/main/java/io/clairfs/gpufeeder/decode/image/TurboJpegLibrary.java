package io.clairfs.gpufeeder.decode.image;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The functions of libjpeg-turbo's own C API, version 2, which version 3 has as well.
 *
 * <p>None is called as critical: decoding takes milliseconds, and no garbage collection waits for it.
 */
@SuppressWarnings("restricted")
final class TurboJpegLibrary {
    static final String NAME = "libturbojpeg.so.0";

    private static final Path MAPS = Path.of("/proc/self/maps");
    private static final int DIGEST_BYTES = 8;

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

    /** SHA-256 of the library's file, shortened: another build may decode to other pixels. The library must be present. */
    static String digest() {
        try (Stream<String> maps = Files.lines(MAPS)) {
            Path file = maps.map(line -> line.substring(line.indexOf('/') + 1))
                    .filter(path -> path.contains("/" + NAME))
                    .map(path -> Path.of("/" + path))
                    .findFirst()
                    .orElseThrow(() -> new NoSuchFileException(NAME));
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
            return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "the file of " + NAME + " cannot be read, so its version is not known: start again", e);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
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
