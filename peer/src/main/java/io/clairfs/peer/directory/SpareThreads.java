package io.clairfs.peer.directory;

/**
 * What a node can do for others' preprocessing, as it announces it about once a second (KSpeed, ICNP 2024, section III-C 2).
 *
 * @param threads with which it makes samples for other nodes; 0 for a node that makes none
 * @param busy samples that it has taken on and not made yet
 */
public record SpareThreads(int threads, int busy) {
    /** A node that makes nothing for others. */
    public static final SpareThreads NONE = new SpareThreads(0, 0);

    private static final int MOST = 0xFFFF;

    public SpareThreads {
        threads = Math.clamp(threads, 0, MOST);
        busy = Math.clamp(busy, 0, MOST);
    }
}
