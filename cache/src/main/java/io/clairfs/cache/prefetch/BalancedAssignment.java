package io.clairfs.cache.prefetch;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.follow.RankStream;
import io.clairfs.cache.plan.loaders.RankLoad;
import io.clairfs.cache.plan.loaders.ThreadAssignment;
import io.clairfs.cache.plan.model.Contention;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * More loaders for a rank that is predicted to be late, out of a fixed total ({@link ThreadAssignment}).
 *
 * <p>The prediction sets the loading time of each rank's coming batch, from where its samples are now, against how long the trainer can go
 * on: with what is staged, and then for the batch itself.
 */
final class BalancedAssignment implements LoaderAssignment {
    private static final int BATCH_UNKNOWN = 32;
    private static final int BATCH_LOOKED_AT = 256;

    /** Tau of the algorithm: differences below it are as good as none. */
    private static final double THRESHOLD_SECONDS = 0.005;

    private final DatasetTree tree;
    private final FetchRouter router;
    private final ObservedRates rates;

    BalancedAssignment(DatasetTree tree, FetchRouter router, ObservedRates rates) {
        this.tree = tree;
        this.router = router;
        this.rates = rates;
    }

    @Override
    public int[] assign(List<RankQueue> queues, int loaders) {
        if (queues.size() == 1) {
            return new int[] {loaders};
        }
        List<RankLoad> loads = queues.stream().map(this::load).toList();
        return ThreadAssignment.assign(loads, rates, contention(), loaders, THRESHOLD_SECONDS);
    }

    /** The source as it was measured lately, with the fillers that read it now. */
    private Map<Place, Contention> contention() {
        Contention source = router.contentionAtSource();
        return source == null ? Map.of() : Map.of(Place.SOURCE, source);
    }

    private RankLoad load(RankQueue queue) {
        RankStream stream = queue.rankStream();
        int said = queue.job().spec().batch();
        int batch = said == 0 ? BATCH_UNKNOWN : Math.min(said, BATCH_LOOKED_AT);
        Map<Place, Sum> byPlace = new HashMap<>();
        stream.forEachToStage(batch, file -> {
            long bytes = tree.keptSize(file);
            byPlace.computeIfAbsent(router.cheapest(file, bytes), _ -> new Sum())
                    .add(bytes);
        });
        List<RankLoad.Pending> pending = new ArrayList<>();
        byPlace.forEach((place, sum) -> pending.add(new RankLoad.Pending(place, sum.requests, sum.bytes)));
        return new RankLoad(pending, stream.secondsStaged() + stream.secondsOf(batch));
    }

    private static final class Sum {
        private int requests;
        private long bytes;

        void add(long size) {
            requests++;
            bytes += size;
        }
    }

    @Override
    public boolean lendsIdleLoaders() {
        return true;
    }
}
