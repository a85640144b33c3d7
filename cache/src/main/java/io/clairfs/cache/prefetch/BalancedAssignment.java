package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import java.util.List;

/**
 * More loaders for a rank that is predicted to be late (Lobster, ICPP 2022, sections 4.2 to 4.4), out of a fixed total.
 *
 * <p>What is predicted is the loading of each rank's coming batch: how long one thread would take for it, by where its samples
 * are now, against how long the trainer can go on with what is staged.
 */
final class BalancedAssignment implements LoaderAssignment {
    private static final int BATCH_UNKNOWN = 32;
    private static final int BATCH_LOOKED_AT = 256;

    private final DatasetTree tree;
    private final FetchRouter router;

    BalancedAssignment(DatasetTree tree, FetchRouter router) {
        this.tree = tree;
        this.router = router;
    }

    @Override
    public void assign(List<RankQueue> queues, int loaders) {
        double[] work = new double[queues.size()];
        double all = 0;
        for (int i = 0; i < work.length; i++) {
            work[i] = secondsOfOneLoader(queues.get(i));
            all += work[i];
        }
        for (int i = 0; i < work.length; i++) {
            queues.get(i).assign(all == 0 ? 1 : Math.max(1, (int) Math.round(loaders * work[i] / all)));
        }
    }

    /** How long one loader would take for the batch that this rank stages next. */
    private double secondsOfOneLoader(RankQueue queue) {
        int batch = queue.job().spec().batch();
        double[] seconds = {0};
        queue.job()
                .forEachToStage(queue.stream(), batch == 0 ? BATCH_UNKNOWN : Math.min(batch, BATCH_LOOKED_AT), file -> {
                    long bytes = tree.entry(file).size();
                    seconds[0] += router.fetchSeconds(router.cheapest(file, bytes), bytes);
                });
        return seconds[0];
    }

    @Override
    public boolean lendsIdleLoaders() {
        return true;
    }
}
