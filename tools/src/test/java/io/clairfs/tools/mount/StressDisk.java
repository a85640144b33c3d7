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
 * Where a node keeps samples: a disk of its own that can fill up and become read only, if one can be had, else a directory. For one mount it may be
 * seen through a filesystem that is read only and answers with errors.
 */
final class StressDisk implements AutoCloseable {
    private static final long BYTES = 8L << 20;
    private static final int LARGEST_TIER_MIB = 3;

    /** Longer than a read may take, and short enough for who ends a daemon. */
    private static final Duration HANG = Duration.ofSeconds(StressWorld.READ_TIMEOUT_S + 1L);

    private static final Duration DELAY = Duration.ofMillis(300);
    private static final int MOST_HANGS = 8;

    /** What is done to a segment. */
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

    /** A disk, of which a node uses as much as {@code random} says; perhaps nothing, unless {@code used}. */
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

    /** What a mount is told of it. */
    List<String> options() {
        Path seen = failing == null ? directory : failing.point();
        return tierMib == 0 ? List.of() : List.of("--ssd", seen + ":" + tierMib + "MiB", "--ssd-reserve", "1MiB");
    }

    /** Flips bits of something that it holds, cuts it, takes it away or puts something else in its place, if it can. */
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

    /** By a directory, or by anything. */
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
        failingNow = new Object();
        neverFailed = true;
        failing = FaultyMount.mount(directory, fixture.newDirectory("failing"), FaultyMount.FAST);
    }

    /**
     * What is behind faults fails in another way from now on: EIO to some or all requests, late answers, or none for longer than a read may take. At
     * first, while the daemon does not yet avoid it, all requests fail. Returns false for what cannot fail.
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

    /** Says what its faults have struck. */
    void count(StressReport report) {
        if (failing != null) {
            report.counted(failingNow, "disk: ", failing.counted());
        }
    }

    /** Who is told of it from now on sees it itself again. Nobody may be using it. */
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
