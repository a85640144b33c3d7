package io.clairfs.peer.transfer.server;

import io.clairfs.cache.tier.SampleBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.CompletionStage;

/** What a node has to give when a peer asks for a sample. */
public sealed interface ServeResult {
    /** This node does not have the sample. */
    ServeResult NOT_HERE = new NotHere();

    /** Something that is released once it is sent, or once it is clear that it will not be. */
    sealed interface Held extends ServeResult {
        /** Bytes of the sample. */
        long size();

        /** Gives up what the result holds. */
        void release();
    }

    /** A sample in memory; the result owns one reference. */
    record Memory(SampleBuffer sample) implements Held {
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
     * A sample that lies in a file of this node and goes to the network without passing through this process.
     *
     * @param offset of the first byte in the file
     * @param size bytes of the sample
     * @param crc32c of the bytes as they were when they were stored
     * @param done run exactly once when the file is not needed any more; the channel stays open until then
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
     * The answer comes later, by the request's deadline at best. A result that comes too late, or after the connection is
     * gone, is released. It must not be another {@code Later}, and it must be completed in the end, with a failure if need
     * be: until then its size counts against what the connection may be promised.
     */
    record Later(CompletionStage<? extends ServeResult> result) implements ServeResult {}
}
