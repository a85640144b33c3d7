package io.clairfs.fs.dataset;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.clairfs.cache.dataset.Attributes;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.fs.protocol.NodeFilesystem;
import io.clairfs.fs.protocol.NodeStat;
import io.clairfs.fs.protocol.ReadReply;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The dataset as a read-only tree.
 *
 * <p>Names, sizes and times come from the listing alone, so walking the mount costs the source nothing. The kernel opens and closes files without
 * asking, and keeps their pages; a read comes here only when its pages are not in the page cache.
 *
 * <p>A node's number, which is also its inode number, is that of its entry in the listing plus a constant. So there is no record of what the kernel
 * knows, and any process with the same listing can go on answering.
 *
 * <p>The root has a hidden, empty directory {@code .clairfs}, on which the control files are mounted. They cannot be files of this
 * mount: the kernel opens files here without a request, so their content must never change. Where they cannot be mounted inside
 * this mount, {@code .clairfs} is a link to their mount.
 */
public final class DatasetMount implements NodeFilesystem {
    /** The name of the directory of the control files. */
    public static final String CONTROL_DIRECTORY = ".clairfs";

    /** Mount options: read only, and the kernel checks permissions. */
    public static final List<String> OPTIONS = List.of("ro", "default_permissions", "subtype=clairfs");

    private static final byte[] CONTROL = CONTROL_DIRECTORY.getBytes(US_ASCII);
    private static final int READ_ONLY_DIRECTORY = FileStatus.DIRECTORY | 0555;
    private static final int LINK = FileStatus.SYMLINK | 0777;

    /** The node of the control directory, or of the link in its place. */
    private static final long CONTROL_NODE = 2;

    /** The node of the listing's entry 0. */
    private static final long FIRST_NODE = 16;

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
        /**
         * Answers with {@code length} bytes of a file from {@code offset} on, or up to its end; now or later.
         *
         * @param thread the system's number of the thread that waits; 0 if not known
         */
        void read(Entry file, long offset, int length, int thread, ReadReply reply) throws SourceException;
    }

    @Override
    public long lookup(long directory, byte[] name) throws SourceException {
        if (directory == CONTROL_NODE) {
            return NONE;
        }
        if (directory == ROOT && Arrays.equals(name, CONTROL)) {
            return CONTROL_NODE;
        }
        Listing listing = tree.list(directory(directory), timeoutMs);
        int at = listing.find(name, 0, name.length);
        return at < 0 ? NONE : node(listing.base() + at);
    }

    /** The node, which is also the inode number, of the listing's entry with this number. */
    public static long node(int number) {
        return FIRST_NODE + number;
    }

    /** Fails with ESTALE for an unknown number: the kernel uses only numbers that it was told, so it is from another mount. */
    private Entry entry(long node) throws SourceException {
        long number = node - FIRST_NODE;
        if (number < 0 || number >= tree.entryCount()) {
            throw new SourceFailedException("node " + node, Errno.ESTALE);
        }
        return tree.entry((int) number);
    }

    private Directory directory(long node) throws SourceException {
        if (node == ROOT) {
            return tree.root();
        }
        Entry entry = entry(node);
        if (entry.kind() != Listing.Kind.DIRECTORY) {
            throw new SourceFailedException("node " + node, Errno.ENOTDIR);
        }
        return entry.listing().subdirectory(entry.at());
    }

    @Override
    public long parent(long directory) {
        if (directory < FIRST_NODE) {
            return ROOT;
        }
        int above =
                tree.entry((int) (directory - FIRST_NODE)).listing().directory().number();
        return above == Directory.NONE ? ROOT : node(above);
    }

    @Override
    public void attributes(long node, NodeStat into) throws SourceException {
        FileStatus root = tree.rootStatus();
        if (node == ROOT) {
            into.set(node, root.mode(), root.uid(), root.gid(), root.size(), root.mtimeNs());
        } else if (node == CONTROL_NODE) {
            int mode = controlLink == null ? READ_ONLY_DIRECTORY : LINK;
            int size = controlLink == null ? 0 : controlLink.length;
            into.set(node, mode, root.uid(), root.gid(), size, root.mtimeNs());
        } else {
            Entry entry = entry(node);
            Attributes attributes = tree.attributes(entry);
            long mtimeNs = entry.listing().mtimeNs(entry.at());
            into.set(node, attributes.mode(), attributes.uid(), attributes.gid(), size(entry), mtimeNs);
        }
    }

    /**
     * A link's is the length of its target, whatever its source says (filesystems of buckets say 0): Linux before 6.14 cuts a target that it keeps to this size.
     */
    private static long size(Entry entry) {
        return entry.kind() == Listing.Kind.LINK ? entry.listing().linkTarget(entry.at()).length : entry.size();
    }

    @Override
    public byte[] linkTarget(long link) throws SourceException {
        if (controlLink != null && link == CONTROL_NODE) {
            return controlLink;
        }
        Entry entry = entry(link);
        if (entry.kind() != Listing.Kind.LINK) {
            throw new SourceFailedException("readlink", Errno.EINVAL);
        }
        return entry.listing().linkTarget(entry.at());
    }

    @Override
    public void list(long directory, long first, EntrySink into) throws IOException {
        if (directory == CONTROL_NODE) {
            return;
        }
        Listing listing = tree.list(directory(directory), timeoutMs);
        int hidden = directory == ROOT ? listing.find(CONTROL, 0, CONTROL.length) : -1;
        boolean room = true;
        for (long index = first; room; index++) {
            if (index >= listing.count()) {
                return;
            }
            int at = (int) (hidden >= 0 && index >= hidden ? index + 1 : index);
            if (at >= listing.count()) {
                return;
            }
            room = into.add(listing.name(at), type(listing.kind(at)), node(listing.base() + at));
        }
    }

    private static int type(Listing.Kind kind) {
        return switch (kind) {
            case FILE -> FileStatus.REGULAR;
            case DIRECTORY -> FileStatus.DIRECTORY;
            case LINK -> FileStatus.SYMLINK;
        };
    }

    @Override
    public void read(long file, long offset, int length, int thread, ReadReply reply) throws SourceException {
        Entry entry = entry(file);
        if (entry.kind() != Listing.Kind.FILE) {
            throw new SourceFailedException("node " + file, Errno.EISDIR);
        }
        requests.read(entry, offset, length, thread, reply);
    }

    @Override
    public Content content() {
        return new Content(tree.fileBytes(), tree.entryCount());
    }

    @Override
    public byte[] path(long node) {
        if (node == CONTROL_NODE) {
            return belowRoot(CONTROL);
        }
        long number = node - FIRST_NODE;
        boolean listed = number >= 0 && number < tree.entryCount();
        return belowRoot(listed ? tree.entry((int) number).path() : tree.root().path());
    }

    private static byte[] belowRoot(byte[] path) {
        byte[] whole = new byte[path.length + 1];
        whole[0] = '/';
        System.arraycopy(path, 0, whole, 1, path.length);
        return whole;
    }
}
