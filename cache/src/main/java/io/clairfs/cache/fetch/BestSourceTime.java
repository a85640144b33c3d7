package io.clairfs.cache.fetch;

/**
 * What the source takes at its best of late. The first reads of a program, or those on a busy machine, tell little of the source itself.
 *
 * <p>Thread-safe. Its lock is the innermost.
 */
final class BestSourceTime {
    /** Each read makes an earlier one count for so much more: within ten reads the best is forgotten. */
    private static final double OLDER_PER_READ = 1.25;

    private double seconds = Double.POSITIVE_INFINITY;
    private long bytes = 1;

    /** A sample of so many bytes took so long. */
    synchronized void took(long sampleBytes, double sampleSeconds) {
        seconds *= OLDER_PER_READ;
        if (sampleSeconds <= seconds(sampleBytes)) {
            seconds = sampleSeconds;
            bytes = Math.max(1, sampleBytes);
        }
    }

    /** Seconds for a sample of so many bytes; those of a larger one than the best are in proportion. Infinite before the first read. */
    synchronized double seconds(long sampleBytes) {
        return seconds * Math.max(1, (double) sampleBytes / bytes);
    }
}
