package io.clairfs.fs.control;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.ProcessIdentity;
import io.clairfs.fs.mount.FileHandle;
import io.clairfs.fs.mount.FileStat;
import io.clairfs.fs.mount.FuseCallbacks;
import java.lang.foreign.MemorySegment;
import java.time.Clock;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The control files as a filesystem: always live, never cached by the kernel.
 *
 * <p>Content is made at open and belongs to that open file. One {@code write(2)} is one message, which takes effect at once. A message
 * that is refused fails that call with EINVAL; one that cannot be judged now, with the errno of the reason.
 */
public final class ControlMount implements FuseCallbacks {
    /** Mount options: the kernel caches nothing. */
    public static final List<String> OPTIONS =
            List.of("direct_io", "entry_timeout=0", "attr_timeout=0", "negative_timeout=0", "subtype=clairfs-control");

    private static final int MOST_OPEN = 1024;

    /** Heap that open files may hold; the order of an epoch takes four bytes for each sample. */
    private static final long MOST_HELD_BYTES = 256L << 20;

    /**
     * The kernel splits a write into pieces of at most 32 pages, fewer bytes if they do not begin with a page. A write of at most 31
     * pages comes whole. The first piece of a longer write is longer than that, and is refused.
     */
    private static final int LONGEST_MESSAGE = 31 * 4096;

    private final ControlTree tree;
    private final Clock clock;
    private final int uid = ProcessIdentity.userId();
    private final int gid = ProcessIdentity.groupId();
    private final OpenContents open = new OpenContents(MOST_OPEN, MOST_HELD_BYTES);

    public ControlMount(ControlTree tree, Clock clock) {
        this.tree = tree;
        this.clock = clock;
    }

    @Override
    public Set<Operation> operations() {
        return EnumSet.of(
                Operation.GETATTR,
                Operation.READDIR,
                Operation.OPEN,
                Operation.READ,
                Operation.WRITE,
                Operation.TRUNCATE,
                Operation.RELEASE);
    }

    @Override
    public int getattr(byte[] path, FileStat stat) {
        ControlTree.Node node = tree.find(segments(path));
        if (node == null) {
            return -Errno.ENOENT;
        }
        int mode = switch (node) {
            case ControlTree.DirectoryNode _ -> FileStatus.DIRECTORY | 0555;
            case ControlTree.FileNode file -> FileStatus.REGULAR | (file.file().isWritable() ? 0644 : 0444);
        };
        stat.set(mode, uid, gid, 0, clock.millis() * 1_000_000);
        return 0;
    }

    @Override
    public int readdir(byte[] path, Filler entries) {
        if (!(tree.find(segments(path)) instanceof ControlTree.DirectoryNode directory)) {
            return -Errno.ENOENT;
        }
        directory.names().forEach(name -> entries.add(name.getBytes(UTF_8)));
        return 0;
    }

    @Override
    public int open(byte[] path, FileHandle handle) {
        ControlFile file = file(path);
        if (file == null) {
            return -Errno.ENOENT;
        }
        if (handle.writes() && !file.isWritable()) {
            return -Errno.EACCES;
        }
        if (!open.hasRoom()) {
            return -Errno.EMFILE;
        }
        long id;
        try {
            id = open.add(file.content());
        } catch (ControlFile.UnavailableException e) {
            return -e.errno();
        }
        if (id == OpenContents.NONE) {
            return -Errno.EMFILE;
        }
        handle.id(id);
        return 0;
    }

    @Override
    public int read(byte[] path, MemorySegment into, long offset, FileHandle handle) {
        ControlContent content = open.get(handle.id());
        return content == null ? -Errno.EBADF : content.read(offset, into);
    }

    @Override
    public int write(byte[] path, MemorySegment from, long offset, FileHandle handle) {
        ControlFile file = file(path);
        if (file == null) {
            return -Errno.ENOENT;
        }
        if (from.byteSize() > LONGEST_MESSAGE) {
            file.refused("a message has at most " + LONGEST_MESSAGE + " bytes");
            return -Errno.EINVAL;
        }
        try {
            file.accept(new String(from.toArray(JAVA_BYTE), UTF_8));
            return (int) from.byteSize();
        } catch (ControlFile.RejectedException e) {
            return -Errno.EINVAL;
        } catch (ControlFile.UnavailableException e) {
            return -e.errno();
        }
    }

    /** A shell's {@code >} truncates first; there is nothing to cut. */
    @Override
    public int truncate(byte[] path, long size) {
        ControlFile file = file(path);
        if (file == null) {
            return -Errno.ENOENT;
        }
        return file.isWritable() ? 0 : -Errno.EACCES;
    }

    @Override
    public int release(byte[] path, FileHandle handle) {
        open.close(handle.id());
        return 0;
    }

    private @Nullable ControlFile file(byte[] path) {
        return tree.find(segments(path)) instanceof ControlTree.FileNode node ? node.file() : null;
    }

    private static List<String> segments(byte[] path) {
        String text = new String(path, UTF_8);
        return Arrays.stream(text.split("/", -1)).filter(s -> !s.isEmpty()).toList();
    }
}
