package io.clairfs.cache.order;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Epochs that follow from one another: each begins in the state in which the previous one ended.
 *
 * <p>Epochs requested in order cost one epoch's work each. Out of order, the work restarts at the nearest of at most
 * {@link #MOST_CHECKPOINTS} kept states; when there are too many, every other one is dropped. A run whose state grows with the dataset
 * keeps none and restarts at epoch 0.
 *
 * @param <R> the run's own type
 */
public final class ConsecutiveEpochs<R extends ConsecutiveEpochs.Run> implements Sampler {
    static final int MOST_CHECKPOINTS = 64;
    /** Minutes of work; more is refused. */
    private static final long MOST_REPLAYED = 100_000_000_000L;

    private final long work;
    private final Supplier<R> first;
    private final @Nullable UnaryOperator<R> copier;
    private final TreeMap<Integer, R> kept = new TreeMap<>();
    private int stride = 1;
    private R current;
    private int currentEpoch;

    /** A run through the epochs, at the beginning of one of them. */
    public interface Run {
        /** The samples of this epoch; afterwards the run is at the beginning of the next. */
        int[] next();

        /** Goes to the beginning of the next epoch; costs no more than {@link #next}. */
        void pass();
    }

    /** A run that is cheap to keep. */
    public interface SmallRun<R> extends Run {
        /** An independent run at the same place. */
        R copy();
    }

    private ConsecutiveEpochs(long work, Supplier<R> first, @Nullable UnaryOperator<R> copier) {
        this.work = Math.max(1, work);
        this.first = first;
        this.copier = copier;
        current = first.get();
    }

    /**
     * The sampler of a run at the beginning of epoch 0.
     *
     * @param work samples of an epoch, and further numbers that are drawn for it: what {@link Run#pass} costs
     */
    public static <R extends SmallRun<R>> Sampler of(long work, R first) {
        return new ConsecutiveEpochs<>(work, first::copy, SmallRun::copy);
    }

    /** The sampler of runs whose state grows with the dataset; {@code first} makes one at the beginning of epoch 0. */
    public static <R extends Run> Sampler ofLarge(int samples, Supplier<R> first) {
        return new ConsecutiveEpochs<>(samples, first, null);
    }

    @Override
    public EpochOrder epoch(int epoch) throws InvalidSpecException {
        rewindTo(epoch);
        while (currentEpoch < epoch) {
            keep();
            current.pass();
            currentEpoch++;
        }
        keep();
        currentEpoch++;
        return EpochOrder.of(current.next());
    }

    private void rewindTo(int epoch) throws InvalidSpecException {
        Map.Entry<Integer, R> nearest = kept.floorEntry(epoch);
        int nearestEpoch = nearest == null ? 0 : nearest.getKey();
        boolean rewind = currentEpoch > epoch || nearestEpoch > currentEpoch;
        long replayed = epoch - (long) (rewind ? nearestEpoch : currentEpoch);
        if (replayed > MOST_REPLAYED / work) {
            throw new InvalidSpecException("epoch " + epoch + " follows from too long a history, " + work
                    + " samples and draws in each epoch; give the generator's state with sampler=torch-state, or reseed"
                    + " each epoch");
        }
        if (rewind) {
            current = nearest == null || copier == null ? first.get() : copier.apply(nearest.getValue());
            currentEpoch = nearestEpoch;
        }
    }

    private void keep() {
        if (copier == null || currentEpoch % stride != 0 || kept.containsKey(currentEpoch)) {
            return;
        }
        kept.put(currentEpoch, copier.apply(current));
        if (kept.size() > MOST_CHECKPOINTS) {
            stride *= 2;
            kept.keySet().removeIf(epoch -> epoch % stride != 0);
        }
    }
}
