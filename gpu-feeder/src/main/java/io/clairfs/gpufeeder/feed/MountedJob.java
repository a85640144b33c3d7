package io.clairfs.gpufeeder.feed;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One rank of a job of a mount, as its control files show it: {@code job}, {@code order/JOB/EPOCH/RANK.i64}, {@code sample/JOB/all}. Reading them is no
 * read of a sample.
 */
public final class MountedJob {
    private static final java.lang.foreign.ValueLayout.OfLong NUMBER =
            JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The keys of a job that matter here. */
    private record Line(
            String name, String seed, int epochs, int batch, int world, int startEpoch, int startStep, String subset) {
        private static Line of(Keys keys) throws InvalidSpecException {
            return new Line(
                    keys.text("name", ""),
                    keys.text("seed", ""),
                    keys.integer("epochs", JobSpec.UNLIMITED, 1, JobSpec.UNLIMITED),
                    keys.integer("batch", 0, 0, Integer.MAX_VALUE),
                    keys.integer("world", 1, 1, Integer.MAX_VALUE),
                    keys.integer("start_epoch", 0, 0, Integer.MAX_VALUE),
                    keys.integer("start_step", 0, 0, Integer.MAX_VALUE),
                    keys.text("subset", "").replaceFirst("/$", ""));
        }
    }

    private final Path mountPoint;
    private final Line line;
    private final int rank;

    private MountedJob(Path mountPoint, Line line, int rank) {
        this.mountPoint = mountPoint;
        this.line = line;
        this.rank = rank;
    }

    /**
     * Finds a job.
     *
     * @throws FeedException when the mount, the job or the rank is missing
     */
    public static MountedJob find(Path mountPoint, String name, int rank) throws IOException {
        List<String> names = new ArrayList<>();
        Line line = read(mountPoint, name, names);
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
        return new MountedJob(mountPoint, line, rank);
    }

    private static @Nullable Line read(Path mountPoint, String name, List<String> names) throws IOException {
        Path file = mountPoint.resolve(".clairfs/job");
        try (Arena arena = Arena.ofConfined()) {
            String text = new String(WholeFile.read(file, arena).toArray(JAVA_BYTE), UTF_8);
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
        } catch (PosixException e) {
            throw new FeedException(
                    "no clairfs mount answers at " + mountPoint + " (" + e.getMessage()
                            + "): mount the dataset there: clairfs mount SOURCE " + mountPoint,
                    e);
        } catch (InvalidSpecException e) {
            throw new FeedException(file + " has a line of another version of clairfs: " + e.getMessage(), e);
        }
    }

    /** Whether the mount still has this job. */
    public boolean isThere() {
        try {
            return read(mountPoint, line.name(), new ArrayList<>()) != null;
        } catch (IOException e) {
            return false;
        }
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

    public int startStep() {
        return line.startStep();
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
     * @throws OrderLaterException when it is not there yet
     * @throws FeedException when there is none
     */
    int[] order(int epoch) throws IOException {
        Path file = control("order/" + line.name() + "/" + epoch + "/" + rank + ".i64");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment read = WholeFile.read(file, arena);
            int[] samples = new int[Math.toIntExact(read.byteSize() / Long.BYTES)];
            for (int step = 0; step < samples.length; step++) {
                samples[step] = Math.toIntExact(read.get(NUMBER, (long) step * Long.BYTES));
            }
            return samples;
        } catch (PosixException e) {
            throw failure("the order of epoch " + epoch, file, e);
        }
    }

    /** The paths of all samples of the job. */
    SamplePaths paths() throws IOException {
        Path file = control("sample/" + line.name() + "/all");
        try (Arena arena = Arena.ofConfined()) {
            return SamplePaths.of(WholeFile.read(file, arena));
        } catch (PosixException e) {
            throw failure("the list of samples", file, e);
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
        return mountPoint.resolve(".clairfs").resolve(file);
    }
}
