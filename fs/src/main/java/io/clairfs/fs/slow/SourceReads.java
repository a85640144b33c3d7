package io.clairfs.fs.slow;

/**
 * The opens and reads of a slow source since it was made.
 *
 * @param opens files opened
 * @param reads read requests answered with data; the one that finds the end of a file is not counted
 * @param bytes in those answers
 */
public record SourceReads(long opens, long reads, long bytes) {
    public static final SourceReads NONE = new SourceReads(0, 0, 0);

    /** The opens and reads since {@code before}. */
    public SourceReads since(SourceReads before) {
        return new SourceReads(opens - before.opens, reads - before.reads, bytes - before.bytes);
    }
}
