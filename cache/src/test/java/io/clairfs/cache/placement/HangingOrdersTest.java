package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.ImpatientOrders;
import io.clairfs.cache.order.PlannerOrders;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.MemoryTier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two jobs with order files on one node, of which one does not answer for an epoch far ahead. The first job reads the first half of the samples
 * in the epochs before that one, and further samples from it on; the second job reads others.
 *
 * <p>A look at a file has found an order, or hangs, when the planner begins to wait for it: no patience of the planner decides what it sees.
 */
@Timeout(300)
final class HangingOrdersTest {
    private static final int SAMPLES = 300;
    private static final int HALF = 150;
    private static final int OF_THE_OTHER = 250;
    private static final int EPOCHS = 40;

    /** Behind what a job looks at when it begins. */
    private static final int HANGING = 35;

    private static final long MEMORY = 1_000_000;

    /** Of a thread that looks at a file: opened when it has looked, or hangs. */
    private static final ThreadLocal<CountDownLatch> SETTLED = ThreadLocal.withInitial(() -> new CountDownLatch(1));

    private final FakeDataset dataset;
    private final MemoryTier memory = new MemoryTier(MEMORY);
    private final Admission admission;
    private final List<JobRun> jobs = new CopyOnWriteArrayList<>();
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private final CountDownLatch gate = new CountDownLatch(1);
    private final Planning planning;

    HangingOrdersTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> 100);
        admission = new Admission(dataset.tree, memory, List.of(), MEMORY);
        NodeStorage storage = NodeStorage.of(StorageClass.memory(MEMORY));
        NodePlanner planner = NodePlanner.alone(
                dataset.tree,
                admission,
                () -> storage,
                PerformanceModel.unmeasured(),
                PlacementPolicy.CLAIRFS,
                PlanLimits.DEFAULT);
        planning = new Planning(admission, planner, jobs, () -> {}, errors);
    }

    @AfterEach
    void close() {
        gate.countDown();
        planning.close();
        admission.close();
        memory.close();
    }

    private EpochOrder hangingOrder(int epoch) {
        if (epoch < HANGING) {
            return EpochOrder.of(IntStream.range(0, HALF).toArray());
        }
        SETTLED.get().countDown();
        try {
            if (!gate.await(120, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody opened the gate");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return EpochOrder.of(IntStream.range(HALF, OF_THE_OTHER).toArray());
    }

    private void lookAside(Runnable look) {
        CountDownLatch settled = new CountDownLatch(1);
        Thread.ofPlatform().daemon().start(() -> {
            SETTLED.set(settled);
            try {
                look.run();
            } finally {
                settled.countDown();
            }
        });
        try {
            settled.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the planner ends
        }
    }

    private void start(JobRun run) {
        run.plannerOrders().lookAside(this::lookAside, planning::ordersAnswered);
        jobs.add(run);
        planning.jobsChanged();
    }

    private JobRun hanging() throws Exception {
        JobSpec spec = JobSpec.parse("name=hanging sampler=order-file file=/orders/{epoch} epochs=" + EPOCHS);
        Sampler sampler = this::hangingOrder;
        EpochOrders orders = new EpochOrders(sampler, SAMPLES, System::nanoTime);
        PlannerOrders planned = ImpatientOrders.of(orders, "/orders/{epoch}", () -> sampler);
        return new JobRun(spec, dataset.index, dataset.tree, staging(), orders, planned, System::nanoTime, new long[0]);
    }

    private JobRun other(Path directory) throws Exception {
        Path file = Files.write(
                directory.resolve("order"),
                IntStream.range(OF_THE_OTHER, SAMPLES)
                        .mapToObj(Integer::toString)
                        .toList());
        JobSpec spec = JobSpec.parse("name=other sampler=order-file epochs=3 file=" + file);
        return new JobRun(spec, dataset.index, dataset.tree, staging(), System::nanoTime);
    }

    private static StagingBuffer staging() {
        return new StagingBuffer(new RecordingArea(), 1000, 10);
    }

    private boolean isPlanned(int sample) {
        return "memory".equals(admission.plannedFor(dataset.file(sample)));
    }

    @Test
    void fileThatHangs_costsThePlanOfNoOtherJob_andIsPlannedForWhenItAnswers(@TempDir Path directory) throws Exception {
        start(hanging());
        start(other(directory));
        Await.until("the other job is planned for", () -> isPlanned(OF_THE_OTHER));
        assertThat(IntStream.range(OF_THE_OTHER, SAMPLES)).allMatch(this::isPlanned);
        assertThat(IntStream.range(0, HALF)).as("the epochs that are known").allMatch(this::isPlanned);
        assertThat(IntStream.range(HALF, OF_THE_OTHER)).noneMatch(this::isPlanned);
        Await.until("it is told", () -> errors.total() > 0);
        assertThat(errors.lines().getLast().message())
                .isEqualTo("job hanging is planned for only as far as its orders are known:"
                        + " order file /orders/35 does not answer: look at its file system");

        gate.countDown();
        Await.until("all of it is planned for", () -> isPlanned(HALF));
        assertThat(IntStream.range(0, SAMPLES)).allMatch(this::isPlanned);
        assertThat(errors.total()).isEqualTo(1);
    }

    @Test
    void jobThatIsStartedWhileAFileHangs_isPlannedFor(@TempDir Path directory) throws Exception {
        JobRun first = hanging();
        start(first);
        Await.until("the first is planned for as far as it is known", () -> isPlanned(0));
        Await.until("it is told", () -> errors.total() > 0);
        start(other(directory));
        Await.until("the other job is planned for", () -> isPlanned(OF_THE_OTHER));
        assertThat(admission.plan().covers(first)).isTrue();
        assertThat(IntStream.range(0, HALF)).allMatch(this::isPlanned);
    }
}
