package io.clairfs.cache.order;

import java.util.Map;
import java.util.TreeMap;

/**
 * Epochs that follow from one another: each begins in the state in which the one before ended.
 *
 * <p>Epochs asked for in order cost one epoch's work each. Asked out of order, the work begins again at the nearest of at most
 * {@link #MOST_CHECKPOINTS} states kept on the way; when there are too many, every other one is dropped.
 *
 * @param <R> the run's own type
 */
final class ConsecutiveEpochs<R extends ConsecutiveEpochs.Run<R>> implements Sampler {
    private static final int MOST_CHECKPOINTS = 64;
    /** Minutes of work; what would take longer is refused. */
    private static final long MOST_REPLAYED_SAMPLES = 100_000_000_000L;

    private final int samples;
    private final boolean checkpoints;
    private final TreeMap<Integer, R> kept = new TreeMap<>();
    private int stride = 1;
    private R current;
    private int currentEpoch;

    /** A run through the epochs, at the beginning of one of them. */
    interface Run<R> {
        /** The samples of this epoch; afterwards the run is at the beginning of the next. */
        int[] next();

        /** Goes to the beginning of the next epoch; costs less than {@link #next}. */
        void pass();

        R copy();
    }

    /**
     * @param first at the beginning of epoch 0
     * @param checkpoints false for runs whose state grows with the dataset: then only the first is kept
     */
    ConsecutiveEpochs(int samples, R first, boolean checkpoints) {
        this.samples = samples;
        this.checkpoints = checkpoints;
        current = first;
        kept.put(0, first.copy());
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
        boolean rewind = currentEpoch > epoch || nearest.getKey() > currentEpoch;
        long replayed = epoch - (long) (rewind ? nearest.getKey() : currentEpoch);
        if (replayed * Math.max(1, samples) > MOST_REPLAYED_SAMPLES) {
            throw new InvalidSpecException("epoch " + epoch + " of " + samples
                    + " samples follows from too long a history; give the generator's state with sampler=torch-state,"
                    + " or reseed each epoch");
        }
        if (rewind) {
            current = nearest.getValue().copy();
            currentEpoch = nearest.getKey();
        }
    }

    private void keep() {
        if (!checkpoints || currentEpoch % stride != 0 || kept.containsKey(currentEpoch)) {
            return;
        }
        kept.put(currentEpoch, current.copy());
        if (kept.size() > MOST_CHECKPOINTS) {
            stride *= 2;
            kept.keySet().removeIf(epoch -> epoch % stride != 0);
        }
    }
}
