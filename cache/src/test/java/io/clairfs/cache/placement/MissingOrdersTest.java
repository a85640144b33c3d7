package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.FileNumbers;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.order.PlannerOrders;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.MemoryTier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plans for a job of which orders are missing, beside another job that has all of its own. Samples have 1,000 bytes. */
final class MissingOrdersTest {
    private static final int SAMPLES = 90;
    private static final long SIZE = 1_000;
    private static final long ROOM = 50 * SIZE;

    private final FakeDataset dataset;
    private final MemoryTier memory = new MemoryTier(ROOM);
    private final Admission admission;

    MissingOrdersTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> SIZE);
        admission = new Admission(dataset.tree, memory, List.of(), SIZE);
    }

    @AfterEach
    void close() {
        admission.close();
        memory.close();
    }

    private static NodeStorage storage() {
        return NodeStorage.of(StorageClass.memory(ROOM));
    }

    private NodePlanner alone() {
        return NodePlanner.alone(
                dataset.tree,
                admission,
                MissingOrdersTest::storage,
                PerformanceModel.unmeasured(),
                PlacementPolicy.CLAIRFS,
                PlanLimits.DEFAULT);
    }

    private NodePlanner firstOfTwo() throws Exception {
        List<UUID> nodes = List.of(new UUID(1, 1), new UUID(2, 2));
        Group two =
                new Group(nodes, List.of(storage(), storage()), 0, FileNumbers.of(dataset.tree), _ -> new int[] {0, 1});
        return new NodePlanner(
                dataset.tree,
                admission,
                () -> two,
                PerformanceModel.unmeasured(),
                PlacementPolicy.CLAIRFS,
                PlanLimits.DEFAULT);
    }

    private static StagingBuffer staging() {
        return new StagingBuffer(new RecordingArea(), 1000, 10);
    }

    private JobRun run(String line) throws InvalidSpecException {
        return new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging(), System::nanoTime);
    }

    /** A job of which no order file is there. */
    private JobRun withoutFiles(Path directory, String more) throws InvalidSpecException {
        return run("name=without sampler=order-file epochs=3 file=" + directory.resolve("{epoch}") + more);
    }

    /** A job with files that are all there, as far as can be told without reading them. */
    private JobRun ofFiles(IntPredicate isReadable, String more) throws InvalidSpecException {
        return ofFiles(
                isReadable,
                more,
                epoch -> new OrderNotReadyException("cannot read order file " + epoch + ": Input/output error"));
    }

    private JobRun ofFiles(IntPredicate isReadable, String more, IntFunction<InvalidSpecException> otherwise)
            throws InvalidSpecException {
        JobSpec spec = JobSpec.parse("name=partly sampler=order-file epochs=6 file=/orders/{epoch}" + more);
        Sampler files = epoch -> {
            if (!isReadable.test(epoch)) {
                throw otherwise.apply(epoch);
            }
            return order(epoch);
        };
        EpochOrders orders = new EpochOrders(MissingOrdersTest::order, SAMPLES, System::nanoTime);
        PlannerOrders planned = new PlannerOrders(orders, SAMPLES, "/orders/{epoch}", () -> files);
        return new JobRun(spec, dataset.index, dataset.tree, staging(), orders, planned, System::nanoTime, new long[0]);
    }

    /** Ten samples, others in each epoch. */
    private static EpochOrder order(int epoch) {
        return EpochOrder.of(IntStream.range(10 * epoch, 10 * epoch + 10).toArray());
    }

    private List<Integer> planned(LocalPlan plan) {
        List<Integer> planned = new ArrayList<>();
        for (int sample = 0; sample < SAMPLES; sample++) {
            if (plan.tierOf(dataset.file(sample)) == 0) {
                planned.add(sample);
            }
        }
        return planned;
    }

    @Test
    void jobWithoutItsFirstOrder_isLeftOut_andTheOtherIsPlannedFor(@TempDir Path directory) throws Exception {
        JobRun without = withoutFiles(directory, "");
        JobRun other = run("name=other seed=1 epochs=3");
        LocalPlan plan = alone().plan(List.of(without, other));
        assertThat(plan.covers(other)).isTrue();
        assertThat(plan.covers(without)).isFalse();
        assertThat(planned(plan)).isNotEmpty();
        String file = Keys.shorten(directory.resolve("0").toString());
        assertThat(plan.leftOut()).containsExactly("without: cannot read order file " + file + ": no such file");
        assertThat(plan.isStale()).isFalse();
        assertThat(alone().plan(List.of(other)).leftOut()).isEmpty();
    }

    @Test
    void jobsWithoutTheirFirstOrder_haveNoPlan(@TempDir Path directory) throws Exception {
        JobRun without = withoutFiles(directory, "");
        assertThatThrownBy(() -> alone().plan(List.of(without)))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessageContaining("no such file");
    }

    @Test
    void nodeOfAGroupWithoutAFirstOrder_plansAsOneThatKnowsTheOtherJobAlone(@TempDir Path directory) throws Exception {
        JobRun without = withoutFiles(directory, " world=2 ranks=0");
        JobRun other = run("name=other seed=1 epochs=3 world=2 ranks=0");
        LocalPlan plan = firstOfTwo().plan(List.of(without, other));
        assertThat(plan.digest())
                .isNotZero()
                .isEqualTo(firstOfTwo().plan(List.of(other)).digest());
        assertThat(plan.leftOut()).hasSize(1);
    }

    @Test
    void fileThatCannotBeRead_isTheEndOfWhatANodeAlonePlansFor() throws Exception {
        JobRun partly = ofFiles(epoch -> epoch != 3, "");
        LocalPlan plan = alone().plan(List.of(partly));
        assertThat(planned(plan))
                .containsExactlyElementsOf(IntStream.range(0, 30).boxed().toList());
        assertThat(plan.leftOut()).isEmpty();
        assertThat(plan.covers(partly)).isTrue();
        assertThat(plan.isStale()).as("its trainer is in the first epoch").isFalse();
    }

    // Promise J21
    @Test
    void laterFileThatIsInvalid_isTheEndOfWhatIsPlannedForItsJob_andCostsNoOtherItsPlan() throws Exception {
        JobRun partly = ofFiles(epoch -> epoch != 3, "", epoch -> new InvalidSpecException("number 7 is out of range"));
        JobRun other = run("name=other seed=1 epochs=3");
        LocalPlan plan = alone().plan(List.of(partly, other));
        assertThat(plan.covers(partly)).isTrue();
        assertThat(plan.covers(other)).isTrue();
        assertThat(plan.leftOut()).isEmpty();
        assertThat(plan.isStale()).isFalse();
        LocalPlan ofPartly = alone().plan(List.of(partly));
        assertThat(planned(ofPartly))
                .containsExactlyElementsOf(IntStream.range(0, 30).boxed().toList());
    }

    @Test
    void nodeOfAGroupThatCannotReadALaterFile_plansForTheFirstEpoch_asOneThatDoesNotSeeThatFile() throws Exception {
        LocalPlan plan = firstOfTwo().plan(List.of(ofFiles(epoch -> epoch != 3, " world=2 ranks=0")));
        LocalPlan first = firstOfTwo().plan(List.of(ofFiles(epoch -> epoch == 0, " world=2 ranks=0")));
        LocalPlan all = firstOfTwo().plan(List.of(ofFiles(_ -> true, " world=2 ranks=0")));
        assertThat(plan.digest()).isEqualTo(first.digest()).isNotEqualTo(all.digest());
    }

    @Test
    void ordersThatAreMissingOneAfterTheOther_leaveTheJobOut() throws Exception {
        JobRun partly = run("name=partly seed=1");
        MissingOrders missing = new MissingOrders();
        assertThat(missing.takeNews()).isFalse();
        missing.add(partly, 5, new OrderNotReadyException("first"));
        assertThat(missing.takeNews()).isTrue();
        assertThat(missing.takeNews()).isFalse();
        assertThat(missing.end(partly, 9)).isEqualTo(5);
        assertThat(missing.isAllOf(partly, 4)).isFalse();
        assertThat(missing.isAllOf(partly, 5)).isTrue();
        missing.add(partly, 3, new OrderNotReadyException("second"));
        assertThat(missing.end(partly, 9)).isEqualTo(3);
        missing.add(partly, 2, new OrderNotReadyException("third"));
        assertThat(missing.isAllOf(partly, 0)).isTrue();
        assertThat(missing.lines(List.of(partly))).containsExactly("partly: third");
    }
}
