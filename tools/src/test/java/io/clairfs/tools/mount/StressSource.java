package io.clairfs.tools.mount;

import io.clairfs.cache.posix.Errno;
import io.clairfs.fs.faulty.FaultKind;
import io.clairfs.fs.faulty.FaultSpec;
import io.clairfs.fs.faulty.FaultyMount;
import io.clairfs.fs.faulty.Request;
import io.clairfs.fs.faulty.SourceFiles;
import io.clairfs.fs.slow.SlowSourceSpec;
import java.io.IOException;
import java.io.OutputStream;
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

/** The source of a random test: files seen through faults, and in some rounds through a process that can be stopped and killed as well. */
final class StressSource implements AutoCloseable {
    static final List<String> DIRECTORIES = List.of("a", "b", "c/d");

    /** Larger than what is ever kept whole for readers, so that it is read in pieces. */
    private static final String BIG = "big.bin";

    /** No power of two, so that no two of its pages are alike. */
    private static final int BIG_PIECE = 1_000_003;

    private static final int BIG_PIECES = 67;
    private static final int FILES = 60;
    private static final int STOPPED_MS = 1000;
    private static final int[] SIZES = {0, 1, 4095, 4096, 4097, 30_000, 131_071, 131_072, 131_073, 200_001, 400_000};

    /** A source that is as fast as a disk would be preferred to it. */
    private static final SlowSourceSpec SPEED = new SlowSourceSpec(1L << 30, Duration.ofMillis(5));

    /** What who asks a filesystem gets whose process was killed. */
    private static final Set<Integer> KILLED = Set.of(Errno.ENOTCONN, 103 /* ECONNABORTED */);

    private final Path dataset;
    private final FaultyMount steered;
    private final StressFaults faults;
    private final List<String> paths = new ArrayList<>();
    private final Set<String> cut = new TreeSet<>();
    private @Nullable FaultyProcess between;

    /** The files follow from {@code random}; {@code inProcess} is whether there is a process in between. */
    StressSource(MountFixture fixture, Random random, boolean inProcess) throws IOException {
        dataset = fixture.newDirectory("dataset");
        for (String directory : DIRECTORIES) {
            Files.createDirectories(dataset.resolve(directory));
        }
        for (int i = 0; i < FILES; i++) {
            String path = DIRECTORIES.get(i % DIRECTORIES.size()) + "/" + i + ".bin";
            byte[] content = new byte[i < SIZES.length ? SIZES[i] : random.nextInt(150_000)];
            random.nextBytes(content);
            Files.write(dataset.resolve(path), content);
            paths.add(path);
        }
        byte[] piece = new byte[BIG_PIECE];
        random.nextBytes(piece);
        try (OutputStream big = Files.newOutputStream(dataset.resolve(BIG))) {
            for (int i = 0; i < BIG_PIECES; i++) {
                big.write(piece);
            }
        }
        paths.add(BIG);
        steered = FaultyMount.mount(dataset, fixture.newDirectory("source"), SPEED);
        faults = new StressFaults(steered);
        between = inProcess ? FaultyProcess.start(steered.point(), fixture.newDirectory("process")) : null;
    }

    /** What is to be mounted. */
    Path point() {
        return between == null ? steered.point() : between.point();
    }

    /** What is behind all that can go wrong. */
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

    SourceFiles files() {
        return steered.files();
    }

    StressFaults faults() {
        return faults;
    }

    /** Lets requests for {@code path}, for a directory or for anything go wrong in one way or another. */
    void inject(Random random, String path) {
        FaultKind kind = FaultKind.values()[random.nextInt(FaultKind.values().length)];
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

    /** Ends all faults; changes of files stay. */
    void lift() throws IOException {
        faults.liftAll();
        for (String path : cut) {
            steered.files().uncut(path);
        }
        cut.clear();
    }

    /** Gives a file other content; the first {@code changing} may keep it, the rest get theirs back by {@link #lift}. */
    void change(Random random, String path, int changing) throws IOException {
        SourceFiles files = steered.files();
        if (isBig(path)) {
            return;
        }
        long size = files.now(path).size();
        switch (paths.indexOf(path) < changing ? random.nextInt(5) : -1) {
            case 0 -> files.replace(path, random.nextLong());
            case 1 -> files.replace(path, random.nextLong(), random.nextLong(300_000));
            case 2 -> files.truncate(path, size / 2);
            case 3 -> files.restore(path);
            default -> {
                faults.cut(path);
                files.cut(path, size / 3);
                cut.add(path);
            }
        }
    }

    /** Does not let the process in between run for a moment, or for longer than the read timeout. Returns whether there is one. */
    boolean stop(Random random, Meanwhile meanwhile) throws Exception {
        int millis = random.nextInt(STOPPED_MS);
        boolean tooLong = random.nextInt(4) == 0;
        if (between == null) {
            return false;
        }
        StressFaults.Period silence = faults.begin(Set.of(Errno.EIO));
        between.signal("STOP");
        try {
            meanwhile.happens();
            TimeUnit.MILLISECONDS.sleep(tooLong ? 1000L * StressWorld.READ_TIMEOUT_S + millis : millis);
        } finally {
            between.goOn();
            faults.end(silence);
        }
        return true;
    }

    /**
     * Kills the process in between, and starts another at the same place: who had it mounted has to find that by itself. Faults are lifted before, for a
     * process that waits in one cannot be killed.
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
        steered.counted().forEach(report::fault);
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
