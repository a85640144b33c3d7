package io.clairfs.cache.dataset.rule;

import io.clairfs.cache.dataset.DatasetException;
import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.Directory;
import io.clairfs.cache.dataset.Entry;
import io.clairfs.cache.dataset.LinkTarget;
import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.dataset.PythonText;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Walks a tree as {@code os.walk} does, links to directories followed or not. */
final class TreeWalk {
    /** Listings are complete when a rule runs; this only bounds a bug. */
    private static final long TIMEOUT_MS = 60_000;

    /** How long a rule waits for the status of what a link out of the tree leads to. */
    private static final long OUTSIDE_TIMEOUT_MS = 10_000;

    /** A walk meets a directory by more paths than this, on average, only where links lead in circles: two of them make a path for each number below 2^40. */
    private static final long MOST_PATHS = 40;

    private static final long LEAST_MOST = 1_000;

    private final DatasetTree tree;
    private final LinkResolver links;
    private long met;

    TreeWalk(DatasetTree tree) {
        this.tree = tree;
        links = new LinkResolver(tree, TIMEOUT_MS);
    }

    /**
     * One directory as the walk met it.
     *
     * @param path the path that reached it, relative to the root of the dataset; may go through links
     * @param linksOnPath how many links that path goes through
     */
    record Visit(byte[] path, Listing listing, int linksOnPath) {}

    Visit visit(byte[] path, Directory directory, int linksOnPath) throws SourceException {
        return new Visit(path, tree.list(directory, TIMEOUT_MS), linksOnPath);
    }

    /**
     * A visit of the directory at an entry, links followed; null when it is none.
     *
     * @throws DatasetException when it is a directory outside the source: the framework numbers its files, and nobody here knows them
     */
    @Nullable
    Visit enter(Visit parent, int at) throws DatasetException, SourceException {
        Listing listing = parent.listing();
        if (listing.kind(at) == Listing.Kind.FILE) {
            return null;
        }
        LinkResolver.End end = links.follow(new Entry(listing, at), parent.linksOnPath());
        if (end != null && end.isOutside() && outside(parent, at) == LinkTarget.DIRECTORY) {
            throw new DatasetException(
                    shown(parent, at) + " is a link to a directory outside the source, " + target(listing, at)
                            + ", whose files the mount does not have: put the directory in place of the link (a copy, or mount"
                            + " --bind), or mount a directory that holds both and make the link a relative one");
        }
        if (end == null || end.directory() == null) {
            return null;
        }
        return visit(Directory.join(parent.path(), listing.name(at)), end.directory(), end.links());
    }

    private LinkTarget outside(Visit parent, int at) throws DatasetException {
        try {
            return tree.targetOutside(new Entry(parent.listing(), at), OUTSIDE_TIMEOUT_MS);
        } catch (SourceException e) {
            throw new DatasetException("cannot tell whether " + shown(parent, at) + ", a link out of the source to "
                    + target(parent.listing(), at) + ", is a directory: " + e.getMessage());
        }
    }

    private static String shown(Visit parent, int at) {
        return PythonText.show(Directory.join(parent.path(), parent.listing().name(at)));
    }

    private static String target(Listing listing, int at) {
        return PythonText.show(listing.linkTarget(at));
    }

    /** As {@link #enter}, on a walk to all that is below. */
    @Nullable
    Visit enterAll(Visit parent, int at) throws DatasetException, SourceException {
        Visit child = enter(parent, at);
        if (child != null && met++ > LEAST_MOST + MOST_PATHS * (tree.entryCount() - tree.fileCount())) {
            throw new SourceFailedException(
                    PythonText.show(child.path()) + ": links to directories lead in circles", Errno.ELOOP);
        }
        return child;
    }

    /** The tree number of the file at an entry, links followed, or {@link SampleIndex#NO_FILE}. */
    int file(Visit visit, int at) throws SourceException {
        LinkResolver.End end = links.follow(new Entry(visit.listing(), at), visit.linksOnPath());
        Entry file = end == null ? null : end.file();
        return file == null ? SampleIndex.NO_FILE : file.number();
    }

    /** What is at an entry, links followed, out of the tree, too. */
    LinkTarget kind(Visit visit, int at) throws DatasetException, SourceException {
        return switch (visit.listing().kind(at)) {
            case FILE -> LinkTarget.FILE;
            case DIRECTORY -> LinkTarget.DIRECTORY;
            case LINK -> {
                LinkResolver.End end = links.follow(new Entry(visit.listing(), at), visit.linksOnPath());
                if (end == null) {
                    yield LinkTarget.NOTHING;
                }
                yield end.isOutside()
                        ? outside(visit, at)
                        : end.directory() == null ? LinkTarget.FILE : LinkTarget.DIRECTORY;
            }
        };
    }

    /** {@code start} and every directory below it, links followed, in no particular order. */
    List<Visit> allBelow(Visit start) throws DatasetException, SourceException {
        List<Visit> found = new ArrayList<>();
        found.add(start);
        for (int next = 0; next < found.size(); next++) {
            Visit parent = found.get(next);
            for (int at = 0; at < parent.listing().count(); at++) {
                Visit child = enterAll(parent, at);
                if (child != null) {
                    found.add(child);
                }
            }
        }
        return found;
    }

    /** {@code start} and every directory below it, links to directories not followed. */
    List<Visit> allBelowWithoutLinks(Visit start) throws DatasetException, SourceException {
        List<Visit> found = new ArrayList<>();
        found.add(start);
        for (int next = 0; next < found.size(); next++) {
            Visit parent = found.get(next);
            for (int at = 0; at < parent.listing().count(); at++) {
                Visit child = parent.listing().kind(at) == Listing.Kind.DIRECTORY ? enter(parent, at) : null;
                if (child != null) {
                    found.add(child);
                }
            }
        }
        return found;
    }

    /** {@code start} and every directory below it, links followed, as {@code os.walk(topdown=False)} meets them. */
    List<Visit> leavesFirst(Visit start) throws DatasetException, SourceException {
        List<Visit> found = new ArrayList<>();
        addLeavesFirst(start, found);
        return found;
    }

    /** Recursion is as deep as a path has names; PATH_MAX allows 2,048. */
    private void addLeavesFirst(Visit visit, List<Visit> found) throws DatasetException, SourceException {
        for (int at = 0; at < visit.listing().count(); at++) {
            Visit child = enterAll(visit, at);
            if (child != null) {
                addLeavesFirst(child, found);
            }
        }
        found.add(visit);
    }

    /** The directory at {@code path[from..to)} below {@code start}, links followed; null when there is none. */
    @Nullable
    Visit descend(Visit start, byte[] path, int from, int to) throws DatasetException, SourceException {
        Visit here = start;
        for (int begin = from; begin < to; ) {
            int end = begin;
            while (end < to && path[end] != '/') {
                end++;
            }
            int at = here.listing().find(path, begin, end);
            Visit child = at < 0 ? null : enter(here, at);
            if (child == null) {
                return null;
            }
            here = child;
            begin = end + 1;
        }
        return here;
    }

    /** Whether {@code os.walk} counts the entry among the files: everything that does not end at a directory. */
    boolean isFileName(Visit visit, int at) throws DatasetException, SourceException {
        return kind(visit, at) != LinkTarget.DIRECTORY;
    }
}
