package io.clairfs.tools.mount;

/**
 * The parameters of the trainers of all ranks.
 *
 * @param job its name
 * @param epochs at most
 * @param batch samples of a rank in one step
 * @param computeMs milliseconds of computation in one step
 * @param order the sampler and its keys, for the job line; empty for the usual one
 */
record Training(String job, long seed, int epochs, int batch, double computeMs, String order) {
    /** The number of epochs for trainers that a test ends. */
    static final int NO_END = 1_000;

    Training(String job, long seed, int epochs, int batch, double computeMs) {
        this(job, seed, epochs, batch, computeMs, "");
    }

    /** The job line, without the world and the ranks. */
    String line() {
        return "name=" + job + " seed=" + seed + " batch=" + batch + (epochs == NO_END ? "" : " epochs=" + epochs)
                + (order.isEmpty() ? "" : " " + order);
    }
}
