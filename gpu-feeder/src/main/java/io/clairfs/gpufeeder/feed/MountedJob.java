package io.clairfs.gpufeeder.feed;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.spec.Samplers;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One rank of a job of a mount, as its control files show it: {@code job}, {@code order/JOB/EPOCH/RANK.i64}, {@code sample/JOB/all}. Reading them is no
 * read of a sample.
 */
public final class MountedJob {
    private static final java.lang.foreign.ValueLayout.OfLong NUMBER =
            JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final String JOBS = "job";

    /**
     * The keys of a job that matter here.
     *
     * @param batch samples of a batch of one rank, or 0
     * @param all every key but the ranks, which may change by themselves
     */
    private record Line(
            String name,
            String seed,
            int epochs,
            int batch,
            int world,
            int startEpoch,
            int startStep,
            String subset,
            Map<String, String> all) {
        private static Line of(Keys keys) throws InvalidSpecException {
            Map<String, String> all = new HashMap<>(keys.asWritten());
            all.remove("ranks");
            return new Line(
                    keys.text("name", ""),
                    keys.text("seed", ""),
                    keys.integer("epochs", JobSpec.UNLIMITED, 1, JobSpec.UNLIMITED),
                    keys.has("batch") ? Math.max(1, Samplers.batchOfRank(keys)) : 0,
                    keys.integer("world", 1, 1, Integer.MAX_VALUE),
                    keys.integer("start_epoch", 0, 0, Integer.MAX_VALUE),
                    keys.integer("start_step", 0, 0, Integer.MAX_VALUE),
                    keys.text("subset", "").replaceFirst("/$", ""),
                    all);
        }
    }

    private final ControlReader reader;
    private final Path mountPoint;
    private final Line line;
    private final int rank;

    private MountedJob(ControlReader reader, Line line, int rank) {
        this.reader = reader;
        mountPoint = reader.mountPoint();
        this.line = line;
        this.rank = rank;
    }

    /**
     * Finds a job. Where the mount's process is being started again, waits for the next one.
     *
     * @param mountPoint without links
     * @throws FeedException when the mount, the job or the rank is missing
     */
    public static MountedJob find(Path mountPoint, String name, int rank) throws IOException, InterruptedException {
        return find(new ControlReader(mountPoint), name, rank);
    }

    static MountedJob find(ControlReader reader, String name, int rank) throws IOException, InterruptedException {
        Path mountPoint = reader.mountPoint();
        List<String> names = new ArrayList<>();
        Line line = awaitLine(reader, name, names);
        if (line == null) {
            throw new FeedException("there is no job '" + name + "' at " + mountPoint + " ("
                    + (names.isEmpty() ? "there is none" : "jobs: " + String.join(", ", names))
                    + "); start it: clairfs job start " + mountPoint + " name=" + name
                    + " seed=SEED epochs=EPOCHS batch=BATCH");
        }
        if (rank < 0 || rank >= line.world) {
            throw new FeedException("rank " + rank + " is none of the job '" + name + "' at " + mountPoint
                    + ", whose world is " + line.world);
        }
        return new MountedJob(reader, line, rank);
    }

    private static @Nullable Line awaitLine(ControlReader reader, String name, List<String> names)
            throws IOException, InterruptedException {
        try (Arena arena = Arena.ofConfined()) {
            return line(reader.await(JOBS, arena), reader.path(JOBS), name, names);
        } catch (PosixException e) {
            throw reader.silence(e);
        }
    }

    /** The line of a job in the file of all jobs, whose names are added to {@code names}; null where it has none. */
    private static @Nullable Line line(MemorySegment jobs, Path file, String name, List<String> names)
            throws FeedException {
        String text = new String(jobs.toArray(JAVA_BYTE), UTF_8);
        try {
            for (String each : text.lines().filter(line -> !line.isBlank()).toList()) {
                Keys keys = Keys.parse(each);
                if (keys.has("seed")) { // other lines name the ranks of jobs to come
                    Line line = Line.of(keys);
                    names.add(line.name);
                    if (line.name.equals(name)) {
                        return line;
                    }
                }
            }
            return null;
        } catch (InvalidSpecException e) {
            throw new FeedException(file + " has a line of another version of clairfs: " + e.getMessage(), e);
        }
    }

