package io.clairfs.tools.mount;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A disk that a test may fill, make read-only and empty: a tmpfs below the fixture's directory, which is removed with it. */
record SmallDisk(Path path) implements AutoCloseable {
    private static final String BALLAST = "ballast";

    /** Mounts a disk of {@code bytes}. If none can be mounted, the test is skipped. */
    static SmallDisk mount(MountFixture fixture, long bytes) throws IOException, InterruptedException {
        Path point = fixture.newDirectory("disk");
        if (!Requirements.works("mount", "-t", "tmpfs", "-o", "mode=755,size=" + bytes, "none", point.toString())) {
            System.out.println("skipped: this machine does not allow to mount a tmpfs");
            abort("this machine does not allow to mount a tmpfs");
        }
        return new SmallDisk(point);
    }

    /** Fills the disk until {@code bytes} are left. */
    void fillUpTo(long bytes) throws IOException {
        Path ballast = path.resolve(BALLAST);
        Files.deleteIfExists(ballast);
        int size = Math.toIntExact(Math.max(0, path.toFile().getUsableSpace() - bytes));
        Files.write(ballast, new byte[size]);
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
