package io.clairfs.cache.dataset;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;

/** A file that is written whole and then renamed. It ends with a CRC-32C of all bytes before it. */
final class CheckedFile {
    private static final int BUFFER = 1 << 18;
    private static final String PREFIX = "index-";
    private static final String SUFFIX = ".new";

    private CheckedFile() {}

    /** Writes the bytes before the checksum. */
    @FunctionalInterface
    interface Content {
        void write(DataOutputStream out) throws IOException;
    }

    /** Replaces {@code file}. Removes what processes that were killed while they did so have left beside it. */
    static void write(Path file, Content content) throws IOException {
        write(file, content, SavedListings.Placing.REPLACE);
    }

    /** As the other one, where {@code placing} may leave the file as it is. */
    static void write(Path file, Content content, SavedListings.Placing placing) throws IOException {
        Path directory = Objects.requireNonNull(file.toAbsolutePath().getParent(), "a file is in a directory");
        removeLeft(directory);
        Path fresh = Files.createTempFile(directory, PREFIX, SUFFIX);
        try {
            CRC32C crc = new CRC32C();
            try (OutputStream to = Files.newOutputStream(fresh);
                    DataOutputStream out =
                            new DataOutputStream(new BufferedOutputStream(new CheckedOutputStream(to, crc), BUFFER))) {
                content.write(out);
                out.flush();
                out.writeLong(crc.getValue());
            }
            placing.place(fresh, file);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    private static void removeLeft(Path directory) throws IOException {
        Instant dayAgo = Instant.now().minus(Duration.ofDays(1));
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory, PREFIX + "*" + SUFFIX)) {
            for (Path each : all) {
                if (Files.getLastModifiedTime(each).toInstant().isBefore(dayAgo)) {
                    Files.deleteIfExists(each);
                }
            }
        } catch (DirectoryIteratorException | NoSuchFileException e) {
            System.getLogger(CheckedFile.class.getName()).log(System.Logger.Level.DEBUG, "left behind", e);
        }
    }

    /** Whether the checksum is right. */
    static boolean isWhole(Path file) throws IOException {
        long left = Files.size(file) - Long.BYTES;
        try (InputStream in = Files.newInputStream(file)) {
            CRC32C crc = new CRC32C();
            byte[] buffer = new byte[BUFFER];
            while (left > 0) {
                int n = in.read(buffer, 0, (int) Math.min(left, buffer.length));
                if (n < 0) {
                    return false;
                }
                crc.update(buffer, 0, n);
                left -= n;
            }
            byte[] end = in.readNBytes(Long.BYTES);
            return left == 0 && end.length == Long.BYTES && ByteBuffer.wrap(end).getLong() == crc.getValue();
        }
    }
}
