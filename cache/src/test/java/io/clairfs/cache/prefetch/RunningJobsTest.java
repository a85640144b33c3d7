package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.placement.Planning;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.worker.Activity;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How a job that fails ends. */
final class RunningJobsTest {
    private static final int SAMPLES = 30;

    private final FakeDataset dataset;
    private final MemoryTier memory = new MemoryTier(10_000);
    private final List<JobRun> running = new CopyOnWriteArrayList<>();

    /** The jobs that ran when a line was there, for each line. */
    private final List<List<JobRun>> ranAtTheLine = new ArrayList<>();

    /** What another thread does once the next line is there. */
    private Runnable meanwhile = () -> {};

    private final ErrorLog errors = new ErrorLog(Clock.systemUTC(), _ -> told());
    private final Planning planning;
    private final RunningJobs jobs;

    RunningJobsTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> 100);
        Admission admission = new Admission(dataset.tree, memory, List.of(), 1_000);
        planning = new Planning(admission, _ -> LocalPlan.WHILE_ROOM, running, () -> {}, errors);
        Activity activity = new Activity();
        LoaderShares shares = new LoaderShares(LoaderAssignment.fixed(), 1_000, 1, () -> false, System::nanoTime);
        jobs = new RunningJobs(running, planning, shares, new WorkSignal(activity, () -> true), activity, errors);
    }

    @AfterEach
    void close() {
        planning.close();
        memory.close();
    }

    private void told() {
        ranAtTheLine.add(List.copyOf(running));
        Runnable now = meanwhile;
        meanwhile = () -> {};
        now.run();
    }

    private JobRun start(String line) throws InvalidSpecException {
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1_000, 10);
        JobRun run = new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, System::nanoTime);
        jobs.add(run);
        return run;
    }

    private List<String> messages() {
        return errors.lines().stream().map(ErrorLog.Line::message).toList();
    }

    @Test
    void jobThatFails_isThereUntilTheReasonIs() throws Exception {
        JobRun job = start("name=a seed=1");
        jobs.fail(job, "its order is cut");
        assertThat(ranAtTheLine).containsExactly(List.of(job));
        assertThat(messages()).containsExactly("job a ended: its order is cut");
        assertThat(jobs.all()).isEmpty();
    }

    @Test
    void jobThatSeveralThreadsSeeFail_isToldOnce() throws Exception {
        JobRun job = start("name=a seed=1");
        meanwhile = () -> jobs.fail(job, "its order is cut, says another loader");
        jobs.fail(job, "its order is cut");
        jobs.fail(job, "its order is cut, says a late loader");
        assertThat(messages()).containsExactly("job a ended: its order is cut");
        assertThat(jobs.all()).isEmpty();
    }

    @Test
    void jobThatWasReplaced_failsUntold() throws Exception {
        JobRun before = start("name=a seed=1");
        JobRun now = start("name=a seed=2");
        jobs.fail(before, "its order is cut");
        assertThat(messages()).isEmpty();
        assertThat(jobs.all()).containsExactly(now);
    }
}
