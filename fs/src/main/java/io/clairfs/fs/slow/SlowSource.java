package io.clairfs.fs.slow;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.DirectoryReader;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.fs.mount.FileHandle;
import io.clairfs.fs.mount.FileStat;
import io.clairfs.fs.mount.FuseCallbacks;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * A directory that behaves as a slow shared store: every open has a latency, and all reads share one bandwidth.
 *
 * <p>Names and attributes are as fast as the directory's own. The kernel keeps no file content, so each epoch pays for all its
 * bytes again, as with a dataset that is larger than the page cache. Errors of the directory reach the reader unchanged. Opens
 * and reads are counted here, independently of any reader's own figures.
 */
public final class SlowSource implements FuseCallbacks, AutoCloseable {
    /** Mount options: the kernel keeps names and attributes, but no pages. */
    public static final List<String> OPTIONS = List.of(
            "ro",
            "direct_io",
            "entry_timeout=3600",
            "attr_timeout=3600",
            "fsname=slow-source",
            "subtype=" + SlowMount.SUBTYPE);

    private static final byte[] HERE = {'.'};
    private static final int FILE_FLAGS = Posix.O_RDONLY | Posix.O_NONBLOCK;
    private static final int DIRECTORY_FLAGS = Posix.O_RDONLY | Posix.O_DIRECTORY;

    private final int root;
    private final long openLatencyNs;
    private final SharedBandwidth bandwidth;
    private final LongAdder opens = new LongAdder();
    private final LongAdder reads = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final ConcurrentHashMap<String, LongAdder> bytesByTop = new ConcurrentHashMap<>();

    /** {@code directory} as a slow source; it must exist and be readable. */
    public SlowSource(Path directory, SlowSourceSpec spec) throws PosixException {
        root = Posix.openAt(Posix.AT_FDCWD, directory.toString().getBytes(UTF_8), Posix.O_RDONLY | Posix.O_DIRECTORY);
        openLatencyNs = spec.openLatency().toNanos();
        bandwidth = new SharedBandwidth(spec.bytesPerSecond(), System::nanoTime);
    }

    /** The opens and reads so far. */
    public SourceReads counted() {
        return new SourceReads(opens.sum(), reads.sum(), bytes.sum());
    }

    /** The bytes read so far of files below the directory of this name in the root. */
    public long bytesBelow(String top) {
        LongAdder below = bytesByTop.get(top);
        return below == null ? 0 : below.sum();
    }

    private static String top(byte[] path) {
        String whole = new String(path, 1, path.length - 1, ISO_8859_1);
        int end = whole.indexOf('/');
        return end < 0 ? "" : whole.substring(0, end);
    }

    @Override
    public Set<Operation> operations() {
        return EnumSet.of(
                Operation.GETATTR,
                Operation.READLINK,
                Operation.READDIR,
                Operation.OPEN,
                Operation.READ,
                Operation.RELEASE);
    }

    @Override
    public int getattr(byte[] path, FileStat stat) throws PosixException {
        FileStatus status = Posix.statAt(root, below(path), Posix.AT_SYMLINK_NOFOLLOW);
        stat.set(status.mode(), status.uid(), status.gid(), status.size(), status.mtimeNs());
        return 0;
    }

    @Override
    public byte[] readlink(byte[] path) throws PosixException {
        return Posix.readLinkAt(root, below(path));
    }

    @Override
    public int readdir(byte[] path, Filler entries) throws PosixException {
        int directory = Posix.openBeneath(root, below(path), DIRECTORY_FLAGS);
        try {
            DirectoryReader.names(directory).forEach(entries::add);
        } finally {
            Posix.close(directory);
        }
        return 0;
    }

    /**
     * The handle is the descriptor of the underlying file. This fails if a directory of the path has become a link since the kernel looked it up,
     * as on a filesystem that knows its directories by number.
     */
    @Override
    public int open(byte[] path, FileHandle handle) throws PosixException {
        if (handle.writes()) {
            return -Errno.EROFS;
        }
        sleepUntil(System.nanoTime() + openLatencyNs);
        handle.id(Posix.openBeneath(root, below(path), FILE_FLAGS));
        opens.increment();
        return 0;
    }

    @Override
    public int read(byte[] path, MemorySegment into, long offset, FileHandle handle) throws PosixException {
        int n = (int) Posix.pread((int) handle.id(), into, offset);
        if (n > 0) {
            charge(n);
            bytesByTop.computeIfAbsent(top(path), _ -> new LongAdder()).add(n);
        }
        return n;
    }

    /** Waits as long as {@code n} bytes take, and counts them. For a caller that answers a read in this source's place. */
    public void charge(int n) throws PosixException {
        sleepUntil(bandwidth.reserve(n));
        reads.increment();
        bytes.add(n);
    }

    @Override
    public int release(byte[] path, FileHandle handle) {
        Posix.close((int) handle.id());
        return 0;
    }

    private static byte[] below(byte[] path) {
        return path.length <= 1 ? HERE : Arrays.copyOfRange(path, 1, path.length);
    }

    /** Both waits are bounded: the latency by the spec, the line by its longest queue. */
    private static void sleepUntil(long timeNs) {
        long left;
        while ((left = timeNs - System.nanoTime()) > 0) {
            LockSupport.parkNanos(left);
        }
    }

    /** Called when no callback can come any more. */
    @Override
    public void close() {
        Posix.close(root);
    }
}
