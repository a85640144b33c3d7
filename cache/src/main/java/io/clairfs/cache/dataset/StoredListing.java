package io.clairfs.cache.dataset;

import io.clairfs.cache.view.Transform;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One directory's listing in a file, without the directory's path. All numbers are big endian: how many entries, the columns, and the targets of the
 * symbolic links.
 *
 * @param columns the attributes in them are numbers of the file's own table
 * @param targets of the links, in the order of the entries
 */
record StoredListing(Listing.Columns columns, byte[][] targets) {
    private static final int MOST = Integer.MAX_VALUE - 8;

    /** Writes a listing; with the source's sizes beside its own where {@code ofView}. */
    static void write(DataOutputStream out, Listing listing, boolean ofView) throws IOException {
        Listing.Columns columns = listing.columns();
        out.writeInt(listing.count());
        out.writeInt(columns.names().length);
        out.write(columns.names());
        writeInts(out, columns.nameEnds());
        out.write(columns.kinds());
        writeInts(out, columns.attributes());
        writeLongs(out, columns.sizes());
        writeLongs(out, columns.mtimesNs());
        if (ofView) {
            writeLongs(out, columns.sourceSizes() == null ? noneMade(listing.count()) : columns.sourceSizes());
        }
        int links = 0;
        for (byte kind : columns.kinds()) {
            links += kind == Listing.Kind.LINK.ordinal() ? 1 : 0;
        }
        out.writeInt(links);
        for (int at = 0; links > 0 && at < listing.count(); at++) {
            if (listing.kind(at) == Listing.Kind.LINK) {
                out.writeInt(listing.linkTarget(at).length);
                out.write(listing.linkTarget(at));
            }
        }
    }

    private static long[] noneMade(int count) {
        long[] sizes = new long[count];
        Arrays.fill(sizes, Transform.AS_IT_IS);
        return sizes;
    }

    static StoredListing read(DataInputStream in, boolean ofView) throws IOException {
        int count = in.readInt();
        byte[] names = bytes(in, in.readInt());
        int[] nameEnds = ints(in, count);
        byte[] kinds = bytes(in, count);
        int[] attributes = ints(in, count);
        long[] sizes = longs(in, count);
        long[] mtimesNs = longs(in, count);
        long[] sourceSizes = ofView ? longs(in, count) : null;
        Listing.Columns columns = new Listing.Columns(names, nameEnds, kinds, attributes, sizes, mtimesNs, sourceSizes);
        byte[][] targets = new byte[in.readInt()][];
        for (int i = 0; i < targets.length; i++) {
            targets[i] = bytes(in, in.readInt());
        }
        return new StoredListing(columns, targets);
    }

    /**
     * The listing of {@code directory}; to be called once.
     *
     * @param attributesNumber from a number of the file's table to one of the tree's
     */
    Listing of(Directory directory, IntUnaryOperator attributesNumber) {
        int[] numbers = columns.attributes();
        for (int at = 0; at < numbers.length; at++) {
            numbers[at] = attributesNumber.applyAsInt(numbers[at]);
        }
        return new Listing(directory, columns, extras(directory));
    }

    private @Nullable Object[] extras(Directory directory) {
        byte[] kinds = columns.kinds();
        @Nullable Object[] extras = null;
        int link = 0;
        int from = 0;
        for (int at = 0; at < kinds.length; at++) {
            int to = columns.nameEnds()[at];
            if (kinds[at] != Listing.Kind.FILE.ordinal()) {
                extras = extras == null ? new @Nullable Object[kinds.length] : extras;
                extras[at] = kinds[at] == Listing.Kind.LINK.ordinal()
                        ? targets[link++]
                        : new Directory(directory, Directory.join(directory.path(), columns.names(), from, to));
            }
            from = to;
        }
        return extras == null ? new Object[0] : extras;
    }

    static void writeAttributes(DataOutputStream out, List<Attributes> table) throws IOException {
        out.writeInt(table.size());
        for (Attributes one : table) {
            out.writeInt(one.mode());
            out.writeInt(one.uid());
            out.writeInt(one.gid());
        }
    }

    static List<Attributes> readAttributes(DataInputStream in) throws IOException {
        List<Attributes> table = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            table.add(new Attributes(in.readInt(), in.readInt(), in.readInt()));
        }
        return table;
    }

    static byte[] bytes(DataInputStream in, int count) throws IOException {
        if (count < 0 || count > MOST) {
            throw new IOException("a length of " + count);
        }
        byte[] bytes = in.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException();
        }
        return bytes;
    }

    private static int[] ints(DataInputStream in, int count) throws IOException {
        int[] values = new int[count];
        ByteBuffer.wrap(bytes(in, Math.multiplyExact(count, Integer.BYTES)))
                .asIntBuffer()
                .get(values);
        return values;
    }

    private static long[] longs(DataInputStream in, int count) throws IOException {
        long[] values = new long[count];
        ByteBuffer.wrap(bytes(in, Math.multiplyExact(count, Long.BYTES)))
                .asLongBuffer()
                .get(values);
        return values;
    }

    private static void writeInts(DataOutputStream out, int[] values) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Integer.BYTES);
        bytes.asIntBuffer().put(values);
        out.write(bytes.array());
    }

    private static void writeLongs(DataOutputStream out, long[] values) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Long.BYTES);
        bytes.asLongBuffer().put(values);
        out.write(bytes.array());
    }
}
