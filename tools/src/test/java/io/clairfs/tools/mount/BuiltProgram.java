package io.clairfs.tools.mount;

import io.clairfs.tools.cli.CacheableJars;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * This build as installed: in jars, with a cache of loaded classes, which JVMs accept with jars only. Tests start hundreds of processes.
 * With the cache each takes about half of the processor time.
 *
 * <p>The first test that needs it makes it, and makes it again when classes, the class path or the flags have changed.
 *
 * @param flags flags that shorten the start of a mount
 * @param shortFlags flags that shorten a command that ends soon
 */
record BuiltProgram(String classPath, List<String> flags, List<String> shortFlags) {
    private static final Path PARENT = Path.of("target").toAbsolutePath();
    private static final String PREFIX = "test-program-";

    /** The cache's name, here and in a program that the launcher built. */
    static final String STARTUP_CACHE = "startup.aot";

    /** The same for commands that end soon. */
    static final String COMMAND_CACHE = "command.aot";

    static final String CACHE_FLAG = "-XX:AOTCache=";

    /** For a busy machine. A program without a cache would be slow in every test of a whole run. */
    private static final String LONGEST_TRAINING_S = "300";

    /** The program of this JVM's class path. */
    static BuiltProgram ofThisBuild(List<String> jvmFlags) {
        try (FileChannel lock = FileChannel.open(
                PARENT.resolve(PREFIX + "lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            lock.lock();
            List<Path> entries = Stream.of(System.getProperty("java.class.path").split(":+"))
                    .map(Path::of)
                    .filter(e -> !e.endsWith("test-classes") && !e.toString().isEmpty() && Files.exists(e))
                    .toList();
            Path directory = PARENT.resolve(
                    PREFIX + newest(entries) + "-" + Integer.toHexString(Objects.hash(entries, jvmFlags)));
            if (!Files.exists(directory)) {
                removeOlder();
                make(entries, directory, jvmFlags);
            }
            return new BuiltProgram(
                    classPath(entries, directory),
                    flags(directory.resolve(STARTUP_CACHE)),
                    flags(directory.resolve(COMMAND_CACHE)));
        } catch (IOException e) {
            throw new UncheckedIOException("the program for the tests", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while making the program for the tests", e);
        }
    }

    private static List<String> flags(Path startupCache) {
        return Files.exists(startupCache)
                ? List.of(CACHE_FLAG + startupCache, "-Xlog:aot=off", "-Xlog:cds=off")
                : List.of();
    }

    /**
     * Copies the program below a directory, each file under its whole path, so that JVMs accept the copied cache with the copied jars.
     * Everybody may read the copy.
     */
    BuiltProgram copiedTo(Path into) throws IOException {
        List<String> copies = new ArrayList<>();
        for (String entry : classPath.split(":", -1)) {
            copies.add(copy(Path.of(entry), into).toString());
        }
        return new BuiltProgram(String.join(":", copies), flagsCopied(flags, into), flagsCopied(shortFlags, into));
    }

    private static List<String> flagsCopied(List<String> flags, Path into) throws IOException {
        for (String flag : flags) {
            if (flag.startsWith(CACHE_FLAG)) {
                return flags(copy(Path.of(flag.substring(CACHE_FLAG.length())), into));
            }
        }
        return flags;
    }

    private static Path copy(Path file, Path into) throws IOException {
        Path copy = into.resolve(file.toAbsolutePath().toString().substring(1));
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("r--r--r--"));
        return copy;
    }

    private static long newest(List<Path> entries) throws IOException {
        long newest = 0;
        for (Path entry : entries) {
            try (Stream<Path> all = Files.walk(entry)) {
                for (Path each : (Iterable<Path>) all::iterator) {
                    newest = Math.max(newest, Files.getLastModifiedTime(each).toMillis());
                }
            }
        }
        return newest;
    }

    private static void make(List<Path> entries, Path directory, List<String> jvmFlags)
            throws IOException, InterruptedException {
        Path fresh = Files.createTempDirectory(PARENT, PREFIX + "fresh-");
        for (int i = 0; i < entries.size(); i++) {
            if (Files.isDirectory(entries.get(i))) {
                pack(entries.get(i), fresh.resolve(i + ".jar"));
            } else if (CacheableJars.isToBeRewritten(entries.get(i))) {
                CacheableJars.rewrite(entries.get(i), fresh.resolve(i + ".jar"));
            }
        }
        // The cache records the paths of the jars, so they are moved before it is made.
        Files.move(fresh, directory);
        Path training = Files.createDirectory(directory.resolve("training"));
        List<String> recordCommands = record(
                jvmFlags, classPath(entries, directory), directory.resolve(COMMAND_CACHE), Clairfs.COMMAND_TRAINING);
        List<String> command = new ArrayList<>(
                record(jvmFlags, classPath(entries, directory), directory.resolve(STARTUP_CACHE), Clairfs.TRAINING));
        command.addAll(List.of(training.toString(), LONGEST_TRAINING_S));
        command.addAll(recordCommands);
        int exit = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        if (exit != 0) {
            System.out.println(
                    "the tests' programs start slowly: a cache of classes could not be made, exit code " + exit);
            Files.deleteIfExists(directory.resolve(STARTUP_CACHE));
        }
    }

    private static List<String> record(List<String> jvmFlags, String classPath, Path cache, String main) {
        List<String> command = new ArrayList<>(jvmFlags);
        command.addAll(List.of("-XX:AOTCacheOutput=" + cache, "-cp", classPath, main));
        return command;
    }

    private static void pack(Path classes, Path jar) throws IOException {
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar));
                Stream<Path> all = Files.walk(classes)) {
            out.setLevel(Deflater.BEST_SPEED);
            for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
                out.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                Files.copy(file, out);
                out.closeEntry();
            }
        }
    }

    private static String classPath(List<Path> entries, Path directory) {
        List<String> paths = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            Path packed = directory.resolve(i + ".jar");
            paths.add((Files.exists(packed) ? packed : entries.get(i)).toString());
        }
        return String.join(":", paths);
    }

    private static void removeOlder() throws IOException {
        try (Stream<Path> found = Files.list(PARENT)) {
            for (Path old : found.filter(p -> p.getFileName().toString().startsWith(PREFIX) && Files.isDirectory(p))
                    .toList()) {
                try (Stream<Path> all = Files.walk(old)) {
                    for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                        Files.delete(each);
                    }
                }
            }
        }
    }
}
