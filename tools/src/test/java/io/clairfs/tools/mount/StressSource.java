package io.clairfs.tools.mount;

import io.clairfs.cache.posix.Errno;
import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.faulty.Request;
import io.clairfs.fs.faulty.SourceFiles;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The source of a random test: files behind a faulty filesystem, and in some rounds also behind a process that can be stopped and killed.
 */
final class StressSource implements AutoCloseable {
    static final List<String> DIRECTORIES = List.of("a", "b", "c/d");

    /** A file above 64 MiB, the largest sample kept whole for readers, so that it is read in pieces. */
    private static final String BIG = "big.bin";

    private static final long BIG_BYTES = 68_157_447;

    private static final int FILES = 60;
    private static final int SMALL_FILES = 200;
    private static final int SMALL_BYTES = 8_000;
    private static final int STOPPED_MS = 1000;
    private static final int[] SIZES = {0, 1, 4095, 4096, 4097, 30_000, 131_071, 131_072, 131_073, 200_001, 400_000};

    /** Enough slow reads for the daemon's measurement of the source. */
    private static final int SLOW_READS = 40;

    /** The daemon would prefer a source as fast as its disk. */
    private static final Duration SLOW = Duration.ofMillis(150);

    private static final SlowSourceSpec SPEED = new SlowSourceSpec(1L << 30, Duration.ofMillis(5));

    /** The errors of requests to a filesystem whose process was killed. */
    private static final Set<Integer> KILLED = Set.of(Errno.ENOTCONN, 103 /* ECONNABORTED */);

    private final Path dataset;
    private final FaultyMount steered;
    private final StressFaults faults;
    private final List<String> paths = new ArrayList<>();
    private final Set<String> cut = new TreeSet<>();
    private final StressTruth truth;
    private final StressLinks links;
    private final StressDeck<FaultKind> kinds;
    private final StressDeck<Change> changes;
    private final StressDeck<Boolean> tooLong;
    private @Nullable FaultyProcess between;

    /** The changes of a file's content. */
    private enum Change {
        REPLACED,
        RESIZED,
        TRUNCATED,
        RESTORED,
        CUT
    }

    /** The files follow from {@code random}; {@code inProcess} says whether there is a process in between. */
    StressSource(MountFixture fixture, Random random, boolean inProcess) throws IOException {
        dataset = fixture.newDirectory("dataset");
        for (String directory : DIRECTORIES) {
            Files.createDirectories(dataset.resolve(directory));
        }
        steered = FaultyMount.mount(dataset, fixture.newDirectory("source"), SPEED);
        truth = new StressTruth(steered.files());
        for (int i = 0; i < FILES; i++) {
            String path = DIRECTORIES.get(i % DIRECTORIES.size()) + "/" + i + ".bin";
            make(path, random.nextLong(), i < SIZES.length ? SIZES[i] : random.nextInt(150_000));
        }
        for (int i = 0; i < SMALL_FILES; i++) {
            String path = DIRECTORIES.get(i % DIRECTORIES.size()) + "/s" + i + ".bin";
            make(path, random.nextLong(), random.nextInt(SMALL_BYTES));
        }
        faults = new StressFaults(steered);
        links = new StressLinks(fixture, dataset, faults, random.nextLong());
        for (String path : links.paths()) {
            make(path, random.nextLong(), SMALL_BYTES + random.nextInt(SMALL_BYTES));
        }
        make(BIG, random.nextLong(), BIG_BYTES);
        kinds = new StressDeck<>(random, List.of(FaultKind.values()));
        changes = new StressDeck<>(random, List.of(Change.values()));
        tooLong = new StressDeck<>(random, List.of(true, false, false, false, false, false));
        between = inProcess ? FaultyProcess.start(steered.point(), fixture.newDirectory("process")) : null;
    }

    private void make(String path, long seed, long size) throws IOException {
        Files.createDirectories(dataset.resolve(path).getParent());
        truth.add(path, StressTruth.make(dataset.resolve(path), seed, size));
        paths.add(path);
    }

    /** The directory to mount. */
    Path point() {
        return between == null ? steered.point() : between.point();
    }

    /** The directory behind all faults. */
    Path dataset() {
        return dataset;
    }

