package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import io.clairfs.cache.testing.RecordingArea;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs without a known end over samples that have no file: links that lead out of the source. */
final class JobRunWithoutFilesTest extends JobRunFixture {
    /** Epochs whose orders are computed, at most: more are all that there are. */
    private static final int MOST_COMPUTED = 100;

    /** Enough for a loader to pass over as many epochs as are the end. */
    private static final int LOOKS = 100;

    /** So many samples, of which the first have files. */
    private SampleIndex index(int samples, int files) {
        SampleIndex.Builder builder = new SampleIndex.Builder();
        Listing listing = dataset.tree.entry(dataset.index.file(0)).listing();
        int directory = builder.directory(new byte[0], listing);
        for (int sample = 0; sample < samples; sample++) {
            builder.add(directory, 0, sample < files ? dataset.index.file(sample) : SampleIndex.NO_FILE);
        }
        return builder.build(dataset.tree);
    }

    private JobRun start(String line, SampleIndex index, Sampler sampler) throws InvalidSpecException {
        EpochOrders orders = new EpochOrders(
                epoch -> {
                    assertThat(epoch).as("epochs run by").isLessThan(MOST_COMPUTED);
                    return sampler.epoch(epoch);
                },
                index.size(),
                clock);
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1 << 20, 64);
        return new JobRun(JobSpec.parse(line), index, dataset.tree, staging, orders, clock);
    }

    @ParameterizedTest(name = "{0} samples{1}")
    @CsvSource({"100, ''", "100, ' epochs=3'", "5000, ''"})
    void samplesOfWhichNoneHasAFile_areRefused(int samples, String epochs) throws Exception {
        String line = "seed=1 batch=64" + epochs;
        SampleIndex none = index(samples, 0);
        Sampler sampler = JobSpec.parse(line).sampler(none);
        assertThatThrownBy(() -> start(line, none, sampler))
                .isInstanceOf(InvalidSpecException.class)
                .hasMessageContaining("none of its " + samples + " samples has its file in the source");
    }

    @ParameterizedTest(name = "epochs of {0} samples")
    @ValueSource(ints = {3, 100})
    void epochsWithoutAFile_arePassedOver(int length) throws Exception {
        SampleIndex index = index(length + 1, 1);
        int[] without = IntStream.rangeClosed(1, length).toArray();
        int[] withOne = without.clone();
        withOne[length - 1] = 0;
        JobRun run = start("seed=1 batch=64", index, epoch -> EpochOrder.of(epoch == 5 ? withOne : without));
        assertThat(run.positions()).containsExactly(AccessStream.position(5, length - 1));
        StreamWindow.ToStage next = run.stream(0).nextToStage(1 << 20);
        assertThat(next).isNotNull();
        assertThat(next.file()).isEqualTo(index.file(0));
        assertThat(run.read(index.file(0))).isTrue();
        assertThat(run.progress().done()).as(run.progress().toString()).isTrue();
    }

    @ParameterizedTest(name = "epochs of {0} samples")
    @ValueSource(ints = {3, 100, 5000})
    void epochsWithoutAFile_areTheEndWhereNoOtherFollows(int length) throws Exception {
        int[] without = IntStream.rangeClosed(1, length).toArray();
        JobRun run = start("seed=1 batch=64", index(length + 1, 1), _ -> EpochOrder.of(without));
        for (int look = 0; look < LOOKS; look++) {
            assertThat(run.stream(0).nextToStage(1 << 20)).isNull();
        }
        assertThat(run.progress().done()).as(run.progress().toString()).isTrue();
    }
}
