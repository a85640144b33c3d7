package io.clairfs.tools.mount;

import io.clairfs.fs.mount.MountTable;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A directory for one test class, with the mounts below it and the processes that have it on their command line.
 *
 * <p>Its name, {@code /tmp/clairfs-test-PID-...}, contains the process that made it, which distinguishes leftovers of a killed run from the
 * directory of a concurrent run.
 */
final class TestDirectory {
    private static final String PREFIX = "clairfs-test-";
    private static final Path PARENT = Path.of("/tmp");
    private static final String PROGRAM = "io.clairfs.tools.cli.Main";
    private static final String SOURCE = "io.clairfs.fs.faulty.FaultyCommand";
    private static final long END_TIMEOUT_S = 120;

    /** How long daemons may take that end by themselves; the command that follows ends the others. */
    private static final long OWN_END_NS = TimeUnit.SECONDS.toNanos(5);

    private final Path path;

    private TestDirectory(Path path) {
        this.path = path;
    }

    static TestDirectory create() throws IOException {
        Path made = Files.createTempDirectory(
                PARENT, PREFIX + ProcessHandle.current().pid() + "-");
        Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxr-xr-x"));
        return new TestDirectory(made);
    }

    /** Removes the leftovers of killed runs. */
    static void removeLeftovers() throws IOException, InterruptedException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(PARENT, PREFIX + "*")) {
            for (Path found : all) {
                String pid = found.getFileName()
                        .toString()
                        .substring(PREFIX.length())
                        .split("-", 2)[0];
                if (pid.matches("[0-9]{1,9}")
                        && ProcessHandle.of(Long.parseLong(pid)).isEmpty()) {
                    System.out.println("removing what a killed run left: " + found);
                    new TestDirectory(found).remove();
                }
            }
        }
    }

    Path path() {
        return path;
    }

    /** Mount points below this directory, and those of the control files of these mounts, the newest first. */
    List<Path> mounts() throws IOException {
        return MountTable.all().stream()
                .filter(m -> m.point().startsWith(path)
                        || (m.type().equals("fuse.clairfs-control")
                                && m.device().startsWith(path + "/")))
                .map(MountTable.Mount::point)
                .toList()
                .reversed();
    }

    /** Processes of the program that have this directory on their command line. */
    List<ProcessHandle> processes() {
        return processes(List.of(PROGRAM));
    }

    private List<ProcessHandle> processes(List<String> programs) {
        return ProcessHandle.allProcesses()
                .filter(p -> p.pid() != ProcessHandle.current().pid() && isOneOf(programs, p))
                .toList();
    }

    private boolean isOneOf(List<String> programs, ProcessHandle process) {
        String line = commandLine(process);
        return programs.stream().anyMatch(line::contains) && line.contains(path.toString());
    }

    private static boolean isDaemon(ProcessHandle process) {
        String line = commandLine(process);
        return line.substring(0, line.indexOf('\0') + 1).endsWith("/java\0") && line.contains("\0mount\0");
    }

    /** The command line of a process, each word with a zero behind it; empty when the process is gone. */
    private static String commandLine(ProcessHandle process) {
        try {
            return Files.readString(
                    Path.of("/proc", Long.toString(process.pid()), "cmdline"),
                    java.nio.charset.StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }

    /** Unmounts, ends processes and deletes files, as far as there are any. */
    void remove() throws IOException, InterruptedException {
        endDaemons();
        for (Path point : mounts()) {
            if (point.startsWith(path) && !point.endsWith(".clairfs")) {
                attempt(Clairfs.command("umount", point.toString()));
            }
        }
        for (ProcessHandle process : processes(List.of(PROGRAM, SOURCE))) {
            process.destroyForcibly();
            try {
                ProcessEnd.await(process, END_TIMEOUT_S);
            } catch (java.util.concurrent.TimeoutException e) {
                throw new IOException("process " + process.pid() + " does not end", e);
            }
        }
        for (Path point : mounts()) {
            attempt(List.of("fusermount", "-u", "-z", point.toString()));
        }
        if (!mounts().isEmpty()) {
            throw new IOException("still mounted: " + mounts());
        }
        delete();
    }

    /** Has daemons end as {@code clairfs umount} does, all at once and without a process for each. */
    private void endDaemons() throws InterruptedException {
        List<ProcessHandle> daemons =
                processes().stream().filter(TestDirectory::isDaemon).toList();
        daemons.forEach(ProcessHandle::destroy);
        long deadline = System.nanoTime() + OWN_END_NS;
        while (daemons.stream().anyMatch(ProcessHandle::isAlive) && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    /** Runs a command whose failure the next step corrects. */
    private static void attempt(List<String> command) throws IOException, InterruptedException {
        try {
            Ended _ = Ended.run(command, Map.of(), END_TIMEOUT_S);
        } catch (AssertionError stuck) {
            System.out.println(stuck.getMessage());
        }
    }

    /** Deletes the directory. A process that a killed trainer has started may write to it until it has ended, too. */
    private void delete() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_TIMEOUT_S);
        while (true) {
            try {
                deleteWhatIsThere();
                return;
            } catch (DirectoryNotEmptyException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
    }

    /** Another run may be removing the same leftover. */
    private void deleteWhatIsThere() throws IOException {
        Files.walkFileTree(path, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException thrown) throws IOException {
                return goOnIfGone(thrown);
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException thrown) throws IOException {
                if (thrown != null) {
                    goOnIfGone(thrown);
                }
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }

            private FileVisitResult goOnIfGone(IOException thrown) throws IOException {
                if (thrown instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw thrown;
            }
        });
    }
}
