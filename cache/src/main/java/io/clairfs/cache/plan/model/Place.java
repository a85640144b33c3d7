package io.clairfs.cache.plan.model;

/** Where a sample can be fetched from. */
public sealed interface Place {
    /** The slow store. */
    Place SOURCE = new Source();

    /** Any other node. */
    Place PEER = new Peer();

    /** A storage class of this node, counted from 0, the fastest. */
    record Local(int storageClass) implements Place {
        public Local {
            if (storageClass < 0) {
                throw new IllegalArgumentException("negative: storage class " + storageClass);
            }
        }
    }

    /** See {@link #PEER}. */
    record Peer() implements Place {}

    /** See {@link #SOURCE}. */
    record Source() implements Place {}
}