    /**
     * Whether the mount still has this job.
     *
     * @throws IOException when the mount does not say: its process may be being started again
     */
    boolean isThere() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return line(reader.readNow(JOBS, arena), reader.path(JOBS), name(), new ArrayList<>()) != null;
        }
    }

    /**
     * Whether the mount has another job of this name by now.
     *
     * @throws IOException when the mount does not say
     */
    public boolean isReplaced() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Line now = line(reader.readNow(JOBS, arena), reader.path(JOBS), name(), new ArrayList<>());
            return now != null && !now.equals(line);
        }
    }

    /** Every key of the job's line but the ranks. Other keys are another job, as {@link #isReplaced} sees it. */
    String keys() {
        return line.all().entrySet().stream()
                .map(each -> each.getKey() + "=" + each.getValue())
                .sorted()
                .collect(Collectors.joining("\n"));
    }

    /** Whether the dataset is mounted, whether the mount's control files answer or not. */
    boolean isMounted() {
        return reader.isMounted();
    }

    public Path mountPoint() {
        return mountPoint;
    }

    public String name() {
        return line.name();
    }

    public int rank() {
        return rank;
    }

    /** Samples of a batch as the job says, or 0. */
    public int batch() {
        return line.batch();
    }

    /** The number of epochs, or {@link JobSpec#UNLIMITED}. */
    public int epochs() {
        return line.epochs();
    }

    public int startEpoch() {
        return line.startEpoch();
    }

    /**
     * The first step, in batches of so many samples.
     *
     * @throws FeedException when the job begins within such a batch
     */
    public int startStep(int batchSamples) throws FeedException {
        long first = (long) line.startStep() * line.batch();
        if (first % batchSamples != 0) {
            throw new FeedException("the job '" + line.name() + "' begins at sample " + first
                    + ", within a batch of " + batchSamples + ": take batches of " + line.batch()
                    + ", or say where to begin: Feed(..., epoch=E, step=S)");
        }
        return Math.toIntExact(first / batchSamples);
    }

    /** As the job's line has it. */
    String seed() {
        return line.seed();
    }

    String subset() {
        return line.subset();
    }

    /** A file below the mount point, whatever the bytes of its name are and the locale is. */
    Path file(byte[] path) {
        StringBuilder address = new StringBuilder(mountPoint.toUri().toString().replaceFirst("/*$", "/"));
        for (byte each : path) {
            address.append(each == '/' ? "/" : String.format("%%%02x", each));
        }
        return Path.of(URI.create(address.toString()));
    }

    /** The path of a file below the mount point, for a message. */
    String shown(byte[] path) {
        return mountPoint + "/" + new String(path, UTF_8);
    }

    /**
     * The samples of an epoch in the order of this rank.
     *
     * @throws OrderLaterException when it is not there yet, or the mount's process is being started again
     * @throws FeedException when there is none
     */
    int[] order(int epoch) throws IOException {
        String file = "order/" + line.name() + "/" + epoch + "/" + rank + ".i64";
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment read = reader.read(file, arena);
            int[] samples = new int[Math.toIntExact(read.byteSize() / Long.BYTES)];
            for (int step = 0; step < samples.length; step++) {
                samples[step] = Math.toIntExact(read.get(NUMBER, (long) step * Long.BYTES));
            }
            return samples;
        } catch (PosixException e) {
            throw failure("the order of epoch " + epoch, control(file), e);
        }
    }

    /**
     * The paths of all samples of the job.
     *
     * @throws OrderLaterException when they are not known yet, or the mount's process is being started again
     * @throws FeedException when there are none
     */
    SamplePaths paths() throws IOException {
        String file = "sample/" + line.name() + "/all";
        try (Arena arena = Arena.ofConfined()) {
            return SamplePaths.of(reader.read(file, arena));
        } catch (PosixException e) {
            throw failure("the list of samples", control(file), e);
        }
    }

    private IOException failure(String what, Path file, PosixException e) {
        return switch (e.errno()) {
            case Errno.EAGAIN, Errno.EMFILE -> new OrderLaterException(what + " of the job '" + line.name() + "'");
            case Errno.ENOENT ->
                new FeedException("the job '" + line.name() + "' at " + mountPoint + " has ended or changed: " + file
                        + " does not exist");
            case Errno.EIO ->
                new FeedException("the mount has no " + file + ": see the last line of " + control("errors"), e);
            default -> new FeedException("cannot read " + file + ": " + e.getMessage(), e);
        };
    }

    /** A control file of the mount. */
    Path control(String file) {
        return reader.path(file);
    }
}
