package io.clairfs.tools.node.seed;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.tools.node.config.StateDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Order files of jobs that were found, for {@code sampler=order-file}: eight bytes for each sample. Each job has files of its own. They are
 * removed when no job needs them, and so are those that an earlier daemon of this mount has left. For one thread.
 */
final class OrderFolder {
    private static final int BUFFER = 1 << 16;

    private final Path folder;
    private int written;

    /** Whether there may be files. */
    private boolean filled = true;

    OrderFolder(Path folder) {
        this.folder = folder;
    }

    /** That of a mount, below the user's state directory. */
    static OrderFolder of(Path mountPoint) {
        return new OrderFolder(StateDirectory.ofUser()
                .resolve("clairfs")
                .resolve("orders")
                .resolve(StateDirectory.uniqueNameOf(mountPoint)));
    }

    Path path() {
        return folder;
    }

    /**
     * Writes what {@code ranks} ranks from {@code first} on read in an epoch, as that of ranks 0 and on, in place of all that was written before.
     * Returns the value of the key {@code file}.
     */
    String write(EpochOrder order, int first, int ranks) throws IOException {
        if (folder.toString().chars().anyMatch(Character::isWhitespace)) {
            throw new IOException("a job line cannot name a file in " + folder
                    + ", which has white space: set XDG_STATE_HOME to another directory");
        }
        clear();
        filled = true;
        Files.createDirectories(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        written++;
        for (int rank = 0; rank < ranks; rank++) {
            write(order, first + rank, folder.resolve(name(Integer.toString(rank))));
        }
        return folder.resolve(name("{rank}")).toString();
    }

    private String name(String rank) {
        return written + "-" + rank + ".i64";
    }

    private static void write(EpochOrder order, int rank, Path file) throws IOException {
        ByteBuffer numbers = ByteBuffer.allocate(BUFFER).order(ByteOrder.LITTLE_ENDIAN);
        int length = order.length(rank);
        try (WritableByteChannel out =
                Files.newByteChannel(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (int step = 0; step < length; step++) {
                numbers.putLong(order.sample(rank, step));
                if (!numbers.hasRemaining() || step == length - 1) {
                    numbers.flip();
                    while (numbers.hasRemaining()) {
                        out.write(numbers);
                    }
                    numbers.clear();
                }
            }
        }
    }

    /** Removes all files. */
    void clear() throws IOException {
        if (!filled) {
            return;
        }
        filled = false;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException nothingWritten) {
            return;
        }
        Files.deleteIfExists(folder);
    }
}
