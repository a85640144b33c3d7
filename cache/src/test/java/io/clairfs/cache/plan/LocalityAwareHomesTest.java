package io.clairfs.cache.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.locality.Owners;
import io.clairfs.cache.order.spec.Samplers;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The planner finds the owners of a locality-aware order by itself, from how often each node reads a sample. */
class LocalityAwareHomesTest {
    private static final int EPOCHS = 24;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void homesAreOwners_whereNodesHaveRoomForThemAndOneMore(long seed) throws InvalidSpecException {
        Random random = new Random(seed);
        int nodes = 2 + random.nextInt(7);
        int perNode = 1 + random.nextInt(2);
        int batch = 32 + random.nextInt(64);
        double cached = random.nextBoolean() ? 1 : 0.3 + random.nextInt(70) / 100.0;
        int samples = 500 + random.nextInt(4_000);
        if (cached < 1) {
            samples -= samples
                    % (nodes * perNode); // one that pads the ranks is read twice, and is worth more than one with an
            // owner
        }
        String line = "sampler=locality-aware seed=" + seed + " world=" + nodes * perNode + " batch=" + batch
                + " per_node=" + perNode + " cached=" + cached;
        Sampler sampler = Samplers.create(samples, Keys.parse(line));
        Owners owners = new Owners(samples, nodes, cached);
        List<NodeStorage> storage = IntStream.range(0, nodes)
                .mapToObj(node -> NodeStorage.of(StorageClass.memory(owners.owned(node) + 1)))
                .toList();
        int[] nodeOfRank = new int[nodes * perNode];
        Arrays.setAll(nodeOfRank, rank -> rank / perNode);
        Need need = new Need(sampler::epoch, 0, EPOCHS, nodeOfRank);
        PlanRequest request = new PlanRequest(samples, _ -> 1, List.of(need), storage, PlanCases.SLOW_SOURCE);
        Placement placement = new Planner(PlanLimits.DEFAULT).plan(request, PlacementPolicy.CLAIRFS);
        for (int sample = 0; sample < request.samples(); sample++) {
            int owner = owners.applyAsInt(sample);
            if (owner != Owners.NONE) {
                assertThat(placement.home(sample))
                        .as("%d samples, %s: home of %d", samples, line, sample)
                        .isEqualTo(owner);
            }
        }
    }
}
