package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.stage.StreamWindow;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.SampleBuffer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which rank a loader works for. Samples have 100 bytes; the staging buffer holds 40. */
final class LoaderSharesTest {
    private static final int SAMPLES = 200;
    private static final long SIZE = 100;
    private static final long STAGING = 40 * SIZE;
    private static final long MS = 1_000_000;

    private final FakeDataset dataset;
    private final StagingBuffer staging = new StagingBuffer(new RecordingArea(), STAGING, 1000);
    private long nowNs;

    LoaderSharesTest() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> SIZE);
    }

    /** Gives each rank what the test says, by number, and counts how often it is asked. */
    private static class Numbers implements LoaderAssignment {
        private final boolean lends;
        private int[] byRank;
        private int asked;

        Numbers(boolean lends, int... byRank) {
            this.lends = lends;
            this.byRank = byRank;
        }

        @Override
        public int[] assign(List<RankQueue> queues, int loaders) {
            asked++;
            return queues.stream().mapToInt(queue -> byRank[queue.stream()]).toArray();
        }

        @Override
        public boolean lendsIdleLoaders() {
            return lends;
        }
    }

    private JobRun job(String line) throws InvalidSpecException {
        return new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, () -> nowNs);
    }

    private LoaderShares shares(LoaderAssignment assignment, JobRun... jobs) {
        LoaderShares shares = new LoaderShares(assignment, STAGING, 4, () -> false, () -> nowNs);
        for (JobRun job : jobs) {
            shares.add(job);
        }
        return shares;
    }

    private static LoaderShares.Claim claim(LoaderShares shares) throws JobFailedException {
        return Objects.requireNonNull(shares.claim());
    }

    private static List<Integer> ranksOf(List<LoaderShares.Claim> claims) {
        return claims.stream().map(claim -> claim.queue().stream()).toList();
    }

    /** As many as there are loaders at most; each is at work for good. */
    private static List<LoaderShares.Claim> claims(LoaderShares shares, int most) throws JobFailedException {
        List<LoaderShares.Claim> claims = new ArrayList<>();
        for (int i = 0; i < most; i++) {
            LoaderShares.Claim claim = shares.claim();
            if (claim == null) {
                break;
            }
            claims.add(claim);
        }
        return claims;
    }

    /** One after the other. */
    private static List<LoaderShares.Claim> claimsInTurn(LoaderShares shares, int most) throws JobFailedException {
        List<LoaderShares.Claim> claims = new ArrayList<>();
        for (LoaderShares.Claim claim = shares.claim(); claim != null && claims.size() < most; claim = shares.claim()) {
            claims.add(claim);
            shares.done(claim);
        }
        return claims;
    }

    @Test
    void noMoreAtATimeThanThereAreLoaders() throws Exception {
        LoaderShares shares = shares(new Numbers(true, 4), job("world=2 seed=1 ranks=1"));
        List<LoaderShares.Claim> claims = claims(shares, 10);
        assertThat(claims).hasSize(4);
        shares.done(claims.getFirst());
        shares.done(claims.getFirst()); // again, which frees no other
        assertThat(shares.claim()).isNotNull();
        assertThat(shares.claim()).isNull();
    }

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

    private LoaderShares.Claim stageNext(LoaderShares shares) throws Exception {
        LoaderShares.Claim claim = claim(shares);
        int file = claim.what().file();
        SampleBuffer sample = dataset.sample(dataset.index.sampleOf(file));
        try (StagingBuffer.Loading loading =
                staging.load(claim.what().place(), claim.what().leaving())) {
            loading.stage(sample);
        } finally {
            sample.release();
        }
        shares.done(claim);
        return claim;
    }

    @Test
    void spareTime_isWhatLoadersThatKeepUpHaveForASample_andMoreWhileMuchIsStaged() throws Exception {
        JobRun job = job("seed=1");
        LoaderShares shares = shares(new Numbers(true, 4), job);
        List<LoaderShares.Claim> staged = new ArrayList<>();
        staged.add(stageNext(shares));
        assertThat(shares.spareSeconds(staged.getFirst()))
                .as("the trainer has not begun")
                .isGreaterThan(0.05);
        assertThat(job.read(staged.getFirst().what().file())).isTrue();
        staged.add(stageNext(shares));
        assertThat(shares.spareSeconds(staged.getLast()))
                .as("it has begun, and little is staged")
                .isZero();
        while (staged.size() < 41) {
            staged.add(stageNext(shares));
        }
        assertThat(shares.spareSeconds(staged.getLast())).as("much is staged").isGreaterThan(0.05);
        for (int i = 1; i <= 38; i++) {
            nowNs += 10 * MS;
            assertThat(job.read(staged.get(i).what().file())).isTrue();
        }
        assertThat(shares.spareSeconds(staged.getLast()))
                .as("two samples of 10 ms are staged")
                .isCloseTo(0.02, within(0.001));
        for (int i = 0; i < 17; i++) {
            stageNext(shares);
        }
        assertThat(shares.spareSeconds(staged.getLast()))
                .as("less than half is staged: four loaders stage a sample each in the time of four")
                .isCloseTo(0.04, within(0.002));
        stageNext(shares);
        assertThat(shares.spareSeconds(staged.getLast()))
                .as("half is staged: the loaders need not keep up while half of that is read")
                .isCloseTo(0.10, within(0.005));
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
    void mostLackingRank_isServedFirst() throws Exception {
        LoaderShares shares = shares(new Numbers(true, 1, 3), job("world=2 seed=1"));
        List<LoaderShares.Claim> claims = claims(shares, 4);
        assertThat(ranksOf(claims).subList(0, 2)).containsExactly(1, 1);
        assertThat(ranksOf(claims).subList(2, 4)).containsExactlyInAnyOrder(0, 1);
        assertThat(claims)
                .allSatisfy(claim -> assertThat(claim.queue().lacking()).isZero());
        claims.forEach(shares::done);
        assertThat(claims)
                .allSatisfy(claim -> assertThat(claim.queue().running()).isZero());
        assertThat(claims.getFirst().queue().lacking()).isEqualTo(3);
    }

    @Test
    void loaderThatIsDone_isFreeForTheRankThatLacksIt() throws Exception {
        LoaderShares shares = shares(new Numbers(false, 1, 1), job("world=2 seed=1"));
        List<LoaderShares.Claim> claims = claims(shares, 3);
        assertThat(ranksOf(claims)).containsExactlyInAnyOrder(0, 1);
        shares.done(claims.get(1));
        assertThat(claim(shares).queue()).isSameAs(claims.get(1).queue());
        assertThat(shares.claim()).isNull();
    }

    @Test
    void claimsOfOneRank_areItsStreamInOrder() throws Exception {
        JobRun job = job("world=2 seed=1 ranks=1");
        List<LoaderShares.Claim> claims = claimsInTurn(shares(new Numbers(true, 4), job), 10);
        List<Integer> expected = new ArrayList<>();
        for (int step = 0; step < 10; step++) {
            expected.add(job.orders().epoch(0).sample(1, step));
        }
        assertThat(claims.stream()
                        .map(claim -> dataset.index.sampleOf(claim.what().file())))
                .containsExactlyElementsOf(expected);
    }

    @Test
    void fixedShares_noLoaderWorksForARankBeyondItsNumber() throws Exception {
        LoaderShares shares = shares(LoaderAssignment.fixed(), job("world=2 seed=1"));
        List<LoaderShares.Claim> claims = claims(shares, 10);
        assertThat(ranksOf(claims)).hasSize(4).containsExactlyInAnyOrder(0, 0, 1, 1);
    }

    /** Fills one rank's part of the staging buffer, so that its loaders have nothing to do. */
    private static void exhaust(JobRun job, int stream) throws InvalidSpecException {
        while (job.nextToStage(stream, STAGING / 2) != null) {
            assertThat(job.stagedAhead(stream)).isLessThan(SAMPLES);
        }
    }

    @Test
    void fixedShares_idleLoadersAreNotLent() throws Exception {
        JobRun job = job("world=2 seed=1");
        LoaderShares shares = shares(LoaderAssignment.fixed(), job);
        exhaust(job, 0);
        assertThat(ranksOf(claims(shares, 10))).containsExactly(1, 1);
    }

    @Test
    void lendingShares_idleLoadersWorkForWhomeverHasWork() throws Exception {
        JobRun job = job("world=2 seed=1");
        LoaderShares shares = shares(new Numbers(true, 2, 2), job);
        exhaust(job, 0);
        assertThat(ranksOf(claims(shares, 4))).containsExactly(1, 1, 1, 1);
    }

    @Test
    void everythingStaged_noWork() throws Exception {
        JobRun job = job("world=2 seed=1");
        LoaderShares shares = shares(new Numbers(true, 2, 2), job);
        exhaust(job, 0);
        exhaust(job, 1);
        assertThat(shares.claim()).isNull();
        assertThat(shares.isHungry()).isFalse();
    }

    @Test
    void isHungry_whileSomeRankHasLessThanHalfOfItsShare() throws Exception {
        JobRun job = job("world=2 seed=1");
        LoaderShares shares = shares(new Numbers(true, 2, 2), job);
        exhaust(job, 0);
        for (int i = 0; i < 10; i++) {
            assertThat(shares.isHungry()).as("with " + i + " of 20").isTrue();
            assertThat(job.nextToStage(1, STAGING)).isNotNull();
        }
        assertThat(shares.isHungry()).isFalse();
        shares.add(job("name=other seed=2"));
        assertThat(shares.isHungry()).as("the new one has nothing").isTrue();
    }

    @Test
    void sharesOfTheStagingBuffer_areEvenForAllRanksOfAllJobs() throws Exception {
        JobRun two = job("world=2 seed=1");
        JobRun one = job("name=other seed=2");
        LoaderShares shares = shares(new Numbers(true, 1, 1), two, one);
        List<LoaderShares.Claim> claims = claimsInTurn(shares, 100);
        assertThat(claims).hasSize(39);
        assertThat(claims.stream().filter(claim -> claim.queue().job() == one)).hasSize(13);
    }

    @Test
    void numbers_areComputedAnewNowAndThen_andWhenJobsChange() throws Exception {
        Numbers numbers = new Numbers(true, 3, 1);
        JobRun job = job("world=2 seed=1");
        LoaderShares shares = shares(numbers, job);
        shares.done(claim(shares));
        assertThat(shares.assigned(job)).containsExactly(3, 1);
        numbers.byRank = new int[] {0, 4};
        nowNs += 19 * MS;
        shares.done(claim(shares));
        assertThat(shares.assigned(job)).containsExactly(3, 1);
        assertThat(numbers.asked).isEqualTo(1);
        nowNs += MS;
        shares.done(claim(shares));
        assertThat(shares.assigned(job)).containsExactly(0, 4);
        assertThat(numbers.asked).isEqualTo(2);
        JobRun other = job("name=other seed=2");
        shares.add(other);
        shares.done(claim(shares));
        assertThat(numbers.asked).isEqualTo(3);
        shares.remove(other);
        assertThat(shares.assigned(other)).containsExactly(0);
        shares.done(claim(shares));
        assertThat(numbers.asked).isEqualTo(4);
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
        assertThat(slow.nextToStage(0, STAGING)).isNotNull();
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

    /** The numbers of loaders are computed beside the lock: whoever wants work meanwhile gets it by those of before. */
    @Test
    void whileNumbersAreComputed_theOtherLoadersAndFillersGoOn() throws Exception {
        CountDownLatch computing = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        Numbers numbers = new Numbers(true, 2, 2) {
            @Override
            public int[] assign(List<RankQueue> queues, int loaders) {
                int[] assigned = super.assign(queues, loaders);
                computing.countDown();
                try {
                    assertThat(gate.await(60, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return assigned;
            }
        };
        JobRun job = job("world=2 seed=1");
        LoaderShares shares = shares(numbers, job);
        FutureTask<LoaderShares.Claim> first = new FutureTask<>(shares::claim);
        Thread.ofPlatform().daemon().start(first);
        assertThat(computing.await(60, TimeUnit.SECONDS)).isTrue();
        FutureTask<LoaderShares.Claim> second = new FutureTask<>(shares::claim);
        FutureTask<Boolean> hungry = new FutureTask<>(shares::isHungry);
        Thread.ofPlatform().daemon().start(second);
        Thread.ofPlatform().daemon().start(hungry);
        assertThat(second.get(60, TimeUnit.SECONDS)).isNotNull();
        assertThat(hungry.get(60, TimeUnit.SECONDS)).isTrue();
        assertThat(shares.assigned(job)).containsExactly(0, 0);
        gate.countDown();
        assertThat(first.get(60, TimeUnit.SECONDS)).isNotNull();
        assertThat(shares.assigned(job)).containsExactly(2, 2);
        assertThat(numbers.asked).isEqualTo(1);
    }
}
