package io.clairfs.tools.mount;

/**
 * What the trainers of all ranks do.
 *
 * @param job its name
 * @param epochs at most
 * @param batch samples of a rank in one step
 * @param computeMs milliseconds of computation in one step
 */
record Training(String job, long seed, int epochs, int batch, double computeMs) {
    /** For trainers that are told when to end. */
    static final int NO_END = 1_000;

    /** What is written to the job file, but for the world and the ranks. */
    String line() {
        return "name=" + job + " seed=" + seed + " batch=" + batch + (epochs == NO_END ? "" : " epochs=" + epochs);
    }
}
