package io.clairfs.cache.seed;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.random.RandomGenerator;

/** A training that tells nothing: the shape that its first reads come from. */
record SeedTrial(int samples, int world, int first, int last, int batch, int workers, long seed) {
    /** The combinations of a size of the dataset, a world and a number of workers. */
    static final int COMBINATIONS = 36;

    /** First reads that are searched. */
    static final int READS = 200;

    private static final int[] SIZES = {1_000, 50_000, 1_281_167};
    private static final int[] WORLDS = {1, 2, 8, 64};
    private static final int[] WORKERS = {0, 2, 8};
    private static final int[] BATCHES = {32, 64, 128, 256};

    /** The {@code number}-th trial: the combinations in turn, with a seed below {@code seeds}, a batch and the node's ranks by chance. */
    static SeedTrial of(int number, int seeds, RandomGenerator random) {
        int world = WORLDS[number / SIZES.length % WORLDS.length];
        int here = Math.min(world, 1 << random.nextInt(4));
        int first = here * random.nextInt(world / here);
        return new SeedTrial(
                SIZES[number % SIZES.length],
                world,
                first,
                first + here - 1,
                BATCHES[random.nextInt(BATCHES.length)],
                WORKERS[number / SIZES.length / WORLDS.length % WORKERS.length],
                random.nextInt(seeds));
    }

    /** The line of the order, without batch and workers, which the first reads do not always show. */
    String order() {
        return "sampler=torch-distributed seed=" + seed
                + (world == 1 ? "" : " world=" + world + " ranks=" + first + (last > first ? "-" + last : ""));
    }

    /** The first reads; half of them with a probe of sample 0 by another process. */
    FirstReads.Snapshot reads(RandomGenerator random) throws InvalidSpecException {
        LoaderModel model = model(JobSpec.parse(order()).sampler(samples).epoch(0), false, random);
        if (random.nextBoolean()) {
            model.foreign(1, 0);
        }
        return model.first(READS);
    }

    /**
     * The first reads of a random permutation, dealt and read as in this trial.
     *
     * @param unknownReaders whether the readers cannot be told apart
     */
    FirstReads.Snapshot unpredictable(boolean unknownReaders, RandomGenerator random) {
        int[] order = new int[samples];
        for (int i = 0; i < samples; i++) {
            int j = random.nextInt(i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        EpochOrder dealt = new EpochOrder() {
            @Override
            public int length(int rank) {
                return order.length / world;
            }

            @Override
            public int sample(int rank, int step) {
                return order[step * world + rank];
            }
        };
        return model(dealt, unknownReaders, random).first(READS);
    }

    private LoaderModel model(EpochOrder order, boolean unknownReaders, RandomGenerator random) {
        return new LoaderModel(samples, order, first, last, batch, workers, unknownReaders, random);
    }
}
