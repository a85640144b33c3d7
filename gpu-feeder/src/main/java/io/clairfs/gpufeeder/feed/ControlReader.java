package io.clairfs.gpufeeder.feed;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Reads the control files of a mount. From the death of the mount's process until the next one has mounted them anew they do not answer, and for a moment
 * they are not there, while the dataset stays mounted: whoever reads one then is told to come again, for a minute. {@code _Mount.read} of
 * clairfs_torch.py does the same. Thread-safe.
 */
final class ControlReader {
    /** As long as the supervisor waits for a new process. The same as in clairfs_torch.py. */
    private static final long RESTART_PATIENCE_S = 60;

    private static final long LATER_MS = 100;
    private static final String DIRECTORY = ".clairfs";
    private static final String STATUS = "status.json";

    /** What reads a file to its end, into memory of an arena. */
    interface Content {
        MemorySegment read(Path file, Arena arena) throws PosixException;
    }

    private final Path mountPoint;
    private final Content content;
    private final BooleanSupplier isMounted;
    private final Patience patience;

    /** {@code mountPoint} has no links, as in the table of mounts. */
    ControlReader(Path mountPoint) {
        this(mountPoint, WholeFile::read, () -> MountEntry.isThere(mountPoint), System::nanoTime);
    }

    /** {@code isMounted} says whether the dataset is, whether its control files answer or not; {@code clockNs} only runs forward. */
    ControlReader(Path mountPoint, Content content, BooleanSupplier isMounted, LongSupplier clockNs) {
        this.mountPoint = mountPoint;
        this.content = content;
        this.isMounted = isMounted;
        patience = new Patience(RESTART_PATIENCE_S, clockNs);
    }

    Path mountPoint() {
        return mountPoint;
    }

    /** Where a control file is. */
    Path path(String file) {
        return mountPoint.resolve(DIRECTORY).resolve(file);
    }

    /** Whether the dataset is mounted, whether its control files answer or not. */
    boolean isMounted() {
        return isMounted.getAsBoolean();
    }

    /**
     * The content of a control file, in memory of {@code arena}.
     *
     * @throws OrderLaterException while the next process of the mount is being started
     * @throws PosixException as the mount answered
     * @throws FeedException when no process answers any more
     */
    MemorySegment read(String file, Arena arena) throws IOException {
        try {
            return readNow(file, arena);
        } catch (PosixException e) {
            if (!isOfRestart(e)) {
                patience.renew();
                throw e;
            }
            if (answers()) {
                patience.renew();
                return readNow(file, arena); // perhaps it answers only since the failure
            }
            if (isMounted() && patience.lasts()) {
                throw new OrderLaterException("the next process of the mount at " + mountPoint);
            }
            patience.renew();
            throw silence(e);
        }
    }

    /** As {@link #read}, but waits for the next process of the mount. */
    MemorySegment await(String file, Arena arena) throws IOException, InterruptedException {
        while (true) {
            try {
                return read(file, arena);
            } catch (OrderLaterException _) {
                Thread.sleep(LATER_MS);
            }
        }
    }

    /** As {@link #read}, but a failure is one at once. */
    MemorySegment readNow(String file, Arena arena) throws PosixException {
        MemorySegment read = content.read(path(file), arena);
        patience.renew();
        return read;
    }

    /** Whether a process answers for the control files. */
    private boolean answers() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment _ = content.read(path(STATUS), arena);
            return true;
        } catch (PosixException e) {
            return !isOfRestart(e);
        }
    }

    private static boolean isOfRestart(PosixException e) {
        return switch (e.errno()) {
            case Errno.ENOENT, Errno.ENOTCONN, Errno.ECONNABORTED -> true;
            default -> false;
        };
    }

    /** What the user is told where no process answers. */
    FeedException silence(PosixException e) {
        return new FeedException(
                "no clairfs mount answers at " + mountPoint + " (" + e.getMessage()
                        + "): mount the dataset there: clairfs mount SOURCE " + mountPoint,
                e);
    }
}
