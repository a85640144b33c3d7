package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.SmallDataset;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks of one node that meet at the end of an epoch only: until then one may stand still while another reads its whole share. */
final class RanksApartTest {
    private static final int SCHEDULES = 200;
    private static final int EPOCHS = 3;

    @ParameterizedTest(name = "{0} samples, {1} ranks of {2} workers")
    @CsvSource({"61, 2, 1", "61, 3, 0", "100, 4, 1", "1200, 2, 1", "1200, 4, 0"})
    void everyReadIsExpected_whicheverRankReadsFirst(int samples, int ranks, int workers, @TempDir Path directory)
            throws Exception {
        String line = "seed=4711 batch=4 epochs=" + EPOCHS + " workers=" + workers + " world=" + ranks + " ranks=0-"
                + (ranks - 1);
        try (SmallDataset dataset = new SmallDataset(directory, samples, 0, 1)) {
            List<String> unexpected = new ArrayList<>();
            for (int schedule = 0; schedule < SCHEDULES; schedule++) {
                Random random = new Random(schedule);
                StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
                JobRun run = new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, System::nanoTime);
                for (int epoch = 0; epoch < EPOCHS; epoch++) {
                    EpochOrder order = JobSpec.parse(line).sampler(samples).epoch(epoch);
                    for (int sample : apart(order, ranks, workers, random)) {
                        run.read(dataset.index.file(sample));
                        assertThat(run.wantsSearch())
                                .as("schedule %d", schedule)
                                .isFalse();
                    }
                }
                JobProgress progress = run.progress();
                if (progress.deviations() > 0 || !progress.done()) {
                    unexpected.add("schedule " + schedule + ": " + progress);
                }
            }
            assertThat(unexpected).isEmpty();
        }
    }

    /** The reads of an epoch, rank by rank in turns of any length. */
    private static List<Integer> apart(EpochOrder order, int ranks, int workers, Random random) {
        List<Deque<Integer>> left = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            int of = rank;
            List<Integer> share = IntStream.range(0, order.length(rank))
                    .mapToObj(step -> order.sample(of, step))
                    .toList();
            left.add(new ArrayDeque<>(LoaderOrder.of(share, 4, workers, 2, random)));
        }
        List<Integer> reads = new ArrayList<>();
        int longest = 1 << random.nextInt(7);
        while (!left.isEmpty()) {
            Deque<Integer> turn = left.get(random.nextInt(left.size()));
            for (int i = random.nextInt(longest) + 1; i > 0 && !turn.isEmpty(); i--) {
                reads.add(turn.poll());
            }
            left.removeIf(Deque::isEmpty);
        }
        return reads;
    }
}
