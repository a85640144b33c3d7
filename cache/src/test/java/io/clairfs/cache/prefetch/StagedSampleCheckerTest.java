package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.stage.StagingArea;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.tier.SampleBuffer;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How many samples a look at staged ones tries, and what it finds. */
final class StagedSampleCheckerTest {
    private static final int SAMPLES = 800;
    private static final int STAGED = 700;

    /** Enough for the pace to be known. */
    private static final int READ = 250;

    /** At this rate, samples per second, the trainer reads 120 within six looks. */
    private static final int RATE = 2000;

    private final FakeDataset dataset = new FakeDataset(SAMPLES, _ -> 100);
    private final Set<Integer> lost = new HashSet<>();
    private final Counters counters = new Counters();
    private long nowNs = 1;
    private int tried;
    private final StagingArea area = new StagingArea() {
        @Override
        public Staged stage(int file, MemorySegment bytes) {
            lost.remove(file);
            return new Staged() {
                @Override
                public void drop() {}

                @Override
                public boolean isWhole() {
                    tried++;
                    return !lost.contains(file);
                }
            };
        }
    };
    private final StagingBuffer staging = new StagingBuffer(area, 1_000_000, SAMPLES);
    private final StagedSampleChecker checker = new StagedSampleChecker(staging, counters, () -> nowNs);
    private final JobRun job;

    StagedSampleCheckerTest() throws Exception {
        job = new JobRun(JobSpec.parse("seed=1 epochs=1 batch=1"), dataset.index, dataset.tree, staging, () -> nowNs);
        stage(STAGED);
        for (int i = 0; i < READ; i++) {
            nowNs += TimeUnit.SECONDS.toNanos(1) / RATE;
            job.read(fileAt(i));
        }
    }

    private int fileAt(int step) throws Exception {
        return dataset.index.file(
                JobSpec.parse("seed=1").sampler(SAMPLES).epoch(0).sample(0, step));
    }

    private void stage(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            StreamWindow.ToStage next = job.stream(0).nextToStage(Long.MAX_VALUE);
            assertThat(next).isNotNull();
            try (StagingBuffer.Loading loading = staging.load(next.place(), next.leaving())) {
                SampleBuffer sample = SampleBuffer.allocate(100);
                loading.stage(sample);
                sample.release();
            }
        }
    }

    private boolean look() {
        tried = 0;
        return checker.look(List.of(job), true);
    }

    @Test
    void whileNothingIsLost_looksBecomeSmall() {
        assertThat(look()).isFalse();
        assertThat(tried).isBetween(80, 160);
        nowNs += TimeUnit.SECONDS.toNanos(3);
        assertThat(look()).isFalse();
        assertThat(tried).isLessThan(40);
    }

    @Test
    void whenAllAreLost_aSmallLookFindsThemAll() throws Exception {
        look();
        nowNs += TimeUnit.SECONDS.toNanos(3);
        for (int step = READ; step < STAGED; step++) {
            lost.add(fileAt(step));
        }
        assertThat(look()).isTrue();
        assertThat(counters.stagedLost.sum()).isGreaterThan(80);
        stage(80); // the nearest first
        for (int step = READ; step < READ + 80; step++) {
            assertThat(lost).doesNotContain(fileAt(step));
        }
    }

    @Test
    void aFewThatAreLost_areFoundBeforeTheTrainerComes() throws Exception {
        look();
        nowNs += TimeUnit.SECONDS.toNanos(3);
        for (int step = READ + 60; step < STAGED; step += 4) {
            lost.add(fileAt(step));
        }
        int looks = 0;
        while (!look()) {
            assertThat(++looks).isLessThan(20);
        }
        look();
        assertThat(tried).as("wary").isGreaterThan(80);
    }

    @Test
    void aLoss_isFollowedByALookAtOnce_whereSomebodyReads() throws Exception {
        look();
        loseNext();
        assertThat(checker.look(List.of(job), false)).isTrue();
        assertThat(checker.pauseMs()).as("read a moment ago").isLessThan(10);
        stage(1);
        nowNs += TimeUnit.SECONDS.toNanos(2);
        loseNext();
        assertThat(checker.look(List.of(job), false)).isTrue();
        assertThat(checker.pauseMs()).as("nobody reads").isBetween(100L, 1_000L);
        assertThat(checker.isAtRest()).isFalse();
    }

    private void loseNext() throws Exception {
        lost.add(fileAt(READ));
    }
}
