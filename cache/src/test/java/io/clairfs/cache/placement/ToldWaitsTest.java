package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.OrderNotReadyException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is said of a trainer that waits for an order file, on a file system that takes more than a second to say that it is not there. */
final class ToldWaitsTest {
    private static final int SAMPLES = 20;
    private static final String MISSING = "cannot read order file 1: no such file";

    private final FakeDataset dataset;
    private final List<Runnable> looks = new ArrayList<>();
    private final EpochOrders orders = new EpochOrders(this::order, SAMPLES, this::nowNs);
    private final ToldWaits told = new ToldWaits();
    private final List<String> said = new ArrayList<>();
    private boolean isWritten;
    private long nowMs;

    ToldWaitsTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> 100);
    }

    private long nowNs() {
        return TimeUnit.MILLISECONDS.toNanos(nowMs);
    }

    private EpochOrder order(int epoch) throws OrderNotReadyException {
        if (epoch > 0 && !isWritten) {
            throw new OrderNotReadyException(MISSING);
        }
        return EpochOrder.of(IntStream.range(0, SAMPLES).toArray());
    }

    private JobRun waiting() throws InvalidSpecException {
        JobRun run = new JobRun(
                JobSpec.parse("sampler=sequential epochs=2"),
                dataset.index,
                dataset.tree,
                new StagingBuffer(new RecordingArea(), 1000, 10),
                orders,
                this::nowNs);
        orders.computeAside(looks::add, () -> {});
        for (int sample = 0; sample < SAMPLES; sample++) {
            run.read(dataset.file(sample));
        }
        return run;
    }

    /** What is said of it after so much time, as the planner's thread says it. */
    private void lookAfter(long ms, JobRun run) throws InvalidSpecException {
        nowMs += ms;
        var _ = run.stream(0).nextToStage(1 << 20);
        String reason = run.awaitedOrder();
        if (told.isNews(run, reason)) {
            said.add(reason);
        }
    }

    @Test
    void fileThatIsMissing_onASlowFileSystem_isSaidOnceForEachReason() throws Exception {
        JobRun run = waiting();
        for (int look = 0; look < 5; look++) {
            lookAfter(600, run);
            assertThat(run.awaitedOrder()).isEqualTo(MISSING);
            lookAfter(600, run);
            assertThat(run.awaitedOrder()).contains("is still being computed, or read from its file");
            looks.removeFirst().run();
        }
        assertThat(said).hasSize(2).contains(MISSING);

        isWritten = true;
        lookAfter(600, run);
        looks.removeFirst().run();
        lookAfter(600, run);
        assertThat(run.awaitedOrder()).isNull();
        assertThat(said).hasSize(2);
        assertThat(told.isNews(run, MISSING)).as("another wait").isTrue();
    }

    @Test
    void jobThatHasEnded_isForgotten() throws Exception {
        JobRun run = waiting();
        assertThat(told.isNews(run, MISSING)).isTrue();
        told.forgetOthersThan(List.of(run));
        assertThat(told.isNews(run, MISSING)).isFalse();
        told.forgetOthersThan(List.of());
        assertThat(told.isNews(run, MISSING)).isTrue();
    }
}
