package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.source.SourceException;
import org.jspecify.annotations.Nullable;

/**
 * Follows symbolic links inside a tree as the kernel follows them on the mount.
 *
 * <p>A link that is absolute, or climbs above the root, leads out of the tree: its target is no part of the dataset and never passes through
 * the mount.
 */
final class LinkResolver {
    /** As in the kernel: more links on one path are ELOOP. */
    static final int MOST_LINKS = 40;

    private final DatasetTree tree;
    private final long timeoutMs;

    LinkResolver(DatasetTree tree, long timeoutMs) {
        this.tree = tree;
        this.timeoutMs = timeoutMs;
    }

    /** Where a path ends: a directory or a file, never a link; neither when it leaves the tree. */
    record End(@Nullable Directory directory, @Nullable Entry file, int links) {
        private static final End OUTSIDE = new End(null, null, 0);

        boolean isOutside() {
            return directory == null && file == null;
        }
    }

    /**
     * Follows the entry if it is a link, and the links that it leads to.
     *
     * @param links how many links the path to {@code entry} went through already
     * @return null when it leads nowhere
     */
    @Nullable
    End follow(Entry entry, int links) throws SourceException {
        return switch (entry.kind()) {
            case FILE -> new End(null, entry, links);
            case DIRECTORY -> new End(entry.listing().subdirectory(entry.at()), null, links);
            case LINK -> walk(entry.listing().directory(), entry.listing().linkTarget(entry.at()), links + 1);
        };
    }

    private @Nullable End walk(Directory start, byte[] target, int links) throws SourceException {
        if (links > MOST_LINKS || target.length == 0) {
            return null;
        }
        if (target[0] == '/') {
            return End.OUTSIDE;
        }
        End here = new End(start, null, links);
        for (int from = 0; from < target.length; ) {
            int to = from;
            while (to < target.length && target[to] != '/') {
                to++;
            }
            Directory directory = here.directory();
            if (directory == null) {
                return null; // the path goes on behind a file
            }
            here = step(directory, target, from, to, here.links());
            if (here == null || here.isOutside()) {
                return here;
            }
            from = to + 1;
        }
        return here;
    }

    private @Nullable End step(Directory directory, byte[] target, int from, int to, int links) throws SourceException {
        int length = to - from;
        if (length == 0 || (length == 1 && target[from] == '.')) {
            return new End(directory, null, links);
        }
        if (length == 2 && target[from] == '.' && target[from + 1] == '.') {
            Directory parent = directory.parent();
            return parent == null ? End.OUTSIDE : new End(parent, null, links);
        }
        Listing listing = tree.list(directory, timeoutMs);
        int at = listing.find(target, from, to);
        return at < 0 ? null : follow(new Entry(listing, at), links);
    }
}