    /** Files of ordinary size, and a big one at the end. */
    List<String> paths() {
        return paths;
    }

    static boolean isBig(String path) {
        return path.equals(BIG);
    }

    StressTruth truth() {
        return truth;
    }

    StressLinks links() {
        return links;
    }

    StressFaults faults() {
        return faults;
    }

    /** Injects a fault of some kind into requests for {@code path}, for a directory or for anything. */
    void inject(Random random, String path) {
        FaultKind kind = kinds.next();
        FaultSpec spec = FaultSpec.of(kind);
        int where = random.nextInt(10);
        if (where < 4) {
            spec = spec.at(path);
        } else if (where < 8) {
            spec = spec.at(DIRECTORIES.get(random.nextInt(DIRECTORIES.size())));
        }
        if (kind != FaultKind.SHORT_READ && random.nextInt(4) == 0) {
            spec = spec.on(Request.STATUS);
        }
        switch (random.nextInt(3)) {
            case 0 -> spec = spec.times(1 + random.nextInt(20));
            case 1 -> spec = spec.chance(0.05 + random.nextDouble() / 2, random.nextLong());
            default -> {}
        }
        spec = switch (kind) {
            case DELAY -> spec.lasting(Duration.ofMillis(random.nextInt(300)));
            case HANG -> spec.lasting(Duration.ofSeconds(2L * StressWorld.READ_TIMEOUT_S));
            default -> spec;
        };
        var _ = faults.inject(spec);
    }

    /** Delays the next reads, so that daemons prefer other places. */
    void beSlow() {
        var _ = faults.inject(
                FaultSpec.of(FaultKind.DELAY).on(Request.READ).lasting(SLOW).times(SLOW_READS));
    }

    /** Ends all faults. Changed files stay changed. */
    void lift() throws IOException {
        faults.liftAll();
        for (String path : cut) {
            steered.files().uncut(path);
        }
        cut.clear();
    }

    /** Changes the content of one of the first {@code changing} files, or makes any ordinary file end early until {@link #lift}. */
    void change(Random random, int changing) throws IOException {
        SourceFiles files = steered.files();
        Change change = changes.next();
        int ordinary = FILES + SMALL_FILES;
        String path = paths.get(random.nextInt(change == Change.CUT ? ordinary : Math.min(ordinary, changing)));
        long size = truth.now(path).size();
        switch (change) {
            case REPLACED -> files.replace(path, random.nextLong());
            case RESIZED -> files.replace(path, random.nextLong(), random.nextLong(300_000));
            case TRUNCATED -> files.truncate(path, size / 2);
            case RESTORED -> files.restore(path);
            case CUT -> {
                faults.cut(path);
                files.cut(path, size / 3);
                cut.add(path);
            }
        }
    }

    /** Stops the process in between for a moment, or for longer than the read timeout. Returns whether there is one. */
    boolean stop(Random random, Meanwhile meanwhile) throws Exception {
        int millis = random.nextInt(STOPPED_MS);
        boolean beyondTimeout = tooLong.next();
        if (between == null) {
            return false;
        }
        StressFaults.Period silence = faults.begin(Set.of(Errno.EIO));
        between.signal("STOP");
        try {
            meanwhile.happens();
            TimeUnit.MILLISECONDS.sleep(beyondTimeout ? 1000L * StressWorld.READ_TIMEOUT_S + millis : millis);
        } finally {
            between.goOn();
            faults.end(silence);
        }
        return true;
    }

    /**
     * Kills the process in between, and starts another at the same place. Daemons must find it by themselves. Faults are lifted before,
     * because a process that waits in one cannot be killed.
     */
    boolean kill(Meanwhile meanwhile) throws Exception {
        if (between == null) {
            return false;
        }
        lift();
        StressFaults.Period death = faults.begin(KILLED);
        between.close();
        meanwhile.happens();
        between = FaultyProcess.start(steered.point(), between.point());
        faults.end(death);
        return true;
    }

    void count(StressReport report) {
        report.counted(this, "source: ", steered.counted());
    }

    @Override
    public void close() throws IOException {
        if (between != null) {
            faults.liftAll();
            between.close();
            FaultyMount.removeLeftover(between.point());
        }
        steered.close();
    }
}
