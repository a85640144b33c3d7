package io.clairfs.tools.node.job;

/**
 * What a feeder says of itself, all since it began but for the first numbers.
 *
 * @param pid of its process
 * @param rank that it feeds
 * @param slots of its ring
 * @param ready batches that are in the trainer's hands or wait for it
 * @param threads that read and decode now
 * @param batches that were sent to the trainer
 * @param bad batches that failed
 * @param samples that were read
 * @param bytes of their files
 * @param readSeconds of its threads for reading
 * @param decodeSeconds of its threads for decoding
 * @param waitedSeconds that the trainer waited for batches
 */
public record FeederReport(
        long pid,
        int rank,
        int slots,
        int ready,
        int threads,
        long batches,
        long bad,
        long samples,
        long bytes,
        double readSeconds,
        double decodeSeconds,
        double waitedSeconds) {}
