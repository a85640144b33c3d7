package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.BatchLimits;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;

/**
 * The parameters of a {@code torch.utils.data.DataLoader} that determine its draws.
 *
 * @param samples in the dataset
 * @param drawn samples per epoch: {@code num_samples} of the RandomSampler
 * @param batch samples of one index batch
 * @param breakAfter batches after which the user leaves each epoch, {@link BatchLimits#NONE} for none
 * @param drawsBefore 32-bit words that other code draws before the first epoch
 * @param drawsBetween 32-bit words that other code draws between two epochs
 */
public record TorchLoader(
        int samples,
        int drawn,
        boolean replacement,
        int batch,
        boolean dropLast,
        int workers,
        int prefetchFactor,
        boolean persistentWorkers,
        boolean endless,
        BatchLimits breakAfter,
        long drawsBefore,
        long drawsBetween,
        TorchVersion torch) {

    private static final int MOST_WORKERS = 1 << 16;
    private static final int MOST_PREFETCH = 1 << 20;

    /** Words that are passed over in one go, in seconds at most; more is refused. */
    private static final long MOST_DRAWS = 1L << 32;

    /** Reads the keys, refusing what torch refuses. */
    public static TorchLoader read(int samples, Keys keys) throws InvalidSpecException {
        if (samples == 0) {
            throw new InvalidSpecException("samples=0: RandomSampler refuses an empty dataset");
        }
        TorchVersion torch = TorchVersion.read(keys);
        int workers = workers(keys);
        TorchLoader loader = new TorchLoader(
                samples,
                keys.integer("num_samples", samples, 1, Integer.MAX_VALUE - 8),
                keys.flag("replacement", false),
                batch(keys),
                keys.flag("drop_last", false),
                workers,
                prefetchFactor(keys, workers),
                persistentWorkers(keys, workers),
                keys.flag("endless", false),
                BatchLimits.read("break_after", keys.text("break_after")),
                draws("draws_before", keys),
                draws("draws_between", keys),
                torch);
        loader.requirePossible();
        return loader;
    }

    /** Reads key {@code batch}, samples of one batch; 1 when absent. */
    public static int batch(Keys keys) throws InvalidSpecException {
        return keys.integer("batch", 1, 1, Integer.MAX_VALUE);
    }

    /** Reads a number of 32-bit words that other code draws; 0 when absent. */
    static long draws(String key, Keys keys) throws InvalidSpecException {
        long words = keys.integer(key, 0, 0, Long.MAX_VALUE);
        if (words > MOST_DRAWS) {
            throw new InvalidSpecException(key + "=" + words + " takes too long to follow, the most is " + MOST_DRAWS
                    + "; give the generator's state after these draws with sampler=torch-state, or write the order to a"
                    + " file for sampler=order-file");
        }
        return words;
    }

    static int workers(Keys keys) throws InvalidSpecException {
        return keys.integer("workers", 0, 0, MOST_WORKERS);
    }

    static int prefetchFactor(Keys keys, int workers) throws InvalidSpecException {
        int factor = keys.integer("prefetch_factor", 2, 1, MOST_PREFETCH);
        if (workers == 0 && factor != 2) {
            throw new InvalidSpecException("prefetch_factor without workers: DataLoader refuses it; set workers");
        }
        return factor;
    }

    static boolean persistentWorkers(Keys keys, int workers) throws InvalidSpecException {
        boolean persistent = keys.flag("persistent_workers", false);
        if (persistent && workers == 0) {
            throw new InvalidSpecException("persistent_workers without workers: DataLoader refuses it; set workers");
        }
        return persistent;
    }

    private void requirePossible() throws InvalidSpecException {
        if (persistentWorkers && !torch.atLeast(1, 7)) {
            throw new InvalidSpecException("torch " + torch + " has no persistent_workers; they came with 1.7");
        }
        boolean plain = drawn == samples && !replacement;
        if (!breakAfter.equals(BatchLimits.NONE) && (endless || !plain)) {
            throw new InvalidSpecException("break_after goes neither with endless nor with num_samples or replacement");
        }
        if (endless && (drawsBetween > 0 || persistentWorkers)) {
            throw new InvalidSpecException(
                    "endless has one iterator for all epochs: no draws_between, no persistent_workers");
        }
    }

    /** Samples and words of an epoch whose permutations are passed over, about. */
    long work() {
        return Math.max(samples, drawn) + drawsBetween;
    }

    /** Batches of an epoch that runs to its end. */
    int batches() {
        return dropLast ? drawn / batch : Math.ceilDiv(drawn, batch);
    }

    /** How many samples the user gets in {@code epoch}. */
    int length(int epoch) {
        long most = dropLast ? (long) batches() * batch : drawn;
        return (int) Math.min(most, leaves(epoch) ? (long) breakAfter.of(epoch) * batch : most);
    }

    private boolean leaves(int epoch) {
        return breakAfter.of(epoch) <= batches();
    }

    /**
     * Whether the sampler is exhausted in {@code epoch}: always, unless the user leaves before the loader requests the index batch that
     * finds it empty.
     */
    boolean exhausts(int epoch) {
        if (!leaves(epoch)) {
            return true;
        }
        int enough = dropLast || drawn % batch == 0 ? batches() + 1 : batches();
        return (long) prefetchFactor * workers + breakAfter.of(epoch) >= enough;
    }

    /** Whether {@code epoch} begins with a new iterator, which draws a base seed for its workers. */
    boolean drawsBaseSeed(int epoch) {
        return epoch == 0 || !(persistentWorkers || endless);
    }
}
