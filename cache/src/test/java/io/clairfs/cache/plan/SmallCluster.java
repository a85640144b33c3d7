package io.clairfs.cache.plan;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;
import java.util.List;

/** The reads of a small cluster, sample by sample: nodes of one rank each, samples of one size, torch's order. */
final class SmallCluster {
    private static final long SIZE = 1000;

    private final int samples;
    private final int epochs;
    private final int nodes;
    private final long capacity;
    private final EpochOrder[] orders;
    private final PlanRequest request;

    /** Where reads were served; {@code overBound} is the source's share over S + (E - 1) max(0, S - C). */
    record Reads(double local, double remote, double source, double overBound) {
        @Override
        public String toString() {
            return "local %.3f, remote %.3f, source %.2f x bound".formatted(local, remote, overBound);
        }
    }

    /** What the nodes hold at the moment. */
    private interface Caches {
        boolean holds(int node, int sample);

        boolean anyHolds(int sample);

        void read(int node, int sample, int epoch);
    }

    /** Nodes that together hold {@code datasets} times all samples. */
    SmallCluster(int samples, int epochs, int nodes, double datasets, long seed) throws InvalidSpecException {
        this(samples, epochs, nodes, datasets, PlanCases.torchDistributed(samples, nodes, seed));
    }

    /** The same for another order, of one rank on each node. */
    SmallCluster(int samples, int epochs, int nodes, double datasets, EpochSource source) throws InvalidSpecException {
        this.samples = samples;
        this.epochs = epochs;
        this.nodes = nodes;
        long slots = (long) (datasets * samples / nodes);
        capacity = slots * SIZE;
        orders = new EpochOrder[epochs];
        for (int epoch = 0; epoch < epochs; epoch++) {
            orders[epoch] = source.epoch(epoch);
        }
        request =
                PlanCases.request(samples, SIZE, epoch -> orders[epoch], epochs, PlanCases.sameNodes(nodes, capacity));
    }

    private Reads run(Caches caches) {
        long[] reads = new long[3];
        for (int epoch = 0; epoch < epochs; epoch++) {
            for (int step = 0; step < orders[epoch].length(0); step++) {
                for (int node = 0; node < nodes; node++) {
                    int sample = orders[epoch].sample(node, step);
                    reads[caches.holds(node, sample) ? 0 : caches.anyHolds(sample) ? 1 : 2]++;
                    caches.read(node, sample, epoch);
                }
            }
        }
        double all = Arrays.stream(reads).sum();
        long slots = capacity / SIZE * nodes;
        double bound = samples + (epochs - 1) * Math.max(0, samples - slots);
        return new Reads(reads[0] / all, reads[1] / all, reads[2] / all, reads[2] / bound);
    }

    /** Every node keeps what is planned from the first time on that anybody reads it. */
    Reads planned(PlacementPolicy policy) throws InvalidSpecException {
        Placement placement = new Planner(PlanLimits.DEFAULT).plan(request, policy);
        boolean[] read = new boolean[samples];
        return run(new Caches() {
            @Override
            public boolean holds(int node, int sample) {
                return read[sample] && placement.storageClass(node, sample) != Placement.NONE;
            }

            @Override
            public boolean anyHolds(int sample) {
                return read[sample] && placement.home(sample) != Placement.NONE;
            }

            @Override
            public void read(int node, int sample, int epoch) {
                read[sample] = true;
            }
        });
    }

    private NextUse[] nextUses() throws InvalidSpecException {
        Need need = request.needs().getFirst();
        return NextUse.ofNodes(need, samples, PlanCases.oneRankPerNode(nodes), 0);
    }

    private List<FurtherCopies> furtherCopies(long[] bytes) {
        return Arrays.stream(bytes)
                .mapToObj(room -> new FurtherCopies(samples, request.sizes(), room, 0))
                .toList();
    }

    /** Homes are planned; what room they leave goes by next use. */
    Reads homesAndNextUse() throws InvalidSpecException {
        Placement placement = new Planner(PlanLimits.DEFAULT).plan(request, PlacementPolicy.CLAIRFS);
        NextUse[] nextUse = nextUses();
        long[] rooms = new long[nodes];
        Arrays.setAll(rooms, placement::roomForCopies);
        List<FurtherCopies> copies = furtherCopies(rooms);
        boolean[] read = new boolean[samples];
        return run(new Caches() {
            @Override
            public boolean holds(int node, int sample) {
                return (read[sample] && placement.home(sample) == node)
                        || copies.get(node).contains(sample);
            }

            @Override
            public boolean anyHolds(int sample) {
                return read[sample] && placement.home(sample) != Placement.NONE;
            }

            @Override
            public void read(int node, int sample, int epoch) {
                read[sample] = true;
                if (placement.home(sample) != node && placement.home(sample) != Placement.NONE) {
                    copies.get(node).offer(sample, nextUse[node].after(epoch, sample), _ -> {});
                }
            }
        });
    }

    /** Lobster as it runs: who reads a sample keeps it by next use, and no last copy is evicted. */
    Reads lastCopiesAndNextUse() throws InvalidSpecException {
        NextUse[] nextUse = nextUses();
        long[] rooms = new long[nodes];
        Arrays.fill(rooms, capacity);
        List<FurtherCopies> copies = furtherCopies(rooms);
        int[] holders = new int[samples];
        return run(new Caches() {
            @Override
            public boolean holds(int node, int sample) {
                return copies.get(node).contains(sample);
            }

            @Override
            public boolean anyHolds(int sample) {
                return holders[sample] > 0;
            }

            @Override
            public void read(int node, int sample, int epoch) {
                FurtherCopies mine = copies.get(node);
                holders[sample] -= mine.contains(sample) ? 1 : 0;
                int due = nextUse[node].after(epoch, sample);
                if (due == NextUse.NEVER && holders[sample] == 0) {
                    due = epochs; // nobody else would have it
                }
                if (mine.offer(sample, due, copy -> holders[copy] > 1, copy -> holders[copy]--)) {
                    holders[sample]++;
                }
            }
        });
    }
}
