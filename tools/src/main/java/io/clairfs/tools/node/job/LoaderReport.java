package io.clairfs.tools.node.job;

/**
 * What a worker of a trainer's loader says of its last samples.
 *
 * @param rank whose loader it is
 * @param workers of that loader; 1 for a loader that reads in the trainer's own thread
 * @param samples that the two means are of
 * @param readSeconds that one sample waited for its bytes
 * @param transformSeconds that was then worked on it
 */
public record LoaderReport(int rank, int workers, int samples, double readSeconds, double transformSeconds) {
    public LoaderReport {
        if (rank < 0 || workers < 1 || samples < 1 || !(readSeconds >= 0) || !(transformSeconds >= 0)) {
            throw new IllegalArgumentException("rank " + rank + ", " + workers + " workers, " + samples + " samples, "
                    + readSeconds + " s to read, " + transformSeconds + " s to transform");
        }
    }
}
