package io.clairfs.cache.view;

/** What tiers and peers hold of a file of which a view makes a sample (KSpeed, ICNP 2024, III-C 2: preprocessing before or after caching). */
public enum KeptForm {
    /** What the view made: each sample is made once while it is kept. */
    MADE,
    /** The source's file, which takes less room: each sample is made whenever it is staged. */
    RAW,
    /** Not known before the dataset is listed; nothing is kept meanwhile. */
    UNDECIDED;

    /**
     * The cheaper form for a node alone, by the seconds that an epoch takes beside the training. In the made form what does not fit is read from the
     * source and made again in each epoch; in the raw form what does not fit is read again, and everything is made again.
     *
     * @param rawBytes of the source's files
     * @param madeBytes of what the view makes of them
     * @param roomBytes of all tiers
     * @param sourceBytesPerSecond at which the source is read
     * @param makingBytesPerSecond of the source's files, by all processors together
     */
    public static KeptForm cheaper(
            long rawBytes, long madeBytes, long roomBytes, double sourceBytesPerSecond, double makingBytesPerSecond) {
        double reading = rawBytes / sourceBytesPerSecond;
        double making = rawBytes / makingBytesPerSecond;
        double made = missing(madeBytes, roomBytes) * (reading + making);
        double raw = missing(rawBytes, roomBytes) * reading + making;
        return raw < made ? RAW : MADE;
    }

    private static double missing(long bytes, long roomBytes) {
        return bytes <= roomBytes ? 0 : 1 - (double) roomBytes / bytes;
    }
}
