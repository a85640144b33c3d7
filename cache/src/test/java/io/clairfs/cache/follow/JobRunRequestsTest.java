package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StreamWindow;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Trainers whose closes are not reported: they are followed by what they ask for, which is the tracers alone while staging keeps up with them. */
final class JobRunRequestsTest extends JobRunFixture {
    private static final int MOST_AMBIGUOUS = 3;

    /** That of an epoch, at a tracer. */
    private static final int MIDDLE = 960;

    /** A trainer reads these samples in this order, and asks for one in so many. */
    private void reach(JobRun run, List<Integer> samples, int every) throws InvalidSpecException {
        for (int i = 0; i < samples.size(); i += every) {
            run.reached(dataset.index.file(samples.get(i)));
            if (run.wantsSearch()) {
                boolean _ = run.search();
            }
        }
    }

    // Promise M3
    @Test
    void trainerInOrder_thatAsksForTracersAlone_isInSync() throws Exception {
        String line = "seed=5 epochs=2 batch=16";
        JobRun run = start(line);
        run.followByRequests();
        for (int epoch = 0; epoch < 2; epoch++) {
            List<Integer> samples = epoch(line, epoch, 0);
            reach(run, samples.subList(0, MIDDLE), StreamWindow.TRACER_EVERY);
            assertThat(run.distance(dataset.index.file(samples.get(MIDDLE + 5))))
                    .as("what is read next is expected")
                    .isLessThan(JobRun.NOT_EXPECTED);
            reach(run, samples.subList(MIDDLE, SAMPLES), StreamWindow.TRACER_EVERY);
            assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
            assertThat(run.progress().deviations())
                    .as("a sample at the beginning of an epoch may also be one that was still to come in the last")
                    .isLessThanOrEqualTo(MOST_AMBIGUOUS);
            assertThat(run.isLost()).isFalse();
            assertThat(run.progress().epoch()).isEqualTo(epoch);
            assertThat(run.progress().position()).isBetween(SAMPLES - 4 * BATCH, SAMPLES);
        }
    }

    @Test
    void trainerInAnotherOrder_isLost() throws Exception {
        JobRun run = start("seed=5 epochs=3 batch=16");
        run.followByRequests();
        reach(run, epoch("seed=1234", 0, 0), 1);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isFalse();
        assertThat(run.isLost()).isTrue();
    }

    /** What it reads there is not staged, so it asks for each sample. */
    @Test
    void trainerThatGoesOnElsewhere_isFoundThere() throws Exception {
        String line = "seed=5 epochs=3 batch=16";
        JobRun run = start(line);
        run.followByRequests();
        reach(run, epoch(line, 0, 0).subList(0, 800), StreamWindow.TRACER_EVERY);
        reach(run, epoch(line, 2, 0).subList(300, 620), 1);
        assertThat(run.progress().inSync()).as(run.progress().toString()).isTrue();
        assertThat(run.progress().epoch()).isEqualTo(2);
        assertThat(run.progress().position()).isBetween(620 - 4 * BATCH, 620);
        assertThat(run.isLost()).isFalse();
    }
}
