package io.clairfs.fs.kernel;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.posix.CachedPages;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import io.clairfs.cache.posix.SharedDescriptor;
import io.clairfs.cache.stage.StagingArea;
import io.clairfs.fs.dataset.DatasetMount;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The kernel's page cache of our own mount as a staging area.
 *
 * <p>How it works: the file is looked up through the mount, which makes the kernel know the inode, and opened, which makes it keep it. The inode's number is the
 * node id of the FUSE protocol ({@code fs.dataset.DatasetMount}). A FUSE_NOTIFY_STORE message with that id on the session's descriptor
 * puts the bytes into the inode's pages. A reader then reads at the speed of a local file, without a request. The kernel may reclaim
 * the pages at any time; then it sends a request.
 *
 * <p>The descriptor stays open while the sample is staged, so that the kernel keeps the inode when memory is short. When the process has
 * many descriptors open, further samples are not opened: their pages are less safe, and the rest of the process finds free descriptors. A
 * descriptor's number says how many are open, because the kernel gives out the lowest. The file is open for reading, because
 * the kernel tells only then whether the pages are still there. Its close is reported as a reader's would be; {@link OwnCloses} tells
 * the two apart. A file that this process may not read is not opened either: a descriptor made with {@code O_PATH} would do, but Linux before
 * 6.10 reports its close where a later one does not.
 *
 * <p>A push waits while a read of the same file is being answered, so a thread that answers reads must not push.
 *
 * <p>Life cycle: the daemon makes it when the session is mounted, and closes it after the prefetcher, which drops all staged samples, and
 * before the session. Locks: it has none of its own. Each staged sample has one, so that a drop closes no descriptor whose pages are being
 * checked; that of {@link OwnCloses} is taken inside. Nothing is pushed or invalidated under a lock.
 */
public final class PageCache implements StagingArea, AutoCloseable {
    /**
     * Bytes per message: less than the 31 pages that the kernel collects per processor before it puts new pages on its lists.
     *
     * <p>Each piece is stored twice. The kernel moves a page to the active list at its second use. After one store, the first
     * reader would be that use and pay for the move, a third of its time. A second store while the pages are still being
     * collected costs a copy within the processor's cache. Where the kernel has generations in place of the two lists, nothing is moved at
     * a second use, and a piece is stored once. See docs/decisions/push-twice.md.
     */
    private static final long PIECE = 30L * Posix.PAGE_BYTES;

    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");
    private static final String MOUNT_NUMBER = "mnt_id:";

    private static final Path QUEUE_LENGTH = Path.of("/proc/sys/fs/inotify/max_queued_events");
    private static final long SHORTEST_QUEUE = 4096;
    private static final int NO_PIN = -1;
    private static final long LARGEST_PART_BYTES = 1 << 20;

    /** Of a file of this size only what is missing is pushed. */
    private static final long LEAST_IN_PARTS_BYTES = 4 << 20;

    /** How many files threads may open at once before one of them sees how many are open. */
    private static final int MARGIN = 128;

    private static final ThreadLocal<NotifyMessage> MESSAGE = ThreadLocal.withInitial(NotifyMessage::new);

    private final DatasetTree tree;
    private final SharedDescriptor session;
    private final SharedDescriptor root;
    private final int firstNotKept;

    /** Whether the reports of our own closes leave room for those of readers. */
    private final boolean reportsHaveRoom = reportsHaveRoom();

    private final boolean storesTwice = !PageGenerations.areUsed(PageGenerations.ENABLED);

    private final OwnCloses ownCloses = new OwnCloses(System::nanoTime);
    private volatile int lastPin;

    /** Whether the kernel soon drops all pages itself. */
    private volatile boolean mountEnds;

    /**
     * The page cache of the mount at {@code point}.
     *
     * @param session the descriptor on which that mount's session talks to the kernel
     * @param descriptors no further staged sample keeps a descriptor while the process has this many open
     */
    public PageCache(DatasetTree tree, Path point, SharedDescriptor session, int descriptors) throws PosixException {
        this.tree = tree;
        this.session = session;
        firstNotKept = descriptors;
        byte[] path = point.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
        root = new SharedDescriptor(Posix.openAt(Posix.AT_FDCWD, path, Posix.O_PATH | Posix.O_DIRECTORY));
    }

