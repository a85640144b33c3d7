package io.clairfs.cache.prefetch;

import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Jobs, loaders and what they claim. Samples have 100 bytes; the staging buffer holds 40. */
abstract class LoaderSharesFixture {
    static final int SAMPLES = 200;
    static final long SIZE = 100;
    static final long STAGING = 40 * SIZE;
    static final long MS = 1_000_000;

    final FakeDataset dataset;
    final StagingBuffer staging = new StagingBuffer(new RecordingArea(), STAGING, 1000);
    long nowNs;

    LoaderSharesFixture() throws Exception {
        dataset = new FakeDataset(SAMPLES, _ -> SIZE);
    }

    /** Gives each rank what the test says, by number, and counts how often it is asked. */
    static class Numbers implements LoaderAssignment {
        private final boolean lends;
        int[] byRank;
        int asked;

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

    JobRun job(String line) throws InvalidSpecException {
        return new JobRun(JobSpec.parse(line), dataset.index, dataset.tree, staging, () -> nowNs);
    }

    LoaderShares shares(LoaderAssignment assignment, JobRun... jobs) {
        LoaderShares shares = new LoaderShares(assignment, STAGING, 4, () -> false, () -> nowNs);
        for (JobRun job : jobs) {
            shares.add(job);
        }
        return shares;
    }

    static LoaderShares.Claim claim(LoaderShares shares) throws JobFailedException {
        return Objects.requireNonNull(shares.claim());
    }

    static List<Integer> ranksOf(List<LoaderShares.Claim> claims) {
        return claims.stream().map(claim -> claim.queue().stream()).toList();
    }

    /** As many as there are loaders at most; each is at work for good. */
    static List<LoaderShares.Claim> claims(LoaderShares shares, int most) throws JobFailedException {
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
    static List<LoaderShares.Claim> claimsInTurn(LoaderShares shares, int most) throws JobFailedException {
        List<LoaderShares.Claim> claims = new ArrayList<>();
        for (LoaderShares.Claim claim = shares.claim(); claim != null && claims.size() < most; claim = shares.claim()) {
            claims.add(claim);
            shares.done(claim);
        }
        return claims;
    }

    /** Stages what one claim is for. */
    LoaderShares.Claim stageNext(LoaderShares shares) throws Exception {
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
}
