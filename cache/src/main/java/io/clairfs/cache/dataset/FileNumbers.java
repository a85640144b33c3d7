package io.clairfs.cache.dataset;

import io.clairfs.cache.source.SourceException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * Numbers of the regular files of a dataset, the same on all nodes that list the same dataset. Files are numbered in the order of a tree
 * walk, the entries of a directory sorted by bytes. The tree's own numbers depend on when each directory was listed.
 *
 * <p>Costs up to 8 bytes per entry of the tree. {@link #fingerprint} tells datasets apart: it is the same for the same paths, sizes and
 * times in the same view.
 */
public final class FileNumbers {
    /** In place of a number: no such file. */
    public static final int NONE = -1;

    private static final int FINGERPRINT_BYTES = 16;
    private static final long LISTED_ALREADY_MS = 1_000;

    private final int[] numbers;
    private int[] files;
    private int count;
    private final byte[] fingerprint;

    private static final byte[] KEEPS_SOURCE = {0, 'r', 'a', 'w'};

    private FileNumbers(DatasetTree tree) throws SourceException {
        numbers = new int[tree.entryCount()];
        Arrays.fill(numbers, NONE);
        files = new int[numbers.length];
        MessageDigest digest = sha256();
        digest.update(tree.view().distinguish(new byte[0]));
        if (tree.view().keepsSource()) {
            digest.update(KEEPS_SOURCE); // what nodes hold and send each other has another form
        }
        walk(tree, tree.root(), digest);
        files = Arrays.copyOf(files, count);
        fingerprint = Arrays.copyOf(digest.digest(), FINGERPRINT_BYTES);
    }

    /** Numbers the files of a tree that is completely listed. */
    public static FileNumbers of(DatasetTree tree) throws SourceException {
        return new FileNumbers(tree);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    private void walk(DatasetTree tree, Directory directory, MessageDigest digest) throws SourceException {
        Listing listing = tree.list(directory, LISTED_ALREADY_MS);
        ByteBuffer facts = ByteBuffer.allocate(3 * Long.BYTES + 1);
        for (int at = 0; at < listing.count(); at++) {
            boolean file = listing.kind(at) == Listing.Kind.FILE;
            digest.update(listing.name(at));
            facts.clear().put((byte) listing.kind(at).ordinal());
            facts.putLong(file ? listing.size(at) : 0).putLong(file ? listing.mtimeNs(at) : 0);
            if (listing.isMade(at)) {
                facts.putLong(listing.sourceSize(at));
            }
            digest.update(facts.flip());
            if (file) {
                numbers[listing.base() + at] = count;
                files[count++] = listing.base() + at;
            } else if (listing.kind(at) == Listing.Kind.DIRECTORY) {
                walk(tree, listing.subdirectory(at), digest);
            }
        }
        digest.update((byte) '/'); // the directory ends here
    }

    /** How many files there are. */
    public int count() {
        return count;
    }

    /** The number of the file with tree number {@code file}, or {@link #NONE}. */
    public int numberOf(int file) {
        return file >= 0 && file < numbers.length ? numbers[file] : NONE;
    }

    /** The tree number of the file with this number, or {@link #NONE}; takes any integer. */
    public int fileOf(int number) {
        return number >= 0 && number < count ? files[number] : NONE;
    }

    /** A 16-byte hash of the view and of all paths, sizes and modification times. */
    public byte[] fingerprint() {
        return fingerprint.clone();
    }
}
