package io.clairfs.cache.placement;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import java.util.ArrayList;
import java.util.List;

/** A dataset, jobs over it, and what a plan for them says. Samples have 1,000 bytes. */
abstract class NodePlannerFixture {
    static final int SAMPLES = 90;
    static final long SIZE = 1_000;

    final FakeDataset dataset;

    NodePlannerFixture() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> SIZE);
    }

    static StagingBuffer staging() {
        return new StagingBuffer(new RecordingArea(), 1000, 10);
    }

    JobRun run(String line) throws InvalidSpecException {
        return new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging(), System::nanoTime);
    }

    /** The samples that belong into this tier, in order. */
    List<Integer> plannedFor(LocalPlan plan, int tier) {
        List<Integer> planned = new ArrayList<>();
        for (int sample = 0; sample < SAMPLES; sample++) {
            if (plan.tierOf(dataset.file(sample)) == tier) {
                planned.add(sample);
            }
        }
        return planned;
    }
}
