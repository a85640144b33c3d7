package io.clairfs.peer.transfer.server;

import io.netty.channel.Channel;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The connections that have not proved yet that they belong to the group. They are bounded, and the oldest goes for a newer one: strangers that connect and say
 * nothing keep no peer out, which proves itself in two round trips.
 */
final class Handshakes {
    private final int most;
    private final Set<Channel> underWay = new LinkedHashSet<>();

    Handshakes(int most) {
        this.most = most;
    }

    /** Begins one. Returns the connection that has to be closed for it; null while there is room. */
    synchronized @Nullable Channel begin(Channel channel) {
        Channel oldest = underWay.size() < most ? null : underWay.iterator().next();
        if (oldest != null) {
            underWay.remove(oldest);
        }
        underWay.add(channel);
        return oldest;
    }

    /** Ends one. Does nothing for a connection that had to go for another, or has ended before. */
    synchronized void end(Channel channel) {
        underWay.remove(channel);
    }
}
