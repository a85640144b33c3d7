package io.clairfs.cache.stage;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many samples are staged, and how old the figure may be. */
final class StagedCountTest {
    private static final int SIZE = 16;

    private long nowNs = 7;

    private StreamWindow allStaged(int samples) throws Exception {
        FakeDataset dataset = new FakeDataset(samples, _ -> SIZE);
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), (long) SIZE * samples, samples);
        EpochOrders orders =
                new EpochOrders(JobSpec.parse("sampler=sequential").sampler(dataset.index), samples, () -> nowNs);
        StreamWindow window = new StreamWindow(new AccessStream(orders, 0, 1), dataset.index, dataset.tree, staging, 0);
        SampleBuffer sample = SampleBuffer.allocate(SIZE);
        for (int i = 0; i < samples; i++) {
            StreamWindow.ToStage next = window.nextToStage(Long.MAX_VALUE);
            assertThat(next).isNotNull();
            try (StagingBuffer.Loading loading = staging.load(next.place(), next.leaving())) {
                loading.stage(sample);
            }
        }
        sample.release();
        return window;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100, StagedCount.FEW})
    void ofFewPositions_isExactEachTime(int samples) throws Exception {
        StreamWindow window = allStaged(samples);
        StagedCount count = new StagedCount(List.of(window), () -> nowNs);
        assertThat(count.samples()).isEqualTo(samples);
        window.read(window.headSequence());
        assertThat(count.samples()).isEqualTo(samples - 1);
    }

    @Test
    void ofMany_isExactOnceInTwoMicrosecondsForEach() throws Exception {
        int samples = StagedCount.FEW + 1;
        StreamWindow window = allStaged(samples);
        StagedCount count = new StagedCount(List.of(window), () -> nowNs);
        assertThat(count.samples()).isEqualTo(samples);
        window.read(window.headSequence());
        nowNs += TimeUnit.MICROSECONDS.toNanos(2L * samples) - 1;
        assertThat(count.samples()).isEqualTo(samples);
        nowNs++;
        assertThat(count.samples()).isEqualTo(samples - 1);
        window.read(window.headSequence());
        assertThat(count.samples()).as("no more than few are left").isEqualTo(samples - 2);
    }
}
