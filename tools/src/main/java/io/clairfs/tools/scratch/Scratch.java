package io.clairfs.tools.scratch;

import io.clairfs.fs.mount.Fusermount;
import io.clairfs.fs.mount.MountException;
import io.clairfs.fs.mount.MountTable;
import io.clairfs.tools.node.mount.MountCheck;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The directory of a demonstration or measurement, and all that has to be gone when it ends: processes, mounts, files.
 *
 * <p>They are removed when this is closed, or when the program is told to end before. A lock on a file in the directory tells one in use
 * from one whose program was killed; what killed ones left is removed when the next one begins.
 */
public final class Scratch implements AutoCloseable {
    private static final String PREFIX = "clairfs-work-";
    private static final String LOCK = "lock";
    private static final int MOST_WALKS = 10;

    private final Path directory;
    private final FileChannel lock;
    private final boolean keep;
    private final List<Process> processes = new CopyOnWriteArrayList<>();
    private final Thread whenKilled = Thread.ofPlatform().name("clean-up").unstarted(this::closeQuietly);
    private boolean closed;

    private Scratch(Path directory, FileChannel lock, boolean keep) {
        this.directory = directory;
        this.lock = lock;
        this.keep = keep;
    }

    /** A new directory in {@code parent}. */
    public static Scratch in(Path parent) throws IOException {
        return create(parent, false);
    }

    /** The same; {@code keep} says that its files stay. */
    public static Scratch create(Path parent, boolean keep) throws IOException {
        Path absolute = parent.toAbsolutePath().normalize();
        removeLeftovers(absolute);
        Path directory = Files.createTempDirectory(absolute, PREFIX).toRealPath();
        FileChannel lock =
                FileChannel.open(directory.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        lock.lock();
        Scratch scratch = new Scratch(directory, lock, keep);
        Runtime.getRuntime().addShutdownHook(scratch.whenKilled);
        return scratch;
    }

    public Path directory() {
        return directory;
    }

    /** A new directory in it. */
    public Path subdirectory(String name) throws IOException {
        return Files.createDirectory(directory.resolve(name));
    }

    /** Starts a process that ends with this. */
    public synchronized Process start(ProcessBuilder builder) throws IOException {
        if (closed) {
            throw new IOException("interrupted");
        }
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    /** Whether the program was told to end. */
    public boolean isInterrupted() {
        return whenKilled.getState() != Thread.State.NEW;
    }

    private void closeQuietly() {
        try {
            close();
        } catch (IOException e) {
            System.err.println("clairfs: cannot clean up " + directory + ": " + e.getMessage());
        }
    }

    private void forgetHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(whenKilled);
        } catch (IllegalStateException shuttingDown) {
            assert shuttingDown != null; // the hook runs already
        }
    }

    /** Ends and removes everything, whatever state it is in. The second caller waits for the first. */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        forgetHook();
        for (Process process : processes) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        unmountBelow(directory);
        if (keep) {
            Files.delete(directory.resolve(LOCK));
            System.err.println("clairfs: kept " + directory);
        } else {
            delete(directory);
        }
        lock.close();
    }

    private static void removeLeftovers(Path parent) throws IOException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path candidate : all) {
                if (isOwn(candidate) && isAbandoned(candidate.resolve(LOCK))) {
                    unmountBelow(candidate.toRealPath());
                    delete(candidate);
                }
            }
        }
    }

    private static boolean isOwn(Path candidate) throws IOException {
        return Files.isDirectory(candidate, LinkOption.NOFOLLOW_LINKS)
                && Files.getOwner(candidate, LinkOption.NOFOLLOW_LINKS)
                        .getName()
                        .equals(System.getProperty("user.name"));
    }

    /** Whether the lock file exists and no process holds it. Without a lock file the user wanted the files kept. */
    private static boolean isAbandoned(Path lock) {
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
                @Nullable FileLock taken = channel.tryLock()) {
            return taken != null;
        } catch (OverlappingFileLockException | IOException heldOrNotThere) {
            return false;
        }
    }

    /** Unmounts the newest first, because a mount may be inside another. */
    private static void unmountBelow(Path directory) throws IOException {
        for (MountTable.Mount mount : MountTable.all().reversed()) {
            if (mount.point().startsWith(directory)) {
                unmount(mount.point());
            }
        }
    }

    /** Unmounts. The mount's own process may unmount at the same time, which is no failure. */
    private static void unmount(Path point) throws IOException {
        try {
            if (MountCheck.isOurs(point)) {
                MountCheck.remove(point);
            } else if (MountTable.at(point).isPresent()) {
                Fusermount.detach(point);
            }
        } catch (MountException e) {
            if (MountTable.at(point).isPresent()) {
                throw e;
            }
        }
    }

    /**
     * Deletes a directory of this class. If a process creates a file behind the walk, the walk is repeated. The lock goes last: what could not be
     * deleted is found by it next time.
     */
    private static void delete(Path tree) throws IOException {
        for (int tries = 1; ; tries++) {
            try {
                deleteTree(tree);
                return;
            } catch (DirectoryNotEmptyException e) {
                if (tries == MOST_WALKS) {
                    throw e;
                }
            }
        }
    }

    private static void deleteTree(Path tree) throws IOException {
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (!file.equals(tree.resolve(LOCK))) {
                    Files.deleteIfExists(file);
                }
                return FileVisitResult.CONTINUE;
            }

            // A process that ends may delete its own files meanwhile.
            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failed) throws IOException {
                if (failed instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw failed;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failed) throws IOException {
                if (directory.equals(tree)) {
                    deleteWithLock(tree);
                } else {
                    Files.deleteIfExists(directory);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void deleteWithLock(Path tree) throws IOException {
        try (Stream<Path> left = Files.list(tree)) {
            if (left.anyMatch(file -> !file.equals(tree.resolve(LOCK)))) {
                throw new DirectoryNotEmptyException(tree.toString());
            }
        }
        Files.deleteIfExists(tree.resolve(LOCK));
        Files.deleteIfExists(tree);
    }
}
