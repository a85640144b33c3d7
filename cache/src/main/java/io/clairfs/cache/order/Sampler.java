package io.clairfs.cache.order;

/**
 * A framework's way to order the samples of a run, fixed by its seed and parameters: which sample indices, in which order,
 * each rank reads in each epoch.
 *
 * <p>Implementations are immutable to callers and compute any epoch at any time, for one thread at a time.
 */
public interface Sampler {
    /**
     * The order of {@code epoch}, counted from 0.
     *
     * @throws OrderNotReadyException when it cannot be computed yet; callers ask again later
     * @throws InvalidSpecException when the framework would refuse this epoch, for instance because seed + epoch overflows
     */
    EpochOrder epoch(int epoch) throws InvalidSpecException;

    /** Whether the order of {@code epoch} is ready, without reading a file. */
    default boolean isReady(int epoch) {
        return true;
    }

    /**
     * Refuses an epoch that the framework would refuse, without computing its order.
     *
     * @throws InvalidSpecException with the reason
     */
    default void requirePossible(int epoch) throws InvalidSpecException {}
}
