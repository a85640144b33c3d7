package io.clairfs.cache.tier.ssd;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.posix.Posix;
import io.clairfs.cache.posix.PosixException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Finds the samples of earlier mounts: reads all index files and matches their entries to the tree by path, size and modification time.
 * Entries without a match stay dead on the disk until room is needed, in case the tree is whole again next time.
 *
 * <p>During the match a hash table takes about 16 bytes per file of the tree. It uses 64 bits of the path's hash; the other 64 are part of
 * the checksum that every read verifies.
 */
final class Recovery {
    private static final int PIECE = 8192;
    private static final int LOCKS = 1024;
    private static final VarHandle SLOT = JAVA_INT.varHandle();

    private final TierDirectory directory;
    private final DatasetTree tree;
    private final Places places;
    private final SegmentLog log;
    private final MediumHealth health;
    private final Object[] locks = new Object[LOCKS];

    Recovery(TierDirectory directory, DatasetTree tree, Places places, SegmentLog log, MediumHealth health) {
        this.directory = directory;
        this.tree = tree;
        this.places = places;
        this.log = log;
        this.health = health;
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new Object();
        }
    }

    /** Fills the places and the log; on a failing disk, with as much as can be read. */
    void run() {
        List<Segment> segments = new ArrayList<>();
        try {
            findSegments(directory.names(), segments);
        } catch (PosixException e) {
            health.readFailed("cannot list the SSD cache in " + directory.path() + " (" + e.getMessage() + ")");
        }
        if (segments.isEmpty()) {
            return;
        }
        try (Arena arena = Arena.ofShared()) {
            PathTable table = new PathTable(arena);
            IntStream.range(0, pieces()).parallel().forEach(table::add);
            segments.parallelStream().forEach(segment -> match(segment, table));
        }
        for (int file = 0; file < places.files(); file++) {
            if (places.get(file) != Places.NOWHERE) {
                log.count(places.get(file), tree.keptSize(file));
            }
        }
    }

    /** Newest first. A segment that cannot be read or removed does not stop the others. */
    private void findSegments(Collection<String> all, List<Segment> into) {
        Set<String> names = new HashSet<>(all);
        List<Integer> numbers = new ArrayList<>();
        for (String name : names) {
            if (!name.matches("[0-9]{6,9}\\.(data|index)")) {
                continue;
            }
            int number = Integer.parseInt(name.substring(0, name.indexOf('.')));
            if (!names.contains(Segment.dataName(number)) || !names.contains(Segment.indexName(number))) {
                unlessItFails(number, () -> directory.delete(name)); // from a crash between the two
            } else if (name.endsWith(".data")) {
                numbers.add(number);
            }
        }
        numbers.sort(Comparator.reverseOrder());
        for (int number : numbers) {
            unlessItFails(number, () -> adopt(number, into));
        }
    }

    private interface Step {
        void run() throws PosixException;
    }

    private void unlessItFails(int number, Step step) {
        try {
            step.run();
        } catch (PosixException e) {
            log.leaveOut(number);
            health.readFailed(
                    "cannot use " + directory.path().resolve(Segment.dataName(number)) + " (" + e.getMessage() + ")");
        }
    }

    private void adopt(int number, List<Segment> into) throws PosixException {
        long dataBytes = directory.status(Segment.dataName(number)).size();
        long indexBytes = directory.status(Segment.indexName(number)).size();
        int entries = Math.toIntExact(Math.min(Math.ceilDiv(indexBytes, (long) IndexEntry.BYTES), Integer.MAX_VALUE));
        Segment segment = Segment.existing(directory, number, dataBytes, entries);
        if (entries <= Segment.MOST_ENTRIES && log.adopt(segment)) {
            into.add(segment);
        } else {
            segment.delete();
        }
    }

    private void match(Segment segment, PathTable table) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment index = arena.allocate((long) segment.entries * IndexEntry.BYTES);
            long filled;
            int fd = directory.open(Segment.indexName(segment.number()), Posix.O_RDONLY);
            try {
                filled = TierDirectory.read(fd, index, 0);
            } finally {
                Posix.close(fd);
            }
            for (int i = 0; (i + 1L) * IndexEntry.BYTES <= filled; i++) {
                IndexEntry entry = IndexEntry.decode(index.asSlice((long) i * IndexEntry.BYTES, IndexEntry.BYTES));
                if (entry != null && entry.entry() == i && isWithin(segment, entry)) {
                    settle(table.find(entry.identity()), segment, entry);
                }
            }
        } catch (PosixException e) {
            health.readFailed("cannot read " + directory.path().resolve(Segment.indexName(segment.number())) + " ("
                    + e.getMessage() + ")");
        }
    }

    private static boolean isWithin(Segment segment, IndexEntry entry) {
        return entry.segment() == segment.number()
                && entry.offset() >= 0
                && entry.offset() < Segment.LARGEST_BYTES
                && entry.identity().size() >= 0
                && entry.offset() + entry.identity().size() <= segment.dataBytes;
    }

    /** The newest copy of a sample counts. */
    private void settle(int file, Segment segment, IndexEntry entry) {
        if (file < 0) {
            return;
        }
        synchronized (locks[file % LOCKS]) {
            long before = places.get(file);
            Segment other = before == Places.NOWHERE ? null : log.segment(before);
            if (other != null
                    && (other.number() > segment.number()
                            || (other == segment && Places.entry(before) > entry.entry()))) {
                return;
            }
            places.setCrc(file, entry.crc());
            places.replace(file, before, Places.place(segment.slot(), entry.offset(), entry.entry()));
        }
    }

    private int pieces() {
        return Math.ceilDiv(places.files(), PIECE);
    }

    private interface FileVisitor {
        void visit(int file, Listing listing, int at);
    }

    private void forEachFile(int from, int to, FileVisitor visitor) {
        for (int number = from; number < to; ) {
            Listing listing = tree.entry(number).listing();
            int end = Math.min(to, listing.base() + listing.count());
            for (; number < end; number++) {
                int at = number - listing.base();
                if (listing.kind(at) == Listing.Kind.FILE) {
                    visitor.visit(number, listing, at);
                }
            }
        }
    }

    /** From a path's hash to the file's number: open addressing, filled by many threads, then only read. */
    private final class PathTable {
        private final long mask;
        private final MemorySegment slots;
        private final MemorySegment hashes;

        PathTable(Arena arena) {
            long size = Math.max(16, Long.highestOneBit(places.files() * 3L / 2) << 1);
            mask = size - 1;
            slots = arena.allocate(size * Integer.BYTES, Integer.BYTES);
            hashes = arena.allocate(Math.max(1, places.files()) * (long) Long.BYTES, Long.BYTES);
        }

        void add(int piece) {
            int from = piece * PIECE;
            forEachFile(from, Math.min(from + PIECE, places.files()), (file, listing, at) -> {
                long hash = SampleIdentity.of(tree.view(), listing, at).pathHigh();
                hashes.set(JAVA_LONG, (long) file * Long.BYTES, hash);
                long slot = hash & mask;
                while (!SLOT.compareAndSet(slots, slot * Integer.BYTES, 0, file + 1)) {
                    slot = (slot + 1) & mask;
                }
            });
        }

        /** The file with this identity, or -1. */
        int find(SampleIdentity identity) {
            for (long slot = identity.pathHigh() & mask; ; slot = (slot + 1) & mask) {
                int file = slots.get(JAVA_INT, slot * Integer.BYTES) - 1;
                if (file < 0) {
                    return -1;
                }
                if (hashes.get(JAVA_LONG, (long) file * Long.BYTES) == identity.pathHigh()) {
                    Listing listing = tree.entry(file).listing();
                    int at = file - listing.base();
                    boolean same = tree.keptSize(file) == identity.size() && listing.mtimeNs(at) == identity.mtimeNs();
                    return same ? file : -1;
                }
            }
        }
    }
}
