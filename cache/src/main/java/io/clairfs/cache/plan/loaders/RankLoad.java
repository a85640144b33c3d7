package io.clairfs.cache.plan.loaders;

import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.Place;
import java.util.List;

/**
 * The work of one local rank's loader threads: its coming batch.
 *
 * @param pending by place
 * @param secondsUntilNeeded how long the trainer goes on with what is staged, plus T_train (less preprocessing); negative when the rank
 *     waits already
 */
public record RankLoad(List<Pending> pending, double secondsUntilNeeded) {

    public RankLoad {
        pending = List.copyOf(pending);
        if (!Double.isFinite(secondsUntilNeeded)) {
            throw new IllegalArgumentException("needed in " + secondsUntilNeeded + " s");
        }
    }

    /**
     * Fetches from one place.
     *
     * @param place of all of them
     * @param requests one per sample
     * @param bytes of all of them together
     */
    public record Pending(Place place, int requests, long bytes) {
        public Pending {
            if (requests < 0 || bytes < 0 || (requests == 0 && bytes > 0)) {
                throw new IllegalArgumentException(requests + " requests, " + bytes + " bytes");
            }
        }

        double threadSeconds(FetchCosts costs) {
            return requests == 0 ? 0 : requests * costs.fetchSeconds(place, bytes / requests);
        }
    }

    int requests() {
        return pending.stream().mapToInt(Pending::requests).sum();
    }
}
