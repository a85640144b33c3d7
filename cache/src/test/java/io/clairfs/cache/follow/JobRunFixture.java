package io.clairfs.cache.follow;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.SmallDataset;
import io.clairfs.cache.testing.TickingClock;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A dataset, jobs over it, and the reads of their trainers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class JobRunFixture {
    static final int SAMPLES = 1200;
    static final int BATCH = 16;

    /** A search for a trainer ends after some seconds of it. */
    final TickingClock clock = new TickingClock();

    SmallDataset dataset;

    @BeforeAll
    void makeDataset(@TempDir Path directory) throws Exception {
        dataset = new SmallDataset(directory, SAMPLES, 0, 1);
    }

    @AfterAll
    void closeDataset() {
        dataset.close();
    }

    JobRun start(String line) throws InvalidSpecException {
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
        return new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, clock);
    }

    JobRun run(JobSpec spec, EpochOrders orders) throws InvalidSpecException {
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
        return new JobRun(spec, dataset.index, dataset.tree, staging, orders, clock);
    }

    JobRun goOn(String line, long position) throws InvalidSpecException {
        JobSpec spec = JobSpec.parse(line);
        return new JobRun(
                spec,
                dataset.index,
                dataset.tree,
                new StagingBuffer(new RecordingArea(), 1 << 20, 64),
                new EpochOrders(spec.sampler(dataset.index), SAMPLES, clock),
                clock,
                new long[] {position});
    }

    List<Integer> epoch(String line, int epoch, int rank) throws InvalidSpecException {
        EpochOrder order = JobSpec.parse(line).sampler(SAMPLES).epoch(epoch);
        return IntStream.range(0, order.length(rank))
                .map(step -> order.sample(rank, step))
                .boxed()
                .toList();
    }

    void read(JobRun run, List<Integer> samples) throws InvalidSpecException {
        for (int sample : samples) {
            run.read(dataset.index.file(sample));
            if (run.wantsSearch()) {
                run.search();
            }
        }
    }
}
