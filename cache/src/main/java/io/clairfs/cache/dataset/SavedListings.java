package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.view.View;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The listings of an earlier mount of the same source, in a file, so that a large tree need not be walked again.
 *
 * <p>A listing is valid while the directory keeps its inode and its times: a change of names changes them, and no program can set back the time of its change ({@code ctime}). The listed
 * attributes of a file may be stale; each read checks the file against the listed size and time. A directory that changed less than
 * {@value #RACY_S} s before it was listed is listed again, because it may have changed once more within the same clock tick.
 *
 * <p>The file is written whole and then renamed. It ends with a CRC-32C of all bytes before it, and a damaged file counts as absent. All
 * numbers are big endian: 8 bytes {@code clairix2}, the source's path, the table of attributes, the listings, -1, the checksum.
 *
 * <p>The listings of a view have the sizes of what it makes, and the source's beside them; their file has the view's identity behind the source's
 * path. Where a directory has changed, the sizes of those of its files that have not are taken from the saved listing all the same.
 */
public final class SavedListings {
    private static final byte[] MAGIC = "clairix2".getBytes(US_ASCII);
    private static final int RACY_S = 2;
    private static final long NO_STAMP = Long.MIN_VALUE;
    private static final long GAPS = NO_STAMP + 1;
    private static final int END = -1;
    private static final int BUFFER = 1 << 18;
    private static final long LISTED_ALREADY_MS = 1_000;

    private final ConcurrentHashMap<Name, Saved> saved = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Name, Saved> outdated = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Name, Stamp> stamps = new ConcurrentHashMap<>();
    private final List<Attributes> attributes = new ArrayList<>();
    private final Use use;
    private final View view;
    private volatile boolean isNews;
    private volatile boolean isUsed;

    private SavedListings(Use use, View view) {
        this.use = use;
        this.view = view;
    }

    /** How far saved listings are trusted. */
    public enum Use {
        /** Nothing is saved, and nothing was. */
        NONE,
        /** Each directory's status is checked; a changed directory is listed again. */
        VERIFIED,
        /** Saved listings are used without a check. */
        TRUSTED
    }

    /** Has a file that was written beside another take its place, or leaves the other as it is. */
    @FunctionalInterface
    public interface Placing {
        /** Always takes the place. */
        Placing REPLACE = (written, file) ->
                Files.move(written, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);

        void place(Path written, Path file) throws IOException;
    }

    /** Nothing is saved, and nothing was. */
    public static SavedListings none() {
        return new SavedListings(Use.NONE, View.raw());
    }

    /** A directory's path, compared by bytes. */
    private record Name(byte[] path) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Name name && Arrays.equals(path, name.path);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(path);
        }
    }

    /** The state of a directory when it was listed; in place of the time {@link #NO_STAMP} if it is unreliable, {@link #GAPS} if the listing is. */
    private record Stamp(long inode, long mtimeNs, long ctimeNs) {
        static final Stamp UNRELIABLE = new Stamp(0, NO_STAMP, 0);
        static final Stamp WITH_GAPS = new Stamp(0, GAPS, 0);
    }

    private record Saved(Stamp stamp, StoredListing listing) {}

    /** Reads the saved listings of {@code source} as it is; none when the file is absent, of another source, or damaged. */
    public static SavedListings read(Path file, byte[] source, Use use) {
        return read(file, source, View.raw(), use);
    }

    /** Reads the saved listings of {@code source} in a view; none when the file is absent, of another source or view, or damaged. */
    public static SavedListings read(Path file, byte[] source, View view, Use use) {
        try {
            if (CheckedFile.isWhole(file)) {
                SavedListings found = new SavedListings(use, view);
                try (DataInputStream in =
                        new DataInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER))) {
                    if (found.read(in, view.distinguish(source))) {
                        return found;
                    }
                }
            }
        } catch (NoSuchFileException e) {
            return new SavedListings(use, view);
        } catch (IOException | IllegalArgumentException e) {
            System.getLogger(SavedListings.class.getName())
                    .log(System.Logger.Level.DEBUG, "the saved index is not used: " + e.getMessage());
        }
        return new SavedListings(use, view);
    }

    private boolean read(DataInputStream in, byte[] source) throws IOException {
        if (!Arrays.equals(in.readNBytes(MAGIC.length), MAGIC)
                || !Arrays.equals(StoredListing.bytes(in, in.readInt()), source)) {
            return false;
        }
        attributes.addAll(StoredListing.readAttributes(in));
        for (int length = in.readInt(); length != END; length = in.readInt()) {
            Name name = new Name(StoredListing.bytes(in, length));
            Stamp stamp = new Stamp(in.readLong(), in.readLong(), in.readLong());
            saved.put(name, new Saved(stamp, StoredListing.read(in, !view.isRaw())));
        }
        return true;
    }

    /** Whether {@link #find} and {@link #listed} need a directory's status. */
    boolean needsStatus() {
        return use == Use.VERIFIED;
    }

    /** The saved listing of {@code directory} if it is valid; each is returned once. {@code now} is its status, null where listings are trusted. */
    @Nullable
    Listing find(Directory directory, @Nullable FileStatus now, DatasetTree tree) {
        if (use == Use.NONE) {
            return null;
        }
        Saved found = saved.remove(new Name(directory.path()));
        if (found == null || !isValid(found.stamp, now)) {
            isNews = true;
            if (found != null && !view.isRaw()) {
                outdated.put(new Name(directory.path()), found);
            }
            return null;
        }
        isUsed = true;
        stamps.put(new Name(directory.path()), found.stamp);
        return found.listing.of(directory, number -> tree.attributesNumber(attributes.get(number)));
    }

    /** The saved listing of a directory that {@link #find} has not found valid, if there is one; returned once, and only for a view. */
    @Nullable
    Listing outdated(Directory directory) {
        Saved found = outdated.remove(new Name(directory.path()));
        return found == null ? null : found.listing.of(directory, IntUnaryOperator.identity());
    }

    private boolean isValid(Stamp stamp, @Nullable FileStatus now) {
        if (use == Use.TRUSTED) {
            return stamp.mtimeNs != GAPS;
        }
        return now != null
                && stamp.mtimeNs != NO_STAMP
                && stamp.equals(new Stamp(now.inode(), now.mtimeNs(), now.ctimeNs()));
    }

    /**
     * Records that a directory was listed anew.
     *
     * @param asItIs whether the listing is what the source has; one with gaps is never valid at the next mount
     * @param before its status before that; null where it was not checked
     * @param nowNs nanoseconds since 1970
     */
    void listed(Directory directory, boolean asItIs, @Nullable FileStatus before, long nowNs) {
        if (use == Use.NONE) {
            return;
        }
        // Stores that have no time of a directory give 0.
        boolean settled =
                before != null && before.mtimeNs() > 0 && lastChange(before) < nowNs - TimeUnit.SECONDS.toNanos(RACY_S);
        Stamp stamp = before == null || !settled
                ? Stamp.UNRELIABLE
                : new Stamp(before.inode(), before.mtimeNs(), before.ctimeNs());
        stamps.put(new Name(directory.path()), asItIs ? stamp : Stamp.WITH_GAPS);
        isNews = true;
    }

    /** Where times are whole seconds, a directory may change once more in the same one, and have its time set back: its other time tells. */
    private static long lastChange(FileStatus status) {
        boolean inSeconds = status.ctimeNs() % TimeUnit.SECONDS.toNanos(1) == 0;
        return inSeconds ? Math.max(status.mtimeNs(), status.ctimeNs()) : status.mtimeNs();
    }

    /** Whether the tree differs from what was saved, so that it should be saved. */
    public boolean isNews() {
        return isNews || !saved.isEmpty();
    }

    /** Whether any saved listing was used. */
    public boolean isUsed() {
        return isUsed;
    }

    /** Saves all listings of {@code tree}, which must be complete. To be called once. */
    public void write(Path file, byte[] source, DatasetTree tree) throws IOException {
        write(file, source, tree, Placing.REPLACE);
    }

    /** As the other one; {@code placing} is called once, when all of it is written. */
    public void write(Path file, byte[] source, DatasetTree tree, Placing placing) throws IOException {
        try {
            CheckedFile.write(file, out -> write(out, source, tree), placing);
        } finally {
            forget();
        }
    }

    /** Drops what was read, which a complete tree does not need. */
    public void forget() {
        saved.clear();
        outdated.clear();
        stamps.clear();
    }

    private void write(DataOutputStream out, byte[] source, DatasetTree tree) throws IOException {
        byte[] name = view.distinguish(source);
        out.write(MAGIC);
        out.writeInt(name.length);
        out.write(name);
        StoredListing.writeAttributes(out, tree.attributesTable());
        writeAll(out, tree, tree.root());
        out.writeInt(END);
    }

    /** Saves no listing for a directory that the source refuses to list. */
    private void writeAll(DataOutputStream out, DatasetTree tree, Directory directory) throws IOException {
        Stamp stamp = stamps.get(new Name(directory.path()));
        if (stamp == null) {
            return;
        }
        Listing listing = tree.list(directory, LISTED_ALREADY_MS);
        write(out, directory, stamp, listing);
        for (int at = 0; at < listing.count(); at++) {
            if (listing.kind(at) == Listing.Kind.DIRECTORY) {
                writeAll(out, tree, listing.subdirectory(at));
            }
        }
    }

    private void write(DataOutputStream out, Directory directory, Stamp stamp, Listing listing) throws IOException {
        out.writeInt(directory.path().length);
        out.write(directory.path());
        out.writeLong(stamp.inode);
        out.writeLong(stamp.mtimeNs);
        out.writeLong(stamp.ctimeNs);
        StoredListing.write(out, listing, !view.isRaw());
    }
}
