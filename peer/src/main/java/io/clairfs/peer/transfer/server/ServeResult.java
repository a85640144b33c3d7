package io.clairfs.peer.transfer.server;

import io.clairfs.cache.tier.SampleBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.CompletionStage;

/** A node's answer to a peer's request for a sample. */
public sealed interface ServeResult {
    /** This node does not have the sample. */
    ServeResult NOT_HERE = new NotHere();

    /** A result that is released once it is sent, or once it is clear that it will not be. */
    sealed interface Held extends ServeResult {
        /** Bytes of the sample. */
        long size();

        /** Gives up what the result holds. */
        void release();
    }

    /**
     * A sample in memory.
     *
     * @param sample the result owns one reference
     * @param broughtNs how long this node took to get it from the source for this result; 0 if it had it
     */
    record Memory(SampleBuffer sample, long broughtNs) implements Held {
        public Memory(SampleBuffer sample) {
            this(sample, 0);
        }

        @Override
        public long size() {
            return sample.size();
        }

        @Override
        public void release() {
            sample.release();
        }
    }

    /**
     * A sample in a file of this node. Without TLS it goes to the network without passing through this process.
     *
     * @param offset of the first byte in the file
     * @param size bytes of the sample
     * @param crc32c of the bytes when they were stored
     * @param done run exactly once, when the file is no longer needed; the channel stays open until then
     */
    record Stored(FileChannel file, long offset, long size, int crc32c, Runnable done) implements Held {
        @Override
        public void release() {
            done.run();
        }
    }

    /** This node does not have the sample. */
    record NotHere() implements ServeResult {}

    /**
     * The answer comes later, if possible by the request's deadline. A result that comes too late, or after the connection is
     * gone, is released. It must not be another {@code Later}, and it should be completed in the end, with a failure if need
     * be: until then, or until the request expires or is cancelled, its size counts against the bytes that may be promised to
     * the connection.
     */
    record Later(CompletionStage<? extends ServeResult> result) implements ServeResult {}
}
