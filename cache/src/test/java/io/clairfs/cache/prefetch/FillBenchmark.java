package io.clairfs.cache.prefetch;

import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.AccessStream;
import io.clairfs.cache.order.EpochOrders;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.FillOrders;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.stage.StagingBuffer;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.testing.FakeDataset;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.testing.RecordingTier;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.worker.Activity;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Processor time for filling the two tiers of one of 128 nodes with 8 ranks each, a job of ImageNet-1k: once in the plan's order, once in
 * that from where the trainers are in the middle of an epoch. Samples have one byte. Not a test.
 */
final class FillBenchmark {
    private static final int SAMPLES = 1_281_167;
    private static final int WORLD = 1_024;
    private static final int NODES = 128;

    private FillBenchmark() {}

    public static void main(String[] arguments) throws Exception {
        FakeDataset dataset = new FakeDataset(SAMPLES, _ -> 1);
        StagingBuffer staging = new StagingBuffer(new RecordingArea(), 1000, 10);
        String line = "seed=1 epochs=90 batch=1 ranks=0-7 world=" + WORLD;
        for (int round = 0; round < 3; round++) {
            fill(dataset, job(dataset, staging, line));
            fill(dataset, job(dataset, staging, line + " start_step=625"));
        }
    }

    private static final List<Integer> COMPUTED = Collections.synchronizedList(new ArrayList<>());

    /** A job that notes which orders are computed. */
    private static JobRun job(FakeDataset dataset, StagingBuffer staging, String line) throws Exception {
        COMPUTED.clear();
        JobSpec spec = JobSpec.parse(line);
        Sampler sampler = spec.sampler(dataset.index);
        Sampler counting = epoch -> {
            COMPUTED.add(epoch);
            return sampler.epoch(epoch);
        };
        EpochOrders orders = new EpochOrders(counting, SAMPLES, System::nanoTime);
        return new JobRun(spec, dataset.index, dataset.tree, staging, orders, System::nanoTime);
    }

    private static double cpuSeconds() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() * 1e-9;
    }

    private static void fill(FakeDataset dataset, JobRun run) throws Exception {
        NodeStorage storage = NodeStorage.of(StorageClass.memory(SAMPLES), StorageClass.ssd(SAMPLES));
        ObservedRates rates =
                new ObservedRates(FetchCosts.of(PerformanceModel.unmeasured(), storage, 1), 60, System::nanoTime);
        IntUnaryOperator tierOf = file -> {
            int sample = dataset.index.sampleOf(file);
            return sample % NODES == 0 ? sample / NODES % 2 : LocalPlan.NOWHERE;
        };
        int[][] planned = new int[2][];
        for (int tier = 0; tier < planned.length; tier++) {
            int here = tier;
            planned[tier] = IntStream.range(0, SAMPLES)
                    .map(dataset::file)
                    .filter(file -> tierOf.applyAsInt(file) == here)
                    .toArray();
        }
        FillOrders.Reading all =
                new FillOrders.Reading(run, IntStream.range(0, WORLD).toArray(), AccessStream.position(0, 0));
        try (MemoryTier memory = new MemoryTier(SAMPLES);
                RecordingTier disk = new RecordingTier(SAMPLES);
                SamplesInUse inUse = new SamplesInUse();
                Admission admission = new Admission(dataset.tree, memory, List.of(disk), SAMPLES)) {
            FetchRouter router = new FetchRouter(
                    new FetchPlaces(dataset.tree, dataset, admission, inUse, PeerFetch.NONE),
                    FetchLimits.DEFAULT,
                    rates,
                    new Counters(),
                    System::nanoTime);
            LoaderShares shares = new LoaderShares(LoaderAssignment.fixed(), 1000, 1, () -> false, System::nanoTime);
            double start = cpuSeconds();
            int[][] order = FillOrders.of(planned, tierOf, List.of(all));
            double ordered = cpuSeconds();
            admission.follow(new LocalPlan() {
                @Override
                public int tierOf(int file) {
                    return tierOf.applyAsInt(file);
                }

                @Override
                public int[] fillOrder(int tier) {
                    return order[tier];
                }
            });
            for (int tier = 0; tier < planned.length; tier++) {
                TierPrefetcher filler = new TierPrefetcher(tier, admission, router, shares, new Activity());
                while (filler.fillOne()) {
                    assert shares != null;
                }
            }
            System.out.printf(
                    "from %s: %d samples for two tiers; processor time: order %.3f s, filling with all fetches %.3f s; orders computed: epochs %s%n",
                    run.position() == AccessStream.position(0, 0) ? "the beginning" : "step 625",
                    Arrays.stream(order).mapToInt(each -> each.length).sum(),
                    ordered - start,
                    cpuSeconds() - ordered,
                    COMPUTED);
        }
    }
}
