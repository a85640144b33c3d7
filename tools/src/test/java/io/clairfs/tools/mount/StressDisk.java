package io.clairfs.tools.mount;

import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * The place where a node keeps samples: its own disk, which can fill up and become read only, or a directory if no disk can be mounted. For
 * one mount the daemon may see it through a read-only filesystem that answers with errors.
 */
final class StressDisk implements AutoCloseable {
    private static final long BYTES = 8L << 20;
    private static final int LARGEST_TIER_MIB = 3;

    /** Longer than a read may take, and shorter than the bound for the end of a daemon. */
    private static final Duration HANG = Duration.ofSeconds(StressWorld.READ_TIMEOUT_S + 1L);

    private static final Duration DELAY = Duration.ofMillis(300);
    private static final int MOST_HANGS = 8;

    /** The kinds of damage to a segment. */
    private enum Damage {
        FLIPPED("bits flipped"),
        CUT("segment cut"),
        DELETED("segment deleted"),
        REPLACED("segment replaced"),
        LINK("link planted");

        private final String name;

        Damage(String name) {
            this.name = name;
        }
    }

    private final MountFixture fixture;
    private final @Nullable SmallDisk disk;
    private final Path directory;
    private final int tierMib;
    private final StressDeck<Damage> damages;
    private final StressDeck<FaultKind> firstFailures;
    private final StressDeck<FaultKind> failures;
    private @Nullable FaultyMount failing;
    private Object failingNow = new Object();
    private boolean neverFailed;

    private StressDisk(MountFixture fixture, @Nullable SmallDisk disk, Path directory, int tierMib, Random random) {
        damages = new StressDeck<>(random, List.of(Damage.values()));
        firstFailures = new StressDeck<>(random, List.of(FaultKind.EIO, FaultKind.HANG, FaultKind.DELAY));
        failures = new StressDeck<>(random, List.of(FaultKind.EIO, FaultKind.EIO, FaultKind.HANG, FaultKind.DELAY));
        this.fixture = fixture;
        this.disk = disk;
        this.directory = directory;
        this.tierMib = tierMib;
    }

    /** Makes a disk. {@code random} determines how much of it a node uses; without {@code used} this may be nothing. */
    static StressDisk of(MountFixture fixture, StressReport report, Random random, boolean used)
            throws IOException, InterruptedException {
        int least = used ? 1 : 0;
        int tierMib = least + random.nextInt(LARGEST_TIER_MIB + 1 - least);
        Random apart = new Random(random.nextLong());
        try {
            SmallDisk disk = SmallDisk.mount(fixture, BYTES);
            Path directory = Files.createDirectory(
                    disk.path().resolve("ssd"),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            return new StressDisk(fixture, disk, directory, tierMib, apart);
        } catch (TestAbortedException notHere) {
            report.impossible("disk full or read only");
            return new StressDisk(fixture, null, fixture.newDirectory("ssd"), tierMib, apart);
        }
    }

    /** The options of a mount for this disk. */
    List<String> options() {
        Path seen = failing == null ? directory : failing.point();
        return tierMib == 0 ? List.of() : List.of("--ssd", seen + ":" + tierMib + "MiB", "--ssd-reserve", "1MiB");
    }

    /** Damages a segment, if there is one: flips bits, cuts, deletes or replaces it. */
    void damage(StressReport report, StressLinks links, Random random) throws IOException {
        int which = random.nextInt(1 << 16);
        Damage how = damages.next();
        try (Stream<Path> all = Files.walk(directory)) {
            List<Path> found = all.filter(StressDisk::isSegment).sorted().toList();
            if (found.isEmpty() || !Files.isWritable(directory)) {
                return;
            }
            Path file = found.get(which % found.size());
            switch (how) {
                case DELETED -> Files.delete(file);
                case REPLACED -> replace(file, random);
                case LINK -> links.plantAt(file);
                case CUT, FLIPPED -> spoil(file, random, how == Damage.CUT);
            }
            report.fault("disk: " + how.name, 1);
        } catch (IOException | java.io.UncheckedIOException goneMeanwhile) {
            return;
        }
    }

    /** Replaces a file by a directory or by a random file. */
    private static void replace(Path file, Random random) throws IOException {
        Files.delete(file);
        if (random.nextInt(3) == 0) {
            Files.createDirectory(file);
            return;
        }
        byte[] other = new byte[random.nextInt(100_000)];
        random.nextBytes(other);
        Files.write(file, other);
    }

    private static boolean isSegment(Path file) {
        String name = file.getFileName().toString();
        return (name.endsWith(".data") || name.endsWith(".index"))
                && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
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

    /** Fills the disk until {@code left} bytes are left. Returns whether that is possible. */
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

    /** Makes the disk read only unless a process is writing. Returns whether it did. */
    boolean lock() throws IOException, InterruptedException {
        return disk != null && disk.tryReadOnly();
    }

    /** Makes the disk writable again and frees its space. Its samples stay. */
    void mend() throws IOException, InterruptedException {
        if (disk != null) {
            disk.writable();
            disk.empty();
        }
    }

    /** Puts a filesystem that can {@link #fail} in front of the disk, for later mounts. The disk must not be in use. */
    void putBehindFaults() throws IOException {
        failingNow = new Object();
        neverFailed = true;
        failing = FaultyMount.mount(directory, fixture.newDirectory("failing"), FaultyMount.FAST);
    }

    /**
     * Makes the filesystem in front of the disk fail in another way: EIO for some or all requests, late answers, or no answers for longer
     * than a read may take. The first failure strikes all requests, because the daemon does not avoid the disk yet. Returns false if there
     * is no such filesystem.
     */
    boolean fail(Random random) {
        if (failing == null) {
            return false;
        }
        failing.liftAll();
        FaultKind kind = neverFailed ? firstFailures.next() : failures.next();
        FaultSpec always = FaultSpec.of(kind);
        FaultSpec some = always.chance(0.1 + random.nextDouble() / 2, random.nextLong());
        FaultSpec spec = neverFailed || random.nextInt(3) == 0 ? always : some;
        neverFailed = false;
        var _ = failing.inject(
                switch (kind) {
                    case HANG -> spec.lasting(HANG).times(MOST_HANGS);
                    case DELAY -> spec.lasting(DELAY);
                    default -> spec;
                });
        return true;
    }

    /** Ends its failures. A process that waits for an answer of it cannot be ended before it has one. */
    void answerAgain() {
        if (failing != null) {
            failing.liftAll();
        }
    }

    /** Reports the strikes of its faults. */
    void count(StressReport report) {
        if (failing != null) {
            report.counted(failingNow, "disk: ", failing.counted());
        }
    }

    /** Removes the filesystem in front of the disk. The disk must not be in use. */
    void putInFront(StressReport report) {
        if (failing != null) {
            count(report);
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
