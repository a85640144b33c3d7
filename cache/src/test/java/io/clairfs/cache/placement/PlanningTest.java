package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.Await;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.tier.MemoryTier;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a plan is made, and when it is followed. */
@Timeout(120)
final class PlanningTest {
    private static final int SAMPLES = 30;
    private static final long WAIT_S = 60;
    private static final LocalPlan ALL_IN_MEMORY = _ -> 0;
    private static final LocalPlan ALL_ON_DISK = _ -> 1;

    private final FakeDataset dataset;
    private final MemoryTier memory = new MemoryTier(10_000);
    private final Admission admission;
    private final List<JobRun> jobs = new CopyOnWriteArrayList<>();
    private final AtomicInteger wakes = new AtomicInteger();
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());
    private final ScriptedPlanner planner = new ScriptedPlanner();
    private final Planning planning;

    PlanningTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> 100);
        admission = new Admission(dataset.tree, memory, List.of(new RecordingTier(10_000)), 1_000);
        planning = new Planning(admission, planner, jobs, wakes::incrementAndGet, errors);
    }

    @AfterEach
    void close() {
        planner.answers.add(_ -> LocalPlan.NONE);
        planning.close();
        memory.close();
    }

    /** Says what it is asked, and answers when the test says what. */
    private static final class ScriptedPlanner implements JobPlanner {
        private final BlockingQueue<List<JobRun>> asked = new LinkedBlockingQueue<>();
        private final BlockingQueue<JobPlanner> answers = new LinkedBlockingQueue<>();

        private volatile @Nullable LocalPlan refilled;

        @Override
        public LocalPlan refilled(LocalPlan plan) {
            return refilled == null ? plan : refilled;
        }

        @Override
        public LocalPlan plan(List<JobRun> jobs) throws InvalidSpecException {
            asked.add(jobs);
            try {
                return Objects.requireNonNull(answers.poll(WAIT_S, TimeUnit.SECONDS))
                        .plan(jobs);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        List<JobRun> awaitAsked() throws InterruptedException {
            return Objects.requireNonNull(asked.poll(WAIT_S, TimeUnit.SECONDS));
        }
    }

    private JobRun start(String line) throws InvalidSpecException {
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1000, 10);
        JobRun run = new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, System::nanoTime);
        jobs.add(run);
        planning.jobsChanged();
        return run;
    }

    private boolean isPlannedFor(String tier) {
        return tier.equals(admission.plannedFor(dataset.file(0)));
    }

    private boolean keepsWhileThereIsRoom() {
        return admission.hasPlan()
                && admission.isMissing(dataset.file(0), 0)
                && admission.isMissing(dataset.file(0), 1);
    }

    @Test
    void planThatThrows_isNotFollowed_andTheNextChangeIsPlanned() throws Exception {
        JobRun first = start("name=a seed=1");
        assertThat(planner.awaitAsked()).containsExactly(first);
        planner.answers.add(_ -> new LocalPlan() {
            @Override
            public int tierOf(int file) {
                return 0;
            }

            @Override
            public boolean isMeanwhile() {
                throw new IllegalStateException("injected");
            }
        });
        JobRun second = start("name=b seed=2");
        assertThat(planner.awaitAsked()).containsExactly(first, second);
        planner.answers.add(_ -> ALL_ON_DISK);
        Await.until("the next plan is followed", () -> isPlannedFor("disk"));
    }

    @Test
    void planThatCannotBeMade_isTriedAgain_andSaidOnce() throws Exception {
        ScriptedPlanner scripted = new ScriptedPlanner();
        JobPlanner failing = _ -> {
            throw new InvalidSpecException("cannot read order file a: Input/output error");
        };
        scripted.answers.addAll(List.of(failing, failing, _ -> ALL_ON_DISK));
        try (Planning again = new Planning(admission, scripted, jobs, wakes::incrementAndGet, errors, 0)) {
            jobs.add(new JobRun(
                    JobSpec.parse("seed=1"),
                    dataset.index,
                    dataset.tree,
                    new StagingBuffer(new RecordingArea(), 1000, 10),
                    System::nanoTime));
            again.jobsChanged();
            Await.until("the plan is followed", () -> isPlannedFor("disk"));
        }
        assertThat(scripted.asked).hasSize(3);
        assertThat(errors.lines().stream().filter(line -> line.message().contains("no plan: cannot read order file a")))
                .hasSize(1);
    }

    @Test
    void untilThePlanIsMade_whatIsReadIsKeptWhileThereIsRoom() throws Exception {
        assertThat(admission.hasPlan()).isFalse();
        JobRun run = start("seed=1");
        assertThat(keepsWhileThereIsRoom()).isTrue();
        assertThat(planner.awaitAsked()).containsExactly(run);
        assertThat(keepsWhileThereIsRoom()).isTrue();
        planner.answers.add(_ -> ALL_ON_DISK);
        Await.until("the plan is followed", () -> isPlannedFor("disk"));
    }

    @Test
    void untilThePlanIsMade_whatIsLeftOfThisEpochIsFilled_andNothingOfAnother() throws Exception {
        JobRun run = start("seed=1 epochs=5 sampler=sequential");
        planner.awaitAsked();
        assertThat(admission.plan().fillOrder(0)).containsExactly(files(0, SAMPLES));
        assertThat(admission.plan().fillOrder(1)).containsExactly(files(0, SAMPLES));
        for (int sample = 0; sample < SAMPLES; sample++) {
            run.read(dataset.file(sample));
        }
        assertThat(run.epoch()).isEqualTo(1);
        assertThat(admission.plan().fillOrder(0))
                .as("the trainer is in the next epoch")
                .isEmpty();
    }

    @Test
    void withoutAPlan_jobThatBeganInTheMiddle_isFilledFromThereOn() throws Exception {
        start("seed=1 epochs=5 sampler=sequential batch=7 start_step=2 start_epoch=1");
        planner.awaitAsked();
        assertThat(admission.plan().fillOrder(0)).containsExactly(files(14, SAMPLES));
    }

    @Test
    void withoutAPlan_trainerThatWasFoundElsewhere_isFilledForFromThere() throws Exception {
        JobRun run = start("seed=1 epochs=5 sampler=sequential");
        planner.awaitAsked();
        planner.answers.add(_ -> LocalPlan.WHILE_ROOM);
        run.read(dataset.file(0));
        run.read(dataset.file(1));
        planning.trainerMoved();
        Await.until("filled from there", () -> admission.plan().fillOrder(0).length == SAMPLES - 2);
        assertThat(admission.plan().fillOrder(0)).containsExactly(files(2, SAMPLES));
    }

    @Test
    void trainerThatWasFoundElsewhere_thePlanIsFilledInAnotherOrder_andNotMadeAgain() throws Exception {
        start("seed=1 epochs=5");
        planner.awaitAsked();
        int before = wakes.get(); // the planner's thread wakes nobody before it has an answer
        planner.answers.add(_ -> ALL_ON_DISK);
        Await.until("sleepers wake for the plan", () -> wakes.get() > before);
        assertThat(isPlannedFor("disk")).isTrue();
        planner.refilled = new LocalPlan() {
            @Override
            public int tierOf(int file) {
                return 1;
            }

            @Override
            public int[] fillOrder(int tier) {
                return new int[] {dataset.file(3)};
            }
        };
        planning.trainerMoved();
        Await.until("sleepers wake for the other order", () -> wakes.get() > before + 1);
        assertThat(admission.plan().fillOrder(1)).containsExactly(dataset.file(3));
        assertThat(planner.asked).isEmpty();
    }

    private int[] files(int from, int to) {
        return IntStream.range(from, to).map(dataset::file).toArray();
    }

    @Test
    void jobsChangeWhileAPlanIsMade_itIsNotFollowed_theNextIs() throws Exception {
        JobRun first = start("name=a seed=1");
        assertThat(planner.awaitAsked()).containsExactly(first);
        JobRun second = start("name=b seed=2");
        JobRun third = start("name=c seed=3");
        planner.answers.add(_ -> ALL_ON_DISK);
        assertThat(planner.awaitAsked()).as("both changes at once").containsExactly(first, second, third);
        assertThat(keepsWhileThereIsRoom())
                .as("the plan for one job was out of date")
                .isTrue();
        planner.answers.add(_ -> ALL_IN_MEMORY);
        Await.until("the last plan is followed", () -> isPlannedFor("memory"));
        assertThat(planner.asked).isEmpty();
    }

    @Test
    void newJob_theOldPlanIsFollowedUntilThereIsAnother() throws Exception {
        start("name=a seed=1");
        planner.answers.add(_ -> ALL_ON_DISK);
        Await.until("the first plan is followed", () -> isPlannedFor("disk"));
        planner.awaitAsked();
        start("name=b seed=2");
        assertThat(planner.awaitAsked()).hasSize(2);
        assertThat(isPlannedFor("disk")).isTrue();
        planner.answers.add(_ -> ALL_IN_MEMORY);
        Await.until("the second plan is followed", () -> isPlannedFor("memory"));
    }

    @Test
    void noPlanPossible_isToldAndTheOldWayGoesOn() throws Exception {
        start("seed=1");
        planner.answers.add(_ -> {
            throw new InvalidSpecException("injected");
        });
        Await.until("it is told", () -> errors.total() == 1);
        assertThat(errors.lines().getLast().message()).contains("no plan").contains("injected");
        assertThat(keepsWhileThereIsRoom()).isTrue();
        planner.awaitAsked();

        planning.jobsChanged();
        planner.awaitAsked();
        planner.answers.add(_ -> ALL_ON_DISK);
        Await.until("a later plan is followed", () -> isPlannedFor("disk"));
        planning.jobsChanged();
        planner.awaitAsked();
        planner.answers.add(_ -> {
            throw new InvalidSpecException("injected again");
        });
        Await.until("it is told", () -> errors.total() == 2);
        assertThat(isPlannedFor("disk")).isTrue();
    }

    @Test
    void planForWhichMemoryIsTooLittle_isToldWithTheRemedy_andTriedAgain() throws Exception {
        ScriptedPlanner scripted = new ScriptedPlanner();
        JobPlanner failing = _ -> {
            throw new OutOfMemoryError("Java heap space, injected");
        };
        scripted.answers.addAll(List.of(failing, failing, _ -> ALL_ON_DISK));
        try (Planning again = new Planning(admission, scripted, jobs, wakes::incrementAndGet, errors, 0)) {
            StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1000, 10);
            jobs.add(new JobRun(JobSpec.parse("seed=1"), dataset.index, dataset.tree, staging, System::nanoTime));
            again.jobsChanged();
            Await.until("the plan is followed", () -> isPlannedFor("disk"));
        }
        assertThat(scripted.asked).hasSize(3);
        assertThat(errors.total()).as("told once").isEqualTo(1);
        assertThat(errors.lines().getLast().message())
                .startsWith("no plan: ")
                .contains("memory", "JDK_JAVA_OPTIONS=-Xmx");
    }

    @Test
    void bugInThePlanner_endsNothing() throws Exception {
        start("seed=1");
        planner.awaitAsked();
        planner.answers.add(_ -> {
            throw new IllegalStateException("injected; the test wants it in the log");
        });
        planning.jobsChanged();
        planner.awaitAsked();
        assertThat(keepsWhileThereIsRoom()).isTrue();
        planner.answers.add(_ -> ALL_ON_DISK);
        Await.until("a later plan is followed", () -> isPlannedFor("disk"));
        assertThat(errors.total()).isZero();
    }

    @Test
    void lastJobEnds_noPlanIsFollowedAndNoneMade() throws Exception {
        start("seed=1");
        planner.awaitAsked();
        planner.answers.add(_ -> ALL_ON_DISK);
        Await.until("the plan is followed", () -> isPlannedFor("disk"));
        jobs.clear();
        planning.jobsChanged();
        assertThat(admission.hasPlan()).isFalse();
        assertThat(admission.plannedFor(dataset.file(0))).isNull();
        start("seed=2");
        assertThat(planner.awaitAsked()).as("asked for this job only").hasSize(1);
    }

    @Test
    void lastJobEndsWhileItsPlanIsMade_thePlanIsNotFollowed() throws Exception {
        JobRun run = start("seed=1");
        planner.awaitAsked();
        jobs.clear();
        planning.jobsChanged();
        planner.answers.add(_ -> ALL_ON_DISK);
        jobs.add(run);
        planning.jobsChanged(); // asked again once the first answer has been dealt with
        planner.awaitAsked();
        assertThat(keepsWhileThereIsRoom()).isTrue();
    }

    @Test
    void closed_asksNoMore() throws Exception {
        start("seed=1");
        planner.awaitAsked();
        planner.answers.add(_ -> ALL_ON_DISK);
        Await.until("the plan is followed", () -> isPlannedFor("disk"));
        planning.close();
        planning.jobsChanged();
        assertThat(planner.asked).isEmpty();
    }
}
