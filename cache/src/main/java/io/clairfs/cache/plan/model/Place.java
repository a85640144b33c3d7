package io.clairfs.cache.plan.model;

/** Where a sample can be fetched from. */
public sealed interface Place {
    /** The slow store. */
    Place SOURCE = new Source();

    /** A storage class of this node, counted from 0, the fastest. */
    record Local(int storageClass) implements Place {
        public Local {
            if (storageClass < 0) {
                throw new IllegalArgumentException("negative: storage class " + storageClass);
            }
        }
    }

    /** Another node. This node numbers the others as it meets them. */
    record Peer(int node) implements Place {
        public Peer {
            if (node < 0) {
                throw new IllegalArgumentException("negative: node " + node);
            }
        }
    }

    /** See {@link #SOURCE}. */
    record Source() implements Place {}
}
