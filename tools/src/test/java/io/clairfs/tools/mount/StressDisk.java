package io.clairfs.tools.mount;

import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * Where a node keeps samples: a disk of its own that can fill up and become read only, if one can be had, else a directory. For one mount it may be
 * seen through a filesystem that is read only and answers with errors.
 */
final class StressDisk implements AutoCloseable {
    private static final long BYTES = 8L << 20;
    private static final int LARGEST_TIER_MIB = 3;

    private final MountFixture fixture;
    private final @Nullable SmallDisk disk;
    private final Path directory;
    private final int tierMib;
    private @Nullable FaultyMount failing;

    private StressDisk(MountFixture fixture, @Nullable SmallDisk disk, Path directory, int tierMib) {
        this.fixture = fixture;
        this.disk = disk;
        this.directory = directory;
        this.tierMib = tierMib;
    }

    /** A disk, of which a node uses as much as {@code random} says; perhaps nothing. */
    static StressDisk of(MountFixture fixture, StressReport report, Random random)
            throws IOException, InterruptedException {
        int tierMib = random.nextInt(LARGEST_TIER_MIB + 1);
        try {
            SmallDisk disk = SmallDisk.mount(fixture, BYTES);
            Path directory = Files.createDirectory(
                    disk.path().resolve("ssd"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            return new StressDisk(fixture, disk, directory, tierMib);
        } catch (TestAbortedException notHere) {
            report.impossible("disk full or read only");
            return new StressDisk(fixture, null, fixture.newDirectory("ssd"), tierMib);
        }
    }

    /** What a mount is told of it. */
    List<String> options() {
        Path seen = failing == null ? directory : failing.point();
        return tierMib == 0 ? List.of() : List.of("--ssd", seen + ":" + tierMib + "MiB", "--ssd-reserve", "1MiB");
    }

    /** Flips bits of something that it holds, cuts it, takes it away or puts something else in its place. Returns whether it could. */
    boolean damage(Random random) throws IOException {
        int which = random.nextInt(1 << 16);
        int how = random.nextInt(8);
        try (Stream<Path> all = Files.walk(directory)) {
            List<Path> found = all.filter(StressDisk::isSegment).sorted().toList();
            if (found.isEmpty() || !Files.isWritable(directory)) {
                return false;
            }
            Path file = found.get(which % found.size());
            switch (how) {
                case 0 -> Files.delete(file);
                case 1 -> {
                    Files.delete(file);
                    Files.createDirectory(file);
                }
                case 2 -> {
                    byte[] other = new byte[random.nextInt(100_000)];
                    random.nextBytes(other);
                    Files.delete(file);
                    Files.write(file, other);
                }
                default -> spoil(file, random, how == 3);
            }
            return true;
        } catch (IOException | java.io.UncheckedIOException goneMeanwhile) {
            return false;
        }
    }

    private static boolean isSegment(Path file) {
        String name = file.getFileName().toString();
        return (name.endsWith(".data") || name.endsWith(".index"))
                && Files.isRegularFile(file)
                && file.toFile().length() > 0;
    }

    private static void spoil(Path path, Random random, boolean cut) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            if (cut) {
                file.setLength(file.length() / 2);
            }
            for (int i = 1 + random.nextInt(16); file.length() > 0 && i > 0; i--) {
                file.seek(random.nextLong(file.length()));
                file.write(random.nextInt(256));
            }
        }
    }

    /** Leaves so many bytes. Returns whether that is possible. */
    boolean fill(long left) {
        try {
            if (disk != null) {
                disk.fillUpTo(left);
            }
            return disk != null;
        } catch (IOException takenMeanwhile) {
            return false;
        }
    }

    /** Makes it read only, if nobody is just writing. Returns whether it did. */
    boolean lock() throws IOException, InterruptedException {
        return disk != null && disk.tryReadOnly();
    }

    /** Makes it as good as new; what it holds stays. */
    void mend() throws IOException, InterruptedException {
        if (disk != null) {
            disk.writable();
            disk.empty();
        }
    }

    /** Who is told of it from now on sees it through a filesystem that can {@link #fail}. Nobody may be using it. */
    void putBehindFaults() throws IOException {
        failing = FaultyMount.mount(directory, fixture.newDirectory("failing"), FaultyMount.FAST);
    }

    /** Some or all requests are answered with EIO from now on. */
    void fail(Random random) {
        FaultSpec always = FaultSpec.of(FaultKind.EIO);
        FaultSpec some = always.chance(0.1 + random.nextDouble() / 2, random.nextLong());
        if (failing != null) {
            var _ = failing.inject(random.nextInt(3) == 0 ? always : some);
        }
    }

    /** Who is told of it from now on sees it itself again. Nobody may be using it. */
    void putInFront(StressReport report) {
        if (failing != null) {
            failing.counted().forEach((what, count) -> report.fault("disk: " + what, count));
            failing.close();
            failing = null;
        }
    }

    @Override
    public void close() throws IOException {
        if (failing != null) {
            failing.close();
        }
        if (disk != null) {
            disk.close();
        }
    }
}
