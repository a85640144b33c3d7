package io.clairfs.tools.mount;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A disk that a test may fill, make read-only and empty: a tmpfs below the fixture's directory, with which it goes. */
record SmallDisk(Path path) implements AutoCloseable {
    private static final String BALLAST = "ballast";

    /** A disk of so many bytes; where none can be mounted the test is skipped. */
    static SmallDisk mount(MountFixture fixture, long bytes) throws IOException, InterruptedException {
        Path point = fixture.newDirectory("disk");
        if (!Requirements.works("mount", "-t", "tmpfs", "-o", "mode=755,size=" + bytes, "none", point.toString())) {
            System.out.println("skipped: this machine does not allow to mount a tmpfs");
            abort("this machine does not allow to mount a tmpfs");
        }
        return new SmallDisk(point);
    }

    /** Leaves room for so many bytes to others. */
    void fillUpTo(long bytes) throws IOException {
        Path ballast = path.resolve(BALLAST);
        Files.deleteIfExists(ballast);
        int size = Math.toIntExact(Math.max(0, path.toFile().getUsableSpace() - bytes));
        Files.write(ballast, new byte[size]);
    }

    void empty() throws IOException {
        Files.deleteIfExists(path.resolve(BALLAST));
    }

    /** As a disk does on which its filesystem found an error. Fails while somebody has a file open for writing. */
    boolean tryReadOnly() throws IOException, InterruptedException {
        return Requirements.works("mount", "-o", "remount,ro", path.toString());
    }

    void writable() throws IOException, InterruptedException {
        Ended.run(List.of("mount", "-o", "remount,rw", path.toString()), Map.of())
                .succeeded();
    }

    /** It is gone at once for all who come later, used or not. */
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