    /**
     * Whether the mount is still in the tree. A detached mount lives on, unseen, while one of its files is open, and this class
     * holds some open.
     */
    public boolean isMounted() throws IOException {
        if (!root.enter()) {
            return false;
        }
        String number;
        try {
            number = Files.readString(Path.of("/proc/self/fdinfo", Integer.toString(root.number())))
                    .lines()
                    .filter(line -> line.startsWith(MOUNT_NUMBER))
                    .map(line -> line.substring(MOUNT_NUMBER.length()).strip())
                    .findFirst()
                    .orElseThrow(() -> new IOException("the kernel does not tell the number of a mount"));
        } finally {
            root.leave();
        }
        return Files.readString(MOUNTS, ISO_8859_1).lines().anyMatch(line -> line.startsWith(number + " "));
    }

    /** From now on samples that leave keep their pages: the mount ends next, and all pages with it. To drop those of 400,000 samples took seconds. */
    public void leavePages() {
        mountEnds = true;
    }

    @Override
    public Staged stage(int file, MemorySegment bytes) throws IOException {
        return stage(file, bytes, false);
    }

    @Override
    public Staged stageRead(int file, MemorySegment bytes) throws IOException {
        return stage(file, bytes, true);
    }

    private Staged stage(int file, MemorySegment bytes, boolean isRead) throws IOException {
        if (!session.enter()) {
            throw gone();
        }
        try {
            return pinAndPush(file, bytes, isRead);
        } finally {
            session.leave();
        }
    }

    private static IOException gone() {
        return new IOException("the mount is gone");
    }

    /** Whether the kernel's queue of reports is long enough. A file of this kind gives its value to a single read only. */
    private static boolean reportsHaveRoom() {
        try (InputStream in = Files.newInputStream(QUEUE_LENGTH)) {
            byte[] text = new byte[64];
            int length = in.read(text);
            return length > 0 && Long.parseLong(new String(text, 0, length, ISO_8859_1).strip()) >= SHORTEST_QUEUE;
        } catch (IOException | NumberFormatException e) {
            return false;
        }
    }

    /** The files that this class closes. */
    OwnCloses ownCloses() {
        return ownCloses;
    }

    private Staged pinAndPush(int file, MemorySegment bytes, boolean isRead) throws IOException {
        int pin = reportsHaveRoom && isRoomForPins() ? openReadable(file) : NO_PIN;
        try {
            if (isRead && (pin == NO_PIN || !CachedPages.isMostlyCached(pin, bytes.byteSize()))) {
                throw new IOException("much of it is not there");
            }
            FileStatus status = pin == NO_PIN ? status(file) : Posix.stat(pin);
            if (status.inode() != DatasetMount.node(file)) { // of the same number here as another file's
                throw new IOException("something else is mounted over it");
            }
            if (status.size() != bytes.byteSize()) {
                throw new IOException("the mount says " + status.size() + " bytes, the sample has " + bytes.byteSize());
            }
            if (pin == NO_PIN || bytes.byteSize() < LEAST_IN_PARTS_BYTES) {
                push(status.inode(), 0, bytes);
            } else {
                pushMissing(pin, status.inode(), bytes);
            }
            return new Pages(file, pin, status);
        } catch (IOException | RuntimeException | Error e) {
            closePin(file, pin);
            throw e;
        }
    }

    /** Whether few enough descriptors are open. When the last pin was one of many, it looks how many are open now. */
    private boolean isRoomForPins() throws IOException {
        if (lastPin >= firstNotKept - MARGIN) {
            lastPin = lowestFree();
        }
        return lastPin < firstNotKept - MARGIN;
    }

    private int lowestFree() throws IOException {
        if (!root.enter()) {
            throw gone();
        }
        try {
            int free = Posix.duplicate(root.number());
            Posix.close(free);
            return free;
        } catch (PosixException none) { // a push without a pin needs none
            return Integer.MAX_VALUE;
        } finally {
            root.leave();
        }
    }

    /** Returns {@code NO_PIN} for a file that this process may not read through its own mount. */
    private int openReadable(int file) throws IOException {
        if (!root.enter()) {
            throw gone();
        }
        try {
            int pin = Posix.openAt(root.number(), tree.entry(file).path(), Posix.O_RDONLY | Posix.O_NOFOLLOW);
            lastPin = pin;
            return pin;
        } catch (PosixException e) {
            return NO_PIN;
        } finally {
            root.leave();
        }
    }

