package io.clairfs.cache.dataset;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.view.Transform;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One directory as it was listed: its entries sorted by bytes, in parallel arrays.
 *
 * <p>Regular files, directories and symbolic links are kept; other kinds are left out. An entry costs up to 29 bytes beside its name, 8 more where a view
 * shows something else than the source has.
 */
public final class Listing {
    /** The kind of an entry. */
    public enum Kind {
        FILE,
        DIRECTORY,
        LINK
    }

    private static final Kind[] KINDS = Kind.values();

    private final Directory directory;
    private final byte[] names;
    private final int[] nameEnds;
    private final byte[] kinds;
    private final int[] attributes;
    private final long[] sizes;
    private final long[] mtimesNs;
    private final long @Nullable [] sourceSizes;
    private final @Nullable Object[] extras;
    private int base = -1;

    /**
     * The entries of a directory in columns, which are not copied.
     *
     * @param names concatenated, sorted by bytes
     * @param nameEnds where each name ends
     * @param kinds the ordinals of {@link Kind}
     * @param attributes numbers of the mode, owner and group
     * @param sizes as they are shown
     * @param sourceSizes of the files in the source, {@link Transform#AS_IT_IS} for entries that are shown as they are; null if all are
     */
    record Columns(
            byte[] names,
            int[] nameEnds,
            byte[] kinds,
            int[] attributes,
            long[] sizes,
            long[] mtimesNs,
            long @Nullable [] sourceSizes) {}

    /** {@code extras} has the directory or link target of each entry; empty where no entry has one. */
    Listing(Directory directory, Columns columns, @Nullable Object[] extras) {
        this.directory = directory;
        names = columns.names;
        nameEnds = columns.nameEnds;
        kinds = columns.kinds;
        attributes = columns.attributes;
        sizes = columns.sizes;
        mtimesNs = columns.mtimesNs;
        sourceSizes = columns.sourceSizes;
        this.extras = extras;
    }

    Columns columns() {
        return new Columns(names, nameEnds, kinds, attributes, sizes, mtimesNs, sourceSizes);
    }

    /** The directory that this lists. */
    public Directory directory() {
        return directory;
    }

    /** How many entries there are. */
    public int count() {
        return nameEnds.length;
    }

    /** The number of this listing's first entry in the whole tree; entry {@code at} has {@code base() + at}. */
    public int base() {
        return base;
    }

    void number(int first) {
        base = first;
        for (int at = 0; at < extras.length; at++) {
            if (extras[at] instanceof Directory subdirectory) {
                subdirectory.number(first + at);
            }
        }
    }

    public byte[] name(int at) {
        return Arrays.copyOfRange(names, nameStart(at), nameEnds[at]);
    }

    public Kind kind(int at) {
        return KINDS[kinds[at]];
    }

    /** Bytes as they are shown; for a link the length of its target. */
    public long size(int at) {
        return sizes[at];
    }

    /** Bytes of a file in the source. */
    public long sourceSize(int at) {
        return sourceSizes != null && isMade(at) ? sourceSizes[at] : sizes[at];
    }

    /** Whether what is shown of a file is made of what the source has, or would be if that could be. */
    public boolean isMade(int at) {
        return sourceSizes != null && sourceSizes[at] != Transform.AS_IT_IS;
    }

    /** Nanoseconds since 1970. */
    public long mtimeNs(int at) {
        return mtimesNs[at];
    }

    /** Number of the mode, owner and group in the tree's table. */
    int attributes(int at) {
        return attributes[at];
    }

    /** The directory behind an entry of kind {@link Kind#DIRECTORY}. */
    public Directory subdirectory(int at) {
        if (extras[at] instanceof Directory subdirectory) {
            return subdirectory;
        }
        throw new AssertionError("not a directory: " + at);
    }

    /** The target of an entry of kind {@link Kind#LINK}. The caller must not change it. */
    public byte[] linkTarget(int at) {
        if (extras[at] instanceof byte[] target) {
            return target;
        }
        throw new AssertionError("not a link: " + at);
    }

    /** Path from the root, without slashes at either end. */
    public byte[] path(int at) {
        return Directory.join(directory.path(), names, nameStart(at), nameEnds[at]);
    }

    /** The index of the entry named {@code name[from..to)}, or -1. */
    public int find(byte[] name, int from, int to) {
        int low = 0;
        int high = count() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = Arrays.compareUnsigned(names, nameStart(middle), nameEnds[middle], name, from, to);
            if (order == 0) {
                return middle;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }

    /** Whether an entry is named {@code name[from..to)}. */
    boolean isNamed(int at, byte[] name, int from, int to) {
        return Arrays.equals(names, nameStart(at), nameEnds[at], name, from, to);
    }

    private int nameStart(int at) {
        return at == 0 ? 0 : nameEnds[at - 1];
    }

    /** Collects the entries of one directory, which must come sorted by bytes. */
    static final class Builder {
        private final Directory directory;
        private byte[] names = new byte[256];
        private int nameBytes;
        private final int[] nameEnds;
        private final byte[] kinds;
        private final int[] attributes;
        private final long[] sizes;
        private final long[] mtimesNs;
        private final long[] sourceSizes;
        private final @Nullable Object[] extras;
        private boolean anyExtra;
        private boolean anyMade;
        private int count;

        Builder(Directory directory, int most) {
            this.directory = directory;
            nameEnds = new int[most];
            kinds = new byte[most];
            attributes = new int[most];
            sizes = new long[most];
            mtimesNs = new long[most];
            sourceSizes = new long[most];
            extras = new Object[most];
        }

        public void add(byte[] name, Kind kind, FileStatus status, int attributesNumber, @Nullable Object extra) {
            add(name, kind, status, Transform.AS_IT_IS, attributesNumber, extra);
        }

        /** {@code madeBytes} is the size of what is made of it, or {@link Transform#AS_IT_IS}. */
        public void add(
                byte[] name,
                Kind kind,
                FileStatus status,
                long madeBytes,
                int attributesNumber,
                @Nullable Object extra) {
            boolean made = madeBytes != Transform.AS_IT_IS;
            if (nameBytes + name.length > names.length) {
                int least = Math.addExact(nameBytes, name.length);
                names = Arrays.copyOf(names, Math.clamp(2L * names.length, least, Integer.MAX_VALUE - 8));
            }
            System.arraycopy(name, 0, names, nameBytes, name.length);
            nameBytes += name.length;
            nameEnds[count] = nameBytes;
            kinds[count] = (byte) kind.ordinal();
            attributes[count] = attributesNumber;
            sizes[count] = made ? madeBytes : status.size();
            sourceSizes[count] = made ? status.size() : Transform.AS_IT_IS;
            anyMade |= made;
            mtimesNs[count] = status.mtimeNs();
            extras[count] = extra;
            anyExtra |= extra != null;
            count++;
        }

        public Listing build() {
            Columns columns = new Columns(
                    Arrays.copyOf(names, nameBytes),
                    Arrays.copyOf(nameEnds, count),
                    Arrays.copyOf(kinds, count),
                    Arrays.copyOf(attributes, count),
                    Arrays.copyOf(sizes, count),
                    Arrays.copyOf(mtimesNs, count),
                    anyMade ? Arrays.copyOf(sourceSizes, count) : null);
            return new Listing(directory, columns, anyExtra ? Arrays.copyOf(extras, count) : new Object[0]);
        }
    }
}
