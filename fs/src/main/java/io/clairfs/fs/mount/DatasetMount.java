package io.clairfs.fs.mount;

import io.clairfs.cache.dataset.Attributes;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.SourceException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The dataset as a read-only tree.
 *
 * <p>Names, sizes and times come from the listing alone, so walking the mount costs the source nothing. {@code open} and
 * {@code flush} are answered once with ENOSYS, after which the kernel (3.16 and newer) opens and closes files without asking, and
 * keeps their pages. A read comes here only when its pages are not in the page cache.
 *
 * <p>The root has a hidden, empty directory {@code .clairfs}, on which the control files are mounted: a data file could not be
 * one of them, for on a mount whose opens are not asked for, a file's content must never change. Where they cannot be mounted
 * inside this mount, {@code .clairfs} is a link to where they are.
 */
public final class DatasetMount implements FuseCallbacks {
    /** The name of the directory of the control files. */
    public static final String CONTROL_DIRECTORY = ".clairfs";

    /**
     * How it is to be mounted: the kernel may remember names and attributes for a day, keeps pages, checks permissions, and
     * may ask for many pieces at once.
     */
    public static final List<String> OPTIONS = List.of(
            "ro",
            "kernel_cache",
            "entry_timeout=86400",
            "attr_timeout=86400",
            "default_permissions",
            "max_background=128",
            "congestion_threshold=96",
            "subtype=clairfs");

    private static final byte[] CONTROL = CONTROL_DIRECTORY.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final int READ_ONLY_DIRECTORY = FileStatus.DIRECTORY | 0555;
    private static final int LINK = FileStatus.SYMLINK | 0777;

    private final DatasetTree tree;
    private final ReadRequests requests;
    private final byte @Nullable [] controlLink;
    private final long timeoutMs;

    /**
     * A mount of {@code tree}.
     *
     * @param requests answers reads
     * @param controlLink where the control files are mounted; null when inside this mount
     * @param timeoutMs how long a walk may wait for a directory that is being listed
     */
    public DatasetMount(DatasetTree tree, ReadRequests requests, byte @Nullable [] controlLink, long timeoutMs) {
        this.tree = tree;
        this.requests = requests;
        this.controlLink = controlLink;
        this.timeoutMs = timeoutMs;
    }

    /** Answers reads that the page cache could not. */
    @FunctionalInterface
    public interface ReadRequests {
        /** Fills {@code into} from {@code offset} of the file on; as {@code SampleReader.read}. */
        int read(Entry file, long offset, MemorySegment into) throws SourceException;
    }

    @Override
    public Set<Operation> operations() {
        return EnumSet.of(
                Operation.GETATTR,
                Operation.READLINK,
                Operation.READDIR,
                Operation.OPEN,
                Operation.FLUSH,
                Operation.READ,
                Operation.STATFS);
    }

    @Override
    public int getattr(byte[] path, FileStat stat) throws SourceException {
        FileStatus root = tree.rootStatus();
        if (path.length == 1) {
            stat.set(root.mode(), root.uid(), root.gid(), root.size(), root.mtimeNs());
            return 0;
        }
        if (isControl(path)) {
            if (controlLink == null) {
                stat.set(READ_ONLY_DIRECTORY, root.uid(), root.gid(), 0, root.mtimeNs());
            } else {
                stat.set(LINK, root.uid(), root.gid(), controlLink.length, root.mtimeNs());
            }
            return 0;
        }
        Entry entry = tree.find(path, timeoutMs);
        if (entry == null) {
            return -Errno.ENOENT;
        }
        Attributes attributes = tree.attributes(entry);
        long mtimeNs = entry.listing().mtimeNs(entry.at());
        stat.set(attributes.mode(), attributes.uid(), attributes.gid(), entry.size(), mtimeNs);
        return 0;
    }

    @Override
    public byte[] readlink(byte[] path) throws SourceException {
        if (controlLink != null && isControl(path)) {
            return controlLink;
        }
        Entry entry = tree.find(path, timeoutMs);
        if (entry == null || entry.kind() != Listing.Kind.LINK) {
            throw new io.clairfs.cache.source.SourceFailedException("readlink", Errno.EINVAL);
        }
        return entry.listing().linkTarget(entry.at());
    }

    @Override
    public int readdir(byte[] path, Filler entries) throws SourceException {
        if (isControl(path)) {
            return 0;
        }
        Directory directory = directory(path);
        if (directory == null) {
            return -Errno.ENOENT;
        }
        Listing listing = tree.list(directory, timeoutMs);
        boolean root = directory == tree.root();
        for (int at = 0; at < listing.count(); at++) {
            byte[] name = listing.name(at);
            if (!root || !Arrays.equals(name, CONTROL)) {
                entries.add(name, type(listing.kind(at)));
            }
        }
        return 0;
    }

    private static int type(Listing.Kind kind) {
        return switch (kind) {
            case FILE -> FileStatus.REGULAR;
            case DIRECTORY -> FileStatus.DIRECTORY;
            case LINK -> FileStatus.SYMLINK;
        };
    }

    private @Nullable Directory directory(byte[] path) throws SourceException {
        if (path.length == 1) {
            return tree.root();
        }
        Entry entry = tree.find(path, timeoutMs);
        return entry == null || entry.kind() != Listing.Kind.DIRECTORY
                ? null
                : entry.listing().subdirectory(entry.at());
    }

    @Override
    public int read(byte[] path, MemorySegment into, long offset, FileHandle handle) throws SourceException {
        Entry entry = tree.find(path, timeoutMs);
        if (entry == null || entry.kind() != Listing.Kind.FILE) {
            return -Errno.ENOENT;
        }
        return requests.read(entry, offset, into);
    }

    @Override
    public int statfs(FilesystemStat stat) {
        stat.set(tree.fileBytes(), tree.entryCount());
        return 0;
    }

    private static boolean isControl(byte[] path) {
        return path.length == CONTROL.length + 1 && Arrays.equals(path, 1, path.length, CONTROL, 0, CONTROL.length);
    }
}
