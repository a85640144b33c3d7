package io.clairfs.cache.order;

import org.jspecify.annotations.Nullable;

/**
 * The sampler of a job that begins: it looks at order files for a bounded time. The job begins without an order whose file does not answer, and
 * waits for it as for one that is still to be written.
 *
 * <p>Until {@link #begun} another thread looks, and all looks together have the patience of one. From then on whoever asks looks, and waits.
 * Thread-safe, for a look that was given up may still be under way.
 */
public final class BeginningSampler implements Sampler {
    private final Sampler sampler;
    private final @Nullable String file;
    private final FileLooks looks;
    private final long endNs;
    private volatile boolean begun;

    /**
     * A job begins now.
     *
     * @param sampler of the job
     * @param file the name of its order files; null where its orders are computed, however long that takes
     * @param samples in the dataset
     */
    public BeginningSampler(Sampler sampler, @Nullable String file, int samples, FileLooks looks) {
        this.sampler = sampler;
        this.file = file;
        this.looks = looks;
        endNs = System.nanoTime() + looks.patienceNs(samples);
    }

    /** The job has begun: who asks from now on can wait. */
    public void begun() {
        begun = true;
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        return within(() -> sampler.epoch(epoch));
    }

    @Override
    public boolean isReady(int epoch) {
        try {
            return within(() -> sampler.isReady(epoch));
        } catch (InvalidSpecException noAnswer) {
            return false;
        }
    }

    @Override
    public void requirePossible(int epoch) throws InvalidSpecException {
        sampler.requirePossible(epoch);
    }

    private <T> T within(FileLooks.Question<T> question) throws InvalidSpecException {
        return begun || file == null
                ? alone(question)
                : looks.within(Math.max(0, endNs - System.nanoTime()), file, () -> alone(question));
    }

    /** The sampler takes one thread at a time. */
    private synchronized <T> T alone(FileLooks.Question<T> question) throws InvalidSpecException {
        return question.answer();
    }
}
