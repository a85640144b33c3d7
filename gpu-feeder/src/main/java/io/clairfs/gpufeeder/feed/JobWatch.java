package io.clairfs.gpufeeder.feed;

import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * Whether a feeder is still wanted: as long as its mount has the job. That the mount does not say, because its process is being started again, is no end of
 * the job.
 */
public final class JobWatch {
    /** A job that is replaced is gone for a moment, and so is a mount that is made again. */
    private static final int LOOKS_MISSED = 3;

    private static final long PATIENCE_S = 60;

    private final MountedJob job;
    private final Patience patience;
    private int missed;

    public JobWatch(MountedJob job) {
        this(job, System::nanoTime);
    }

    JobWatch(MountedJob job, LongSupplier clockNs) {
        this.job = job;
        patience = new Patience(PATIENCE_S, clockNs);
    }

    /**
     * Looks at the mount. Returns false when the job is gone, or the mount with it: so several looks in turn have found.
     *
     * @throws FeedException when the mount has said nothing for a minute
     */
    public boolean goesOn() throws FeedException {
        try {
            missed = job.isThere() ? 0 : missed + 1;
            patience.renew();
        } catch (IOException e) {
            if (!job.isMounted()) {
                missed++;
            } else if (!patience.lasts()) {
                throw new FeedException(
                        "the mount at " + job.mountPoint() + " has not said for " + PATIENCE_S
                                + " s whether it has the job '" + job.name() + "' (" + e.getMessage()
                                + "): see `clairfs status " + job.mountPoint() + "`, then start the feeder again",
                        e);
            }
        }
        return missed < LOOKS_MISSED;
    }
}
