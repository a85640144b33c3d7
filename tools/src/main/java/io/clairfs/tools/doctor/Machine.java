package io.clairfs.tools.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.NativeFunction;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.ProcessIdentity;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One machine, as its user sees it.
 *
 * @param root the directory with {@code proc}, {@code sys}, {@code etc} and {@code dev}
 * @param environment the variables of the user
 * @param userId 0 for root
 * @param hasLibrary whether a shared library of this name can be loaded
 * @param openError the errno of opening a device for reading and writing, 0 when it opens; empty where its mode alone can be looked at
 * @param isClockSynchronised what the kernel says of its clock
 * @param javaVersion the feature release of the JDK
 * @param programMs how long a program may take to say its version, milliseconds
 */
public record Machine(
        Path root,
        Map<String, String> environment,
        int userId,
        Predicate<String> hasLibrary,
        Function<Path, OptionalInt> openError,
        boolean isClockSynchronised,
        int javaVersion,
        long programMs) {
    /** Enough for the kernel's {@code struct timex}. */
    private static final long TIMEX_BYTES = 512;

    private static final int MOST_BYTES = 1 << 20;
    private static final long PROGRAM_MS = 2_000;
    private static final int CLOCK_NOT_SYNCHRONISED = 5;

    /** This machine. */
    public static Machine here() {
        return new Machine(
                Path.of("/"),
                System.getenv(),
                ProcessIdentity.userId(),
                Machine::loads,
                Machine::opened,
                clockIsSynchronised(),
                Runtime.version().feature(),
                PROGRAM_MS);
    }

    /** A file of {@code proc}, {@code sys} or {@code etc}; null if it cannot be read. */
    @Nullable
    String text(String file) {
        try {
            return read(root.resolve(file)).strip();
        } catch (IOException none) {
            return null;
        }
    }

    /** Reads with large reads: a setting of the kernel gives its value to the first one alone. */
    static String read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] text = new byte[MOST_BYTES];
            int length = 0;
            int n = in.read(text);
            while (n > 0) {
                length += n;
                n = length < text.length ? in.read(text, length, text.length - length) : 0;
            }
            return new String(text, 0, length, UTF_8);
        }
    }

    /** The number in such a file. */
    OptionalLong number(String file) {
        String text = text(file);
        try {
            return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException other) {
            return OptionalLong.empty();
        }
    }

    /** The number behind a name, as in {@code meminfo} and {@code status}; kilobytes there. */
    OptionalLong figure(String file, String name) {
        String text = text(file);
        return text == null
                ? OptionalLong.empty()
                : text.lines()
                        .filter(line -> line.startsWith(name + ":"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                        .findFirst();
    }

    /** What stands behind a name in the {@code status} of this process; null if nothing does. */
    @Nullable
    String ofThisProcess(String name) {
        String text = text("proc/self/status");
        return text == null
                ? null
                : text.lines()
                        .filter(line -> line.startsWith(name + ":"))
                        .map(line -> line.substring(name.length() + 1).strip())
                        .findFirst()
                        .orElse(null);
    }

    /** What a program prints with {@code argument}; empty if it cannot be run or does not end within {@code mostMs}. */
    static String printed(Path program, String argument, long mostMs) {
        try {
            Process process = new ProcessBuilder(program.toString(), argument)
                    .redirectErrorStream(true)
                    .start();
            try {
                process.getOutputStream().close();
                if (!process.waitFor(mostMs, TimeUnit.MILLISECONDS)) {
                    return "";
                }
                InputStream out = process.getInputStream();
                return new String(out.readNBytes(Math.min(out.available(), MOST_BYTES)), UTF_8);
            } finally {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    private static OptionalInt opened(Path device) {
        try {
            Posix.close(Posix.openAt(Posix.AT_FDCWD, device.toString().getBytes(UTF_8), Posix.O_RDWR));
            return OptionalInt.of(0);
        } catch (PosixException e) {
            return OptionalInt.of(e.errno());
        }
    }

    @SuppressWarnings("restricted")
    private static boolean loads(String library) {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup _ = SymbolLookup.libraryLookup(library, arena);
            return true;
        } catch (IllegalArgumentException none) {
            return false;
        }
    }

    private static boolean clockIsSynchronised() {
        try (Arena arena = Arena.ofConfined()) {
            long answer = arena.allocate(TIMEX_BYTES, Long.BYTES).address();
            return (int) NativeFunction.of("adjtimex").call(answer) != CLOCK_NOT_SYNCHRONISED;
        }
    }
}
