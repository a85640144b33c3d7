package io.clairfs.peer.directory;

/**
 * The times of the control plane.
 *
 * @param publishMs between two deltas of one node's holdings at least
 * @param repeatMs between two reminders of a node's newest states, by which others notice that they missed a delta
 * @param askMs between two requests to one node for the whole of its holdings, and between two answers to one
 * @param heartbeatSeconds between two heartbeats of Hazelcast
 * @param goneSeconds without such a heartbeat until a member is taken for dead; a closed connection is noticed at once
 * @param mergeSeconds between two searches for another half of the group
 */
public record DirectoryTimes(
        int publishMs, int repeatMs, int askMs, int heartbeatSeconds, int goneSeconds, int mergeSeconds) {
    public static final DirectoryTimes DEFAULT = new DirectoryTimes(500, 5_000, 1_000, 2, 20, 15);

    private static final int MOST_SIGN_MS = 1_000;

    public DirectoryTimes {
        if (publishMs < 10
                || repeatMs < publishMs
                || askMs < 1
                || heartbeatSeconds < 1
                || goneSeconds < 2 * heartbeatSeconds
                || mergeSeconds < 1) {
            throw new IllegalArgumentException("times of the directory must be positive and in proportion");
        }
    }

    /** The time between two signs of life of a node, by which others judge whether it answers, milliseconds. */
    int signMs() {
        return Math.min(MOST_SIGN_MS, repeatMs);
    }
}
