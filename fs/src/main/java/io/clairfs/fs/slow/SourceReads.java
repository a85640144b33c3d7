package io.clairfs.fs.slow;

/**
 * What readers asked of a slow source since it was made.
 *
 * @param opens files opened
 * @param reads read requests answered with data; the one that finds the end of a file is not counted
 * @param bytes in those answers
 */
public record SourceReads(long opens, long reads, long bytes) {
    public static final SourceReads NONE = new SourceReads(0, 0, 0);

    /** What was asked since {@code before}. */
    public SourceReads since(SourceReads before) {
        return new SourceReads(opens - before.opens, reads - before.reads, bytes - before.bytes);
    }
}
