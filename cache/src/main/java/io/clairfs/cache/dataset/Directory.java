package io.clairfs.cache.dataset;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A directory of the source: its path and, once requested, its listing or the failure to list it. */
public final class Directory {
    /** In place of a number: the root is no entry. */
    public static final int NONE = -1;

    private final @Nullable Directory parent;
    private final byte[] path;
    private int number = NONE;
    private final AtomicReference<@Nullable CompletableFuture<Listing>> listing = new AtomicReference<>();

    Directory(@Nullable Directory parent, byte[] path) {
        this.parent = parent;
        this.path = path;
    }

    /** The directory above; none for the root. */
    public @Nullable Directory parent() {
        return parent;
    }

    /** Path from the root, without slashes at either end; empty for the root. The caller must not change it. */
    public byte[] path() {
        return path;
    }

    /** The number of its entry in the tree; {@link #NONE} for the root. */
    public int number() {
        return number;
    }

    /** Sets the number of its entry, before any other thread sees the listing. */
    void number(int ofEntry) {
        number = ofEntry;
    }

    /** Replaces the outcome of the previous try. */
    void settle(CompletableFuture<Listing> outcome) {
        listing.set(outcome);
    }

    /** Sets the listing, which no call to the source has made. */
    void listed(Listing known) {
        listing.set(CompletableFuture.completedFuture(known));
    }

    /** The future of the listing; {@code start} is true when the caller must make it. */
    Claim claim() {
        CompletableFuture<Listing> present = listing.get();
        if (present != null) {
            return new Claim(present, false);
        }
        CompletableFuture<Listing> mine = new CompletableFuture<>();
        CompletableFuture<Listing> other = listing.compareAndExchange(null, mine);
        return other == null ? new Claim(mine, true) : new Claim(other, false);
    }

    record Claim(CompletableFuture<Listing> listing, boolean start) {}

    /** The path of {@code name[from..to)} in {@code directory}, which is empty for the root. */
    public static byte[] join(byte[] directory, byte[] name, int from, int to) {
        int prefix = directory.length == 0 ? 0 : directory.length + 1;
        byte[] joined = new byte[prefix + to - from];
        System.arraycopy(directory, 0, joined, 0, directory.length);
        if (prefix > 0) {
            joined[prefix - 1] = '/';
        }
        System.arraycopy(name, from, joined, prefix, to - from);
        return joined;
    }

    /** The path of {@code name} in {@code directory}, which is empty for the root. */
    public static byte[] join(byte[] directory, byte[] name) {
        return join(directory, name, 0, name.length);
    }
}
