package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.Held;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlanRequest;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One epoch of a job whose samples move with their readers: what a plan for it looks at, and until when it holds.
 *
 * <p>The plan keeps what this node reads in the epoch, and what it reads in the next one, which comes from the other nodes meanwhile. So it
 * also covers the first reads of the next epoch, while the plan for that one is made.
 *
 * @param end of the epochs that the plan looks at, exclusive
 */
record MovingSamples(JobRun job, int epoch, int end) {
    /**
     * The facts from which it follows whether samples move. A node that leaves or comes back changes none of them.
     *
     * @param capacities by node and class, bytes
     */
    record Facts(String line, List<Integer> nodeOfRank, List<List<Long>> capacities) {
        static Facts of(JobRun job, int[] nodeOfRank, Group group) {
            List<List<Long>> capacities = group.storages().stream()
                    .map(storage -> storage.classes().stream()
                            .map(StorageClass::capacityBytes)
                            .toList())
                    .toList();
            return new Facts(
                    job.spec().lineForAll(), Arrays.stream(nodeOfRank).boxed().toList(), capacities);
        }
    }

    /** The epoch in which the job's trainer is, or its last one. */
    static MovingSamples now(JobRun job) {
        int epoch = Math.min(job.epoch(), job.spec().epochs() - 1);
        return new MovingSamples(job, epoch, isKnown(job, epoch + 1) ? epoch + 2 : epoch + 1);
    }

    private static boolean isKnown(JobRun job, int epoch) {
        return epoch < job.spec().epochs() && job.plannerOrders().isReady(epoch);
    }

    /**
     * The request for these epochs.
     *
     * @param all a request for all epochs of the job
     * @param held what this node holds; other nodes need not be known
     */
    PlanRequest request(PlanRequest all, Held held) {
        Need need = all.needs().getFirst();
        Need near = new Need(job.plannerOrders()::peek, need.sampleOf(), epoch, end, need.nodeOfRank());
        return new PlanRequest(all.samples(), all.sizes(), List.of(near), all.nodes(), all.model(), held, all.gone());
    }

    /** What the ranks that read here exchange for the next epoch; null while its order is not known. */
    @Nullable
    Exchange exchange() throws InvalidSpecException {
        return end == epoch + 1 ? null : Exchange.after(epoch, job);
    }

    /** Whether another epoch runs, or the order of the next one has become known. */
    BooleanSupplier isOver() {
        return () -> {
            int now = job.epoch();
            return (now != epoch && now < job.spec().epochs()) || (end == epoch + 1 && isKnown(job, end));
        };
    }
}
