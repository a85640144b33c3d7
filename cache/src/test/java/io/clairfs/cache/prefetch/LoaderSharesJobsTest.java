package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When there is work for loaders: while jobs wait for a plan or an order, when they have read all, fail or are removed. */
final class LoaderSharesJobsTest extends LoaderSharesFixture {
    LoaderSharesJobsTest() throws Exception {}

    @Test
    void jobThatHasReadAll_leavesItsShareOfTheStagingBufferToTheOthers() throws Exception {
        JobRun ends = job("name=a seed=1 epochs=1");
        JobRun goesOn = job("name=b seed=2");
        LoaderShares shares = shares(new Numbers(true, 4), ends, goesOn);
        List<LoaderShares.Claim> both = claimsInTurn(shares, SAMPLES);
        assertThat(both).hasSize(40);
        assertThat(both).filteredOn(claim -> claim.queue().job() == goesOn).hasSize(20);
        for (int step = 0; step < SAMPLES; step++) {
            assertThat(ends.read(dataset.file(ends.orders().epoch(0).sample(0, step))))
                    .isTrue();
        }
        List<LoaderShares.Claim> more = claimsInTurn(shares, SAMPLES);
        assertThat(more).hasSize(20).allMatch(claim -> claim.queue().job() == goesOn);
    }

    @Test
    void whileAPlanIsPending_loadersWait_forASecondWhileATrainerReads_andForFiveAtMost() throws Exception {
        for (boolean reads : new boolean[] {true, false}) {
            JobRun job = job("seed=1");
            LoaderShares shares = new LoaderShares(LoaderAssignment.fixed(), STAGING, 4, () -> true, () -> nowNs);
            shares.add(job);
            if (reads) {
                assertThat(job.read(dataset.file(job.orders().epoch(0).sample(0, 0))))
                        .isTrue();
            }
            nowNs += 999 * MS;
            assertThat(shares.claim()).isNull();
            nowNs += MS;
            assertThat(shares.claim() != null).isEqualTo(reads);
            nowNs += 4_000 * MS;
            assertThat(shares.claim()).isNotNull();
            job.close();
        }
    }

    @Test
    void noJob_noWork() throws Exception {
        LoaderShares shares = shares(LoaderAssignment.fixed());
        assertThat(shares.claim()).isNull();
        assertThat(shares.isHungry()).isFalse();
    }

    @Test
    void isDone_whenTheTrainersHereHaveReadAll_andNoJobIsReadElsewhereOnly() throws Exception {
        JobRun job = job("seed=1 epochs=1");
        LoaderShares shares = shares(LoaderAssignment.fixed(), job);
        assertThat(shares.isDone()).isFalse();
        EpochOrder order = job.orders().epoch(0);
        for (int step = 0; step < order.length(0); step++) {
            stageNext(shares);
            job.read(dataset.file(order.sample(0, step)));
        }
        assertThat(shares.isDone()).isTrue();
        JobRun elsewhere = job("seed=1 ranks=none");
        shares.add(elsewhere);
        assertThat(shares.isDone()).isFalse();
        shares.remove(elsewhere);
        assertThat(shares.isDone()).isTrue();
        shares.remove(job);
        assertThat(shares.isDone()).as("no job").isFalse();
    }

    @Test
    void removedJob_givesNoWork_andALoaderAtItEndsInPeace() throws Exception {
        JobRun job = job("world=2 seed=1");
        LoaderShares shares = shares(new Numbers(true, 1, 1), job);
        LoaderShares.Claim claim = claim(shares);
        shares.remove(job);
        assertThat(shares.claim()).isNull();
        assertThat(shares.isHungry()).isFalse();
        shares.done(claim);
        assertThat(claim.queue().running()).isZero();
    }

    private static void write(Path file, int count) throws IOException {
        Files.write(file, IntStream.range(0, count).mapToObj(Integer::toString).toList());
    }

