package io.clairfs.tools.simulate;

/**
 * The analytical model of Yang and Cong (HiPC 2019), section IV and equations 1 to 8: seconds of one epoch.
 *
 * @param samples D
 * @param nodes p
 * @param training V, samples per second of a node
 * @param storage R, samples per second of the storage system, for all nodes together
 * @param remote R_c, samples per second from other nodes' caches
 * @param preprocessing U, samples per second of a node
 * @param cached alpha, the share of the dataset that caches hold
 */
record CacheModel(
        double samples,
        int nodes,
        double training,
        double storage,
        double remote,
        double preprocessing,
        double cached) {

    /** Equation 1. */
    double trainingSeconds() {
        return samples / (nodes * training);
    }

    /** Equation 2. */
    double storageSeconds() {
        return samples / storage;
    }

    /** Equation 3. */
    double preprocessingSeconds() {
        return samples / (nodes * preprocessing);
    }

    /** Equation 4: reading and preprocessing without caches. */
    double loadingSeconds() {
        return storageSeconds() + preprocessingSeconds();
    }

    /** Equation 5: the number of nodes up to which training takes longer than reading. */
    double nodesBoundByTraining() {
        return storage / training;
    }

    /** Equation 6: the cost of an epoch, where preprocessing does not count. */
    double trueCostSeconds() {
        return nodes <= nodesBoundByTraining() ? trainingSeconds() : storageSeconds();
    }

    /** Equation 7: reading with the caches of all nodes. */
    double distributedCacheSeconds() {
        return (1 - cached) * samples / storage + cached * samples / remote * (nodes - 1) / nodes;
    }

    /** Equation 8: reading when nodes train on their own samples; {@code moved} is beta, see {@link BatchImbalance}. */
    double localityAwareSeconds(double moved) {
        return (1 - cached) * samples / storage + cached * samples / remote * moved;
    }
}
