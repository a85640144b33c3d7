package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.order.InvalidSpecException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Which rank a loader works for. */
final class LoaderSharesTest extends LoaderSharesFixture {
    LoaderSharesTest() throws Exception {}

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
        while (job.stream(stream).nextToStage(STAGING / 2) != null) {
            assertThat(job.stream(stream).stagedAhead()).isLessThan(SAMPLES);
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
            assertThat(job.stream(1).nextToStage(STAGING)).isNotNull();
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
