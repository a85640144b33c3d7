package io.clairfs.peer.transfer.server;

/** What this node serves to its peers. */
@FunctionalInterface
public interface SampleService {
    /**
     * Called on an event loop for every sample that a peer asks for: must return at once, and answer {@link ServeResult.Later}
     * where it would have to wait.
     *
     * @param sample ordinal of the file in the dataset, not checked yet: any 32 bits may arrive
     * @param bytes its size as the peer knows it; a sample of another size is refused on its behalf
     * @param deadlineNs when the peer stops waiting, on the clock of {@link System#nanoTime()}
     */
    ServeResult serve(int sample, long bytes, long deadlineNs);

    /**
     * A peer has received a sample whose bytes do not have their checksum: what is kept here may be damaged. Called on an event loop,
     * too.
     *
     * @param sample as for {@link #serve}
     */
    default void damaged(int sample) {}
}
