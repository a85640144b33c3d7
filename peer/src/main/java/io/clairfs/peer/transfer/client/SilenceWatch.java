package io.clairfs.peer.transfer.client;

import java.util.concurrent.TimeUnit;

/**
 * Notices soon that a connection which owes something has gone silent, where another one can take its requests over. A peer that is busy with what
 * it owes answers a ping all the same; one whose path is cut does not.
 *
 * <p>Used on one event loop; times are nanoseconds of one clock.
 */
final class SilenceWatch {
    /** How long a peer may owe something and send no byte until it is pinged. */
    static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final long pongNs;
    private long owedSinceNs;
    private boolean pinged;
    private long pingedNs;

    /** {@code pongMs} is how long the answer to a ping may take. */
    SilenceWatch(int pongMs) {
        pongNs = TimeUnit.MILLISECONDS.toNanos(pongMs);
    }

    /** What is to be done now. */
    enum Next {
        NOTHING,
        PING,
        /** The path is cut. */
        GIVE_UP
    }

    /** Something is owed from now on, after nothing was. */
    void owesAgain(long nowNs) {
        owedSinceNs = nowNs;
        pinged = false;
    }

    /** To be asked again and again while something is owed; {@code heardNs} is when the last byte came. */
    Next next(long heardNs, long nowNs) {
        if (pinged && heardNs - pingedNs < 0) {
            return nowNs - pingedNs > pongNs ? Next.GIVE_UP : Next.NOTHING;
        }
        pinged = nowNs - heardNs > QUIET_NS && nowNs - owedSinceNs > QUIET_NS;
        if (pinged) {
            pingedNs = nowNs;
            return Next.PING;
        }
        return Next.NOTHING;
    }

    /** How long the last ping has been without an answer. */
    long silentMs(long nowNs) {
        return TimeUnit.NANOSECONDS.toMillis(nowNs - pingedNs);
    }
}
