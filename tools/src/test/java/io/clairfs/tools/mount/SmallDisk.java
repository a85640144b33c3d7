package io.clairfs.tools.mount;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/** A disk that a test may fill, make read-only and empty: a tmpfs below the fixture's directory, which is removed with it. */
record SmallDisk(Path path) implements AutoCloseable {
    private static final String BALLAST = "ballast";
    private static final int PAGE_BYTES = 4096;

    /** Mounts a disk of {@code bytes}. If none can be mounted, the test is skipped. */
    static SmallDisk mount(MountFixture fixture, long bytes) throws IOException, InterruptedException {
        Path point = fixture.newDirectory("disk");
        if (!Requirements.works("mount", "-t", "tmpfs", "-o", "mode=755,size=" + bytes, "none", point.toString())) {
            System.out.println("skipped: this machine does not allow to mount a tmpfs");
            abort("this machine does not allow to mount a tmpfs");
        }
        return new SmallDisk(point);
    }

    /** Fills the disk until {@code bytes} are left. With 0 nothing is left, whoever writes or deletes meanwhile. */
    void fillUpTo(long bytes) throws IOException {
        try (FileChannel ballast =
                FileChannel.open(path.resolve(BALLAST), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            long more = bytes == 0 ? Long.MAX_VALUE : path.toFile().getUsableSpace() - bytes;
            if (more < 0) {
                ballast.truncate(Math.max(0, ballast.size() + more));
            } else {
                extend(ballast, more);
            }
        }
    }

    /** Makes the file so much longer, or as long as the disk allows. */
    private static void extend(FileChannel file, long bytes) throws IOException {
        file.position(file.size());
        for (long left = bytes; left > 0; ) {
            ByteBuffer page = ByteBuffer.allocate((int) Math.min(left, PAGE_BYTES));
            try {
                left -= file.write(page);
            } catch (IOException e) {
                if (String.valueOf(e.getMessage()).contains("No space left")) {
                    return;
                }
                throw e;
            }
        }
    }

    void empty() throws IOException {
        Files.deleteIfExists(path.resolve(BALLAST));
    }

    /** Makes the disk read-only, as a filesystem does after an error. Fails while a process has a file open for writing. */
    boolean tryReadOnly() throws IOException, InterruptedException {
        return Requirements.works("mount", "-o", "remount,ro", path.toString());
    }

    void writable() throws IOException, InterruptedException {
        Ended.run(List.of("mount", "-o", "remount,rw", path.toString()), Map.of())
                .succeeded();
    }

    /** Unmounts the disk at once for all later accesses, even while it is in use. */
    @Override
    public void close() throws IOException {
        try {
            Ended.run(List.of("umount", "-l", path.toString()), Map.of()).succeeded();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while unmounting " + path, e);
        }
    }
}
