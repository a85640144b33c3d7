package io.clairfs.peer;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The connections that have not proved yet that they belong to the group. They are bounded, and the oldest goes for a newer one: strangers that connect and say
 * nothing keep no peer out, which proves itself in two round trips.
 *
 * @param <C> a connection
 */
public final class Handshakes<C> {
    private final int most;
    private final Set<C> underWay = new LinkedHashSet<>();

    /** {@code most} may be under way. */
    public Handshakes(int most) {
        this.most = most;
    }

    /** Begins one. Returns the connection that has to be closed for it; null while there is room. */
    public synchronized @Nullable C begin(C connection) {
        C oldest = underWay.size() < most ? null : underWay.iterator().next();
        if (oldest != null) {
            underWay.remove(oldest);
        }
        underWay.add(connection);
        return oldest;
    }

    /** Ends one. Does nothing for a connection that had to go for another, or has ended before. */
    public synchronized void end(C connection) {
        underWay.remove(connection);
    }
}
