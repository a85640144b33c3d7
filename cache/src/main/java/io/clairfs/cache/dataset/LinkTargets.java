package io.clairfs.cache.dataset;

import io.clairfs.cache.posix.Errno;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.source.SourceException;
import io.clairfs.cache.source.SourceFailedException;
import io.clairfs.cache.source.SourceTimeoutException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the links lead to that leave the tree. Each is looked at when it is asked for, together with the absolute links beside it, for who asks for one
 * asks for all of a directory; what was found is kept, a byte for each entry of such a directory.
 *
 * <p>A look may hang in another file system than the source's. While one is late, whoever asks for it is refused at once. Thread-safe.
 */
final class LinkTargets {
    private static final byte UNKNOWN = 0;
    private static final byte UNDER_WAY = 1;

    /** Under way, and somebody has gone on without the answer. */
    private static final byte LATE = 2;

    /** From here on the ordinal of a {@link LinkTarget}. */
    private static final byte FOUND = 3;

    private final Source source;
    private final Executor executor;

    /** By listing, for each entry. Guarded by this, with what is in it. */
    private final Map<Listing, byte[]> looks = new HashMap<>();

    /** Why the last look at an entry failed. Guarded by this. */
    private final Map<Entry, SourceException> failures = new HashMap<>();

    /** Looks are made by {@code executor}. */
    LinkTargets(Source source, Executor executor) {
        this.source = source;
        this.executor = executor;
    }

    /** What {@code link} leads to; waits {@code timeoutMs} at most. A look that failed is made again for the next who asks. */
    synchronized LinkTarget of(Entry link, long timeoutMs) throws SourceException {
        byte[] states = looks.computeIfAbsent(link.listing(), listing -> new byte[listing.count()]);
        if (states[link.at()] == UNKNOWN) {
            beginAll(link, states);
        }
        await(states, link.at(), timeoutMs);
        byte state = states[link.at()];
        if (state == LATE) {
            throw new SourceTimeoutException("what the link leads to", timeoutMs);
        }
        SourceException failure = failures.get(link);
        if (failure != null) {
            throw failure;
        }
        return LinkTarget.values()[state - FOUND];
    }

    private void await(byte[] states, int at, long timeoutMs) throws SourceException {
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (states[at] == UNDER_WAY) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
            if (leftMs <= 0) {
                states[at] = LATE;
                return;
            }
            try {
                wait(leftMs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SourceTimeoutException("what the link leads to", 0);
            }
        }
    }

    private void beginAll(Entry link, byte[] states) {
        begin(link, states);
        Listing listing = link.listing();
        for (int at = 0; at < listing.count(); at++) {
            if (states[at] == UNKNOWN && isAbsolute(listing, at)) {
                begin(new Entry(listing, at), states);
            }
        }
    }

    private static boolean isAbsolute(Listing listing, int at) {
        return listing.kind(at) == Listing.Kind.LINK
                && listing.linkTarget(at).length > 0
                && listing.linkTarget(at)[0] == '/';
    }

    private void begin(Entry link, byte[] states) {
        states[link.at()] = UNDER_WAY;
        failures.remove(link);
        try {
            executor.execute(() -> look(link, states));
        } catch (RejectedExecutionException closed) {
            end(link, states, UNKNOWN, new SourceFailedException("the mount is being ended", Errno.EIO));
        }
    }

    private void look(Entry link, byte[] states) {
        try {
            LinkTarget found = LinkTarget.of(source.statusBehind(link.path()));
            end(link, states, (byte) (FOUND + found.ordinal()), null);
        } catch (SourceException e) {
            end(link, states, UNKNOWN, e);
        } catch (Throwable t) { // without an outcome the look would never end
            end(link, states, UNKNOWN, new SourceFailedException("the look failed with " + t, Errno.EIO));
        }
    }

    private synchronized void end(Entry link, byte[] states, byte state, @Nullable SourceException failure) {
        states[link.at()] = state;
        if (failure != null) {
            failures.put(link, failure);
        }
        notifyAll();
    }
}
