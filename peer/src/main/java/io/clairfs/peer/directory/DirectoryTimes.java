package io.clairfs.peer.directory;

/**
 * How quickly a group notices things.
 *
 * @param publishMs between two deltas of one node's holdings at least
 * @param repeatMs between two reminders of how far they have got, by which who missed one notices
 * @param askMs between two questions to one node for the whole of its holdings
 * @param heartbeatSeconds between two signs of life
 * @param goneSeconds without a sign of life until a member is taken for dead; a closed connection is noticed at once
 * @param mergeSeconds between two looks for another half of the group
 */
public record DirectoryTimes(
        int publishMs, int repeatMs, int askMs, int heartbeatSeconds, int goneSeconds, int mergeSeconds) {
    public static final DirectoryTimes DEFAULT = new DirectoryTimes(500, 5_000, 1_000, 2, 20, 15);

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
}
