package io.clairfs.cache.dataset;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.view.View;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A whole tree in a file, with the numbers of its entries: for a process that goes on with a mount whose entries the kernel knows by number.
 *
 * <p>It is not compared with the source: the kernel has names, sizes and pages of the tree as it was, and each read checks its file. {@link SavedListings}
 * is the file for the next mount, which numbers the entries anew.
 *
 * <p>The file: 8 bytes {@code clairnum}, the view's identity, the status of the root, the table of attributes, the number of listings, and the listings in the order of
 * their numbers, each with the number of its directory's entry and its {@link StoredListing}. All numbers are big endian.
 */
public final class NumberedListings {
    private static final byte[] MAGIC = "clairnum".getBytes(US_ASCII);
    private static final int BUFFER = 1 << 18;
    private static final long LISTED_ALREADY_MS = 1_000;

    private final View view;
    private final FileStatus root;
    private final List<Attributes> attributes;
    private final List<Numbered> listings;

    private NumberedListings(View view, FileStatus root, List<Attributes> attributes, List<Numbered> listings) {
        this.view = view;
        this.root = root;
        this.attributes = attributes;
        this.listings = listings;
    }

    /** A listing, and the number of its directory's entry. */
    private record Numbered(int directory, StoredListing listing) {}

    /** Writes a tree that is completely listed. Directories that the source refused to list are left out. */
    public static void write(Path file, DatasetTree tree) throws IOException {
        assert tree.complete().isDone() : "the tree is still being listed";
        List<Listing> all = listed(tree);
        CheckedFile.write(file, out -> write(out, tree, all));
    }

    private static List<Listing> listed(DatasetTree tree) {
        List<Listing> all = new ArrayList<>();
        Deque<Directory> left = new ArrayDeque<>(List.of(tree.root()));
        while (!left.isEmpty()) {
            Listing listing = listing(tree, left.removeLast());
            if (listing != null) {
                all.add(listing);
                for (int at = 0; at < listing.count(); at++) {
                    if (listing.kind(at) == Listing.Kind.DIRECTORY) {
                        left.add(listing.subdirectory(at));
                    }
                }
            }
        }
        all.sort(Comparator.comparingInt(Listing::base).thenComparingInt(Listing::count));
        return all;
    }

    private static @Nullable Listing listing(DatasetTree tree, Directory directory) {
        try {
            return tree.list(directory, LISTED_ALREADY_MS);
        } catch (SourceException refused) {
            return null;
        }
    }

    private static void write(DataOutputStream out, DatasetTree tree, List<Listing> all) throws IOException {
        out.write(MAGIC);
        out.writeUTF(tree.view().identity());
        FileStatus root = tree.rootStatus();
        out.writeInt(root.mode());
        out.writeInt(root.uid());
        out.writeInt(root.gid());
        out.writeLong(root.size());
        out.writeLong(root.mtimeNs());
        out.writeLong(root.inode());
        StoredListing.writeAttributes(out, tree.attributesTable());
        out.writeInt(all.size());
        for (Listing listing : all) {
            out.writeInt(listing.directory().number());
            StoredListing.write(out, listing, !tree.view().isRaw());
        }
    }

    /**
     * Reads what {@link #write} wrote of a tree in this view.
     *
     * @throws IOException if it cannot be read, is damaged, or is of another view: the kernel has pages of that one
     */
    public static NumberedListings read(Path file, View view) throws IOException {
        try (DataInputStream in = open(file)) {
            requireHead(in, file, view);
            FileStatus root = new FileStatus(
                    in.readInt(), in.readInt(), in.readInt(), in.readLong(), in.readLong(), in.readLong());
            List<Attributes> attributes = StoredListing.readAttributes(in);
            List<Numbered> listings = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                listings.add(new Numbered(in.readInt(), StoredListing.read(in, !view.isRaw())));
            }
            return new NumberedListings(view, root, attributes, listings);
        }
    }

    /**
     * Looks whether {@link #read} would take the file, without its listings, which take memory.
     *
     * @throws IOException as {@link #read} throws it
     */
    public static void requireReadable(Path file, View view) throws IOException {
        try (DataInputStream in = open(file)) {
            requireHead(in, file, view);
        }
    }

    private static DataInputStream open(Path file) throws IOException {
        if (!CheckedFile.isWhole(file)) {
            throw new IOException(file + " is damaged");
        }
        return new DataInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER));
    }

    private static void requireHead(DataInputStream in, Path file, View view) throws IOException {
        if (!Arrays.equals(in.readNBytes(MAGIC.length), MAGIC)) {
            throw new IOException(file + " is no list of numbered entries");
        }
        String identity = in.readUTF();
        if (!identity.equals(view.identity())) {
            throw new IOException("the mount shows the view '" + identity + "', and this program makes '"
                    + view.identity() + "': unmount, and mount again");
        }
    }

    View view() {
        return view;
    }

    FileStatus root() {
        return root;
    }

    /**
     * Registers all listings in a new tree, in which their entries get the numbers that they had. To be called once. Returns the directories that have none:
     * the source refused to list them.
     */
    Collection<Directory> restore(DatasetTree tree) {
        Map<Integer, Directory> directories = new HashMap<>(Map.of(Directory.NONE, tree.root()));
        for (Numbered numbered : listings) {
            Directory directory = directories.remove(numbered.directory);
            if (directory == null) {
                throw new IllegalStateException("the directory " + numbered.directory + " has no entry before it");
            }
            Listing listing = numbered.listing.of(directory, n -> tree.attributesNumber(attributes.get(n)));
            tree.register(listing);
            directory.listed(listing);
            for (int at = 0; at < listing.count(); at++) {
                if (listing.kind(at) == Listing.Kind.DIRECTORY) {
                    directories.put(listing.base() + at, listing.subdirectory(at));
                }
            }
        }
        listings.clear();
        return directories.values();
    }
}
