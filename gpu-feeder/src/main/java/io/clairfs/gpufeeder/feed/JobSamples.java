package io.clairfs.gpufeeder.feed;

import io.clairfs.gpufeeder.feed.FeedOptions.Directories;
import io.clairfs.gpufeeder.feed.FeedOptions.Labels;
import io.clairfs.gpufeeder.feed.FeedOptions.Listed;
import io.clairfs.gpufeeder.feed.FeedOptions.None;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** The samples of a job: their paths and labels by number, and the order of each epoch. */
public final class JobSamples {
    private static final long LATER_MS = 100;

    private final MountedJob job;
    private final SamplePaths paths;
    private final SampleLabels labels;

    private JobSamples(MountedJob job, SamplePaths paths, SampleLabels labels) {
        this.job = job;
        this.paths = paths;
        this.labels = labels;
    }

    /**
     * Reads them. While the dataset is being listed, or the mount's process started again, it waits, {@code patienceMs} at most.
     *
     * @throws FeedException when they are not there, or the labels are not theirs
     */
    public static JobSamples read(MountedJob job, Labels labels, long patienceMs)
            throws IOException, InterruptedException {
        SamplePaths paths = await(job, patienceMs);
        if (paths.size() == 0) {
            throw new FeedException("the job '" + job.name() + "' at " + job.mountPoint() + " has no samples");
        }
        return new JobSamples(
                job,
                paths,
                switch (labels) {
                    case Directories() -> SampleLabels.ofDirectories(paths, job.subset());
                    case None() -> SampleLabels.none(paths.size());
                    case Listed(Path file) -> SampleLabels.read(file, paths.size());
                });
    }

    private static SamplePaths await(MountedJob job, long patienceMs) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
        while (true) {
            try {
                return job.paths();
            } catch (OrderLaterException e) {
                if (System.nanoTime() > deadline) {
                    throw new FeedException(
                            e.getMessage() + " is not there after " + patienceMs / 1000
                                    + " s, for the dataset is still being listed: wait until `clairfs status "
                                    + job.mountPoint() + "` shows the job",
                            e);
                }
                Thread.sleep(LATER_MS);
            }
        }
    }

    public int count() {
        return paths.size();
    }

    /** The file of the first sample. */
    public Path example() {
        return job.file(paths.path(0));
    }

    byte[] path(int sample) {
        return paths.path(sample);
    }

    long label(int sample) {
        return labels.of(sample);
    }

    /** Paths and labels are those of the job that the feeder began with. */
    private void requireSameJob() throws IOException {
        boolean isReplaced;
        try {
            isReplaced = job.isReplaced();
        } catch (FeedException e) {
            throw e;
        } catch (IOException e) {
            throw new OrderLaterException("the next process of the mount at " + job.mountPoint());
        }
        if (isReplaced) {
            throw new FeedException("the job '" + job.name() + "' was replaced: make the Feed again");
        }
    }

    int[] order(int epoch) throws IOException {
        int[] order = job.order(epoch);
        requireSameJob();
        for (int sample : order) {
            if (sample < 0 || sample >= paths.size()) {
                throw new FeedException("the order of epoch " + epoch + " has sample " + sample + ", the job '"
                        + job.name()
                        + "' had " + paths.size() + " samples when the feeder began: the job was replaced; start the"
                        + " feeder again");
            }
        }
        return order;
    }
}
