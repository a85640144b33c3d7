package io.clairfs.peer.transfer.server;

/** What this node serves to its peers. */
@FunctionalInterface
public interface SampleService {
    /**
     * Serves a sample that a peer requests. Called on an event loop, so it must return at once, and answers {@link ServeResult.Later}
     * where it would have to wait.
     *
     * @param sample ordinal of the file in the dataset, not checked yet: any 32 bits may arrive
     * @param bytes its size as the peer knows it; the caller refuses a sample of another size
     * @param deadlineNs when the peer stops waiting, on the clock of {@link System#nanoTime()}
     */
    ServeResult serve(int sample, long bytes, long deadlineNs);

    /**
     * Makes a sample by this node's view for a peer, unless the sample is here already; as {@link #serve}. A node that does not make samples for
     * others does not have it.
     */
    default ServeResult make(int sample, long bytes, long deadlineNs) {
        return ServeResult.NOT_HERE;
    }

    /**
     * A peer has received a sample with a wrong checksum, so the copy here may be damaged. Called on an event loop, too.
     *
     * @param sample as for {@link #serve}
     */
    default void damaged(int sample) {}
}
