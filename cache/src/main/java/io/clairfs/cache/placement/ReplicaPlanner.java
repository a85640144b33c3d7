package io.clairfs.cache.placement;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.NextUse;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.EpochSource;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlanRequest;
import org.jspecify.annotations.Nullable;

/**
 * Decides which room of this node is for replicas in a plan of its group: what the samples with their home here leave, as a {@link ReplicaSpace} with
 * the next use of every sample.
 *
 * <p>Life cycle: of its {@link GroupPlanner}; it keeps nothing between plans.
 */
final class ReplicaPlanner {
    private final Admission admission;
    private final PlannedEpochs epochs;

    ReplicaPlanner(Admission admission, PlannedEpochs epochs) {
        this.admission = admission;
        this.epochs = epochs;
    }

    /** The room that homes leave here; null where there is none, or where all samples with another home fit into it. */
    @Nullable
    ReplicaSpace plan(PlanRequest request, Placement placement, Group now, FileNumbers numbers, JobRun job)
            throws InvalidSpecException {
        NodeStorage here = now.storages().get(now.self());
        long[] room =
                here.classes().stream().mapToLong(StorageClass::capacityBytes).toArray();
        long elsewhere = 0;
        for (int number = 0; number < numbers.count(); number++) {
            long bytes = request.sizes().bytes(number);
            if (placement.home(number) == now.self()) {
                int tier = placement.storageClass(now.self(), number);
                room[tier] -= here.classes().get(tier).bytesOf(bytes);
            } else if (placement.home(number) != Placement.NONE) {
                elsewhere += here.bytesOf(bytes);
            }
        }
        if (placement.roomForCopies(now.self()) == 0 || placement.roomForCopies(now.self()) >= elsewhere) {
            return null;
        }
        int epoch = Math.min(job.epoch(), job.spec().epochs());
        EpochSource orders = job.plannerOrders().sampler()::epoch;
        Need need = PlannedJobs.need(
                job, orders, epoch, epochs.knownEnd(job, epoch), now, numbers::numberOf, /* same */ false);
        NextUse uses;
        try {
            uses = NextUse.of(need, numbers.count(), now.self(), epoch);
        } catch (InvalidSpecException e) {
            return null; // then the plan names the replicas
        }
        ReplicaSpace copies = new ReplicaSpace(
                numbers,
                request.sizes(),
                here.withCapacities(room),
                uses,
                job::lastEpoch, // readers may wait for this
                epoch,
                job.spec().epochs(),
                job.plannerOrders()::isReady);
        admission.residents().adoptInto(copies, file -> {
            int number = numbers.numberOf(file);
            int home = number == FileNumbers.NONE ? Placement.NONE : placement.home(number);
            return home != Placement.NONE
                    && home != now.self()
                    && admission
                            .residents()
                            .isElsewhere(file); // else it is no replica, but waits for its home to fetch it
        });
        return copies;
    }
}