    private FileStatus status(int file) throws IOException {
        if (!root.enter()) {
            throw gone();
        }
        try {
            return Posix.statAt(root.number(), tree.entry(file).path(), Posix.AT_SYMLINK_NOFOLLOW);
        } finally {
            root.leave();
        }
    }

    private void closePin(int file, int pin) {
        if (pin != NO_PIN) {
            ownCloses.close(file, pin);
        }
    }

    private void push(long node, long offset, MemorySegment bytes) throws PosixException {
        for (long at = 0; at < bytes.byteSize(); at += PIECE) {
            long length = Math.min(PIECE, bytes.byteSize() - at);
            store(node, offset + at, bytes.address() + at, length);
            if (storesTwice) {
                store(node, offset + at, bytes.address() + at, length);
            }
        }
    }

    /** A reader who came while the sample was fetched has caused most of its pages to be there; to push them once more would take longer than the fetch. */
    private void pushMissing(int pin, long node, MemorySegment bytes) throws PosixException {
        for (long at = 0; at < bytes.byteSize(); at += LARGEST_PART_BYTES) {
            long length = Math.min(LARGEST_PART_BYTES, bytes.byteSize() - at);
            if (!CachedPages.isCached(pin, at, length)) {
                push(node, at, bytes.asSlice(at, length));
            }
        }
    }

    private void store(long node, long offset, long address, long length) throws PosixException {
        int rc = MESSAGE.get().store(session.number(), node, offset, address, (int) length);
        if (rc < 0) {
            throw new PosixException("push into the page cache", -rc);
        }
    }

    /** The pages of one file, and the descriptor that keeps the kernel from forgetting it, if there is one. */
    private final class Pages implements Staged {
        private final int file;
        private final int pin;
        private final long node;
        private final long bytes;
        private boolean dropped;

        Pages(int file, int pin, FileStatus status) {
            this.file = file;
            this.pin = pin;
            node = status.inode();
            bytes = status.size();
        }

        /** Pushes into the open file. Its close would be reported, and could not always be told from a reader's close. */
        @Override
        public boolean stageAgain(long offset, MemorySegment content) throws IOException {
            if (pin == NO_PIN || !session.enter()) {
                return false;
            }
            try {
                push(node, offset, content);
                return true;
            } finally {
                session.leave();
            }
        }

        @Override
        public synchronized @Nullable List<Part> missing() {
            if (pin == NO_PIN || dropped) {
                return null;
            }
            List<Part> parts = new ArrayList<>();
            for (long offset = 0; offset < bytes; offset += PIECE) {
                long length = Math.min(PIECE, bytes - offset);
                if (!CachedPages.isCached(pin, offset, length)) {
                    Part last = parts.isEmpty() ? null : parts.getLast();
                    if (last != null
                            && last.offset() + last.bytes() == offset
                            && last.bytes() + length <= LARGEST_PART_BYTES) {
                        parts.set(parts.size() - 1, new Part(last.offset(), last.bytes() + length));
                    } else {
                        parts.add(new Part(offset, length));
                    }
                }
            }
            return parts;
        }

        @Override
        public synchronized boolean isWhole() {
            return pin == NO_PIN || dropped || !CachedPages.isMissing(pin, bytes);
        }

        /** Uses the file if it is open: the kernel then keeps its size, which it would otherwise request at the next open. */
        @Override
        public void drop() {
            if (!mountEnds && !(pin != NO_PIN && isDroppedByFile()) && session.enter()) {
                int rc;
                try {
                    rc = MESSAGE.get().invalidate(session.number(), node);
                } finally {
                    session.leave();
                }
                // Gone already, or the mount with it: nothing is left to drop.
                assert rc == 0
                                || rc == -Errno.ENOENT
                                || rc == -Errno.ENOTCONN
                                || rc == -Errno.EBADF
                                || rc == -Errno.EPERM
                        : rc;
            }
            synchronized (this) {
                dropped = true;
                closePin(file, pin);
            }
        }

        /** Whether no page is left. The kernel leaves pages that are in use or on their way to its lists, and reports no error. */
        private boolean isDroppedByFile() {
            try {
                CachedPages.drop(pin);
                return CachedPages.isGone(pin, bytes);
            } catch (PosixException e) {
                return false;
            }
        }
    }

    @Override
    public void close() {
        root.close();
    }
}
