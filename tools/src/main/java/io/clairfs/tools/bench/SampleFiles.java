package io.clairfs.tools.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Posix;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;

/** Makes files like those of a dataset, and reads one as a trainer's loader does. */
public final class SampleFiles {
    private SampleFiles() {}

    /**
     * Makes files of random bytes, {@code PREFIX0} and so on. Their pages are dropped, so that the first read comes from the disk, as with
     * a dataset. Freshly written pages form larger folios, which read faster.
     */
    public static void make(Path directory, String prefix, long bytes, int files) throws IOException {
        Random random = new Random(1);
        ByteBuffer content = ByteBuffer.allocate(Math.toIntExact(bytes));
        for (int i = 0; i < files; i++) {
            random.nextBytes(content.array());
            Path file = directory.resolve(prefix + i);
            try (FileChannel channel =
                    FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                channel.write(content.rewind());
                channel.force(true);
            }
            int fd = Posix.openAt(Posix.AT_FDCWD, file.toString().getBytes(UTF_8), Posix.O_RDONLY);
            CachedPages.drop(fd);
            Posix.close(fd);
        }
    }

    /** Opens a file, gets its size, reads to the end and closes it. Returns the duration, nanoseconds. */
    public static long read(Path root, String file, MemorySegment buffer) throws IOException {
        byte[] path = (root + "/" + file).getBytes(UTF_8);
        long start = System.nanoTime();
        int fd = Posix.openAt(Posix.AT_FDCWD, path, Posix.O_RDONLY);
        long size = Posix.stat(fd).size();
        for (long at = 0; at < size; ) {
            long n = Posix.pread(fd, buffer.asSlice(at, size - at), at);
            if (n <= 0) {
                throw new IOException(file + " ends early");
            }
            at += n;
        }
        Posix.close(fd);
        return System.nanoTime() - start;
    }
}