    /** A job over orders of which only the first is written, and loaders that stage all of it. */
    private JobRun ofWrittenOrders(FakeDataset of, Path directory, int count) throws Exception {
        write(directory.resolve("order-0"), count);
        JobSpec spec = JobSpec.parse("sampler=order-file epochs=2 file=" + directory.resolve("order-{epoch}"));
        StagingBuffer roomy = new StagingBuffer(new RecordingArea(), STAGING, 4 * count);
        return new JobRun(spec, of.index, of.tree, roomy, () -> nowNs);
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 2 * StreamWindow.RECOGNISED_AHEAD})
    void jobWhoseNextEpochIsStillToBeWritten_pausesThere_andGoesOnWhenItIs(int many, @TempDir Path directory)
            throws Exception {
        FakeDataset large = new FakeDataset(many, _ -> 0);
        JobRun job = ofWrittenOrders(large, directory, many);
        LoaderShares shares = shares(new Numbers(true, 1), job);
        for (int i = 0; i < many; i++) {
            shares.done(claim(shares));
        }
        assertThat(shares.claim()).as("all of epoch 0 is staged").isNull();
        assertThat(shares.isHungry()).isFalse();
        assertThat(job.awaitedOrder()).as("the trainer is not there yet").isNull();
        for (int i = 0; i < many; i++) {
            assertThat(job.read(large.file(i))).isTrue();
        }
        assertThat(job.awaitedOrder()).contains("order-1: no such file");
        assertThat(job.progress().done()).isFalse();
        write(directory.resolve("order-1"), many);
        nowNs += 499 * MS;
        assertThat(shares.claim()).as("looked for not long ago").isNull();
        nowNs += MS;
        assertThat(shares.claim()).as("may be in the middle of being written").isNull();
        nowNs += 500 * MS;
        for (int i = 0; i < many; i++) {
            shares.done(claim(shares));
        }
        assertThat(job.awaitedOrder()).isNull();
        for (int i = 0; i < many; i++) {
            assertThat(job.read(large.file(i))).isTrue();
        }
        assertThat(job.progress().done()).isTrue();
        assertThat(job.progress().inSync()).isTrue();
    }

    /** As when its file is on a file system that does not answer. */
    @Test
    void jobWhoseNextOrderIsStillBeingComputed_pausesThere_andHoldsUpNoOther() throws Exception {
        int many = 2 * StreamWindow.RECOGNISED_AHEAD;
        FakeDataset large = new FakeDataset(many, _ -> 0);
        JobSpec spec = JobSpec.parse("sampler=sequential epochs=2");
        EpochOrders orders = new EpochOrders(spec.sampler(large.index), many, () -> nowNs);
        StagingBuffer roomy = new StagingBuffer(new RecordingArea(), STAGING, 4 * many);
        JobRun slow = new JobRun(spec, large.index, large.tree, roomy, orders, () -> nowNs);
        List<Runnable> aside = new ArrayList<>();
        int[] news = new int[1];
        orders.computeAside(aside::add, () -> news[0]++);
        LoaderShares shares = shares(new Numbers(true, 1), slow);
        for (int i = 0; i < many; i++) {
            shares.done(claim(shares));
        }
        assertThat(shares.claim()).as("all of epoch 0 is staged").isNull();
        assertThat(aside).hasSize(1);

        shares.add(job("name=other seed=1"));
        LoaderShares.Claim other = claim(shares);
        assertThat(other.queue().job()).isNotSameAs(slow);
        shares.done(other);
        for (int i = 0; i < many; i++) {
            assertThat(slow.read(large.file(i))).isTrue();
        }
        assertThat(slow.progress().done()).isFalse();
        assertThat(slow.awaitedOrder()).contains("the order of epoch 1 is still being computed");
        assertThat(aside).hasSize(1);

        aside.removeFirst().run();
        assertThat(news).containsExactly(1);
        assertThat(slow.stream(0).nextToStage(STAGING)).isNotNull();
        assertThat(slow.awaitedOrder()).isNull();
        assertThat(ranksOf(claims(shares, 2))).hasSize(2);
    }

    @Test
    void jobWhoseNextEpochIsMalformed_fails_andTheOthersGoOn(@TempDir Path directory) throws Exception {
        int many = 2 * StreamWindow.RECOGNISED_AHEAD;
        FakeDataset large = new FakeDataset(many, _ -> 0);
        write(directory.resolve("order-1"), many + 1);
        Files.setLastModifiedTime(directory.resolve("order-1"), FileTime.fromMillis(0)); // nobody writes it any more
        JobRun bad = ofWrittenOrders(large, directory, many);
        LoaderShares shares = shares(new Numbers(true, 1), bad);
        int[] claimed = new int[1];
        assertThatThrownBy(() -> {
                    for (; claimed[0] <= many; claimed[0]++) {
                        shares.done(claim(shares));
                    }
                })
                .isInstanceOf(JobFailedException.class)
                .hasMessageContaining("order-1")
                .hasMessageContaining("out of range")
                .extracting(e -> ((JobFailedException) e).job())
                .isSameAs(bad);
        assertThat(claimed[0])
                .isBetween(many - StreamWindow.RECOGNISED_AHEAD, many - StreamWindow.RECOGNISED_AHEAD + 1);
        JobRun good = job("name=good seed=1");
        shares.add(good);
        shares.remove(bad);
        assertThat(claim(shares).queue().job()).isSameAs(good);
    }
}
