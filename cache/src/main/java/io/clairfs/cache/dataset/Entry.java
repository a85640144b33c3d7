package io.clairfs.cache.dataset;

import io.clairfs.cache.source.Source.SourceFile;

/**
 * One entry of the tree.
 *
 * @param listing the listing of its directory
 * @param at its index there
 */
public record Entry(Listing listing, int at) {
    /** Its number in the whole tree; stable while the tree lives. */
    public int number() {
        return listing.base() + at;
    }

    public Listing.Kind kind() {
        return listing.kind(at);
    }

    /** Bytes as they are shown. */
    public long size() {
        return listing.size(at);
    }

    /** As {@link Listing#isMade}. */
    public boolean isMade() {
        return listing.isMade(at);
    }

    public byte[] path() {
        return listing.path(at);
    }

    /** The file, as a read of the source takes it. */
    public SourceFile file() {
        return new SourceFile(path(), listing.sourceSize(at), listing.mtimeNs(at));
    }
}
