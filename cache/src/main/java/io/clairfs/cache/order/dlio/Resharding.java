package io.clairfs.cache.order.dlio;

import io.clairfs.cache.order.ConsecutiveEpochs;
import io.clairfs.cache.order.python.NumpyShuffle;
import io.clairfs.cache.order.python.PermutationSampler;
import io.clairfs.cache.order.random.Mt19937;

/**
 * The lists of all ranks in DLIO's v3, one behind the other, and how files move between them before every epoch.
 *
 * <p>Rank r begins with the files r, r + W, r + 2W and so on, each rank with as many. Before epoch e, which counts from 1, every rank shuffles
 * its list with seed + e, gives its i-th file to rank (i + r) mod W, and shuffles what it receives, in the order of the senders, with
 * seed + e + 31 r. So the first shuffle is the same permutation for all ranks, and each rank receives as many files as it gives. Source:
 * {@code _reshard_files} of utils/config.py.
 */
final class Resharding implements ConsecutiveEpochs.Run {
    private static final long SEEDS_BETWEEN_RANKS = 31;

    private final int files;
    private final int world;
    private final long seed;
    private final boolean seedChangesByEpoch;
    private int[] lists;
    private int[] spare;
    private int epoch;

    /**
     * The ranks before the first epoch.
     *
     * @param files of each rank
     * @param seed such that all seeds that are used are from 0 to 2^32 - 1
     * @param seedChangesByEpoch whether the epoch is added to the seed of the first shuffle
     */
    Resharding(int files, int world, long seed, boolean seedChangesByEpoch) {
        this.files = files;
        this.world = world;
        this.seed = seed;
        this.seedChangesByEpoch = seedChangesByEpoch;
        lists = first(files, world);
        spare = new int[lists.length];
    }

    /** The lists before the first epoch. */
    static int[] first(int files, int world) {
        int[] lists = new int[files * world];
        for (int place = 0; place < lists.length; place++) {
            lists[place] = place % files * world + place / files;
        }
        return lists;
    }

    /** What a rank adds to the seed of its own shuffle. */
    static long seedOfRank(int rank) {
        return SEEDS_BETWEEN_RANKS * rank;
    }

    @Override
    public int[] next() {
        pass();
        return lists.clone();
    }

    @Override
    public void pass() {
        epoch++;
        if (lists.length > 0) {
            deal();
            for (int rank = 0; rank < world; rank++) {
                shuffle(seed + epoch + seedOfRank(rank)).shuffle(lists, rank * files, files);
            }
        }
    }

    private void deal() {
        int[] shuffled = PermutationSampler.identity(files);
        shuffle(seedChangesByEpoch ? seed + epoch : seed).shuffle(shuffled);
        int[] received = new int[world];
        for (int rank = 0; rank < world; rank++) {
            for (int i = 0; i < files; i++) {
                int to = (int) (((long) i + rank) % world);
                spare[to * files + received[to]++] = lists[rank * files + shuffled[i]];
            }
        }
        int[] before = lists;
        lists = spare;
        spare = before;
    }

    private static NumpyShuffle shuffle(long seed) {
        return new NumpyShuffle(new Mt19937((int) seed));
    }
}
