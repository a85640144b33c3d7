package io.clairfs.cache.prefetch;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.dataset.DatasetTree;
import io.clairfs.cache.dataset.SampleIndex;
import io.clairfs.cache.dataset.rule.IndexRule;
import io.clairfs.cache.fetch.FetchLimits;
import io.clairfs.cache.fetch.FetchPlaces;
import io.clairfs.cache.fetch.FetchRouter;
import io.clairfs.cache.fetch.PeerFetch;
import io.clairfs.cache.fetch.SamplesInUse;
import io.clairfs.cache.follow.JobRun;
import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.placement.Admission;
import io.clairfs.cache.placement.JobPlanner;
import io.clairfs.cache.placement.LocalPlan;
import io.clairfs.cache.placement.NodePlanner;
import io.clairfs.cache.plan.model.FetchCosts;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.ObservedRates;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.posix.FileStatus;
import io.clairfs.cache.source.Source;
import io.clairfs.cache.status.Counters;
import io.clairfs.cache.status.ErrorLog;
import io.clairfs.cache.testing.RecordingArea;
import io.clairfs.cache.tier.MemoryTier;
import io.clairfs.cache.tier.ssd.SsdTier;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The heap that a node takes for a dataset of ImageNet-22k's size: the index, then everything else, while a job is planned,
 * prefetched and read. The files are nowhere: names and bytes are made up as they are asked for.
 *
 * <p>{@code java -Xmx3g -cp cache/target/test-classes:cache/target/classes:... io.clairfs.cache.prefetch.LargeDatasetBenchmark SSD-DIRECTORY}.
 * Once there is an index all of the heap but 512 MiB is taken away: so these are enough when it runs to its end.
 */
final class LargeDatasetBenchmark {
    private static final int SAMPLES = 14_197_122;
    private static final int PER_DIRECTORY = 650;
    private static final int SAMPLE_BYTES = 200;
    private static final int READS = 100_000;
    private static final long MIB = 1 << 20;
    private static final long ALLOWED_MIB = 512;

    private LargeDatasetBenchmark() {}

    private static final class MadeUp implements Source {
        @Override
        public List<byte[]> names(byte[] directory) {
            int first = directory.length == 0
                    ? 0
                    : Integer.parseInt(new String(directory, UTF_8).substring(1)) * PER_DIRECTORY;
            int end = directory.length == 0
                    ? Math.ceilDiv(SAMPLES, PER_DIRECTORY)
                    : Math.min(SAMPLES, first + PER_DIRECTORY);
            List<byte[]> names = new ArrayList<>(end - first);
            for (int i = first; i < end; i++) {
                names.add(((directory.length == 0 ? "d" : "image_") + i).getBytes(UTF_8));
            }
            return names;
        }

        @Override
        public FileStatus status(byte[] path) {
            boolean file = new String(path, UTF_8).contains("image");
            return new FileStatus(file ? 0100644 : 040755, 0, 0, file ? SAMPLE_BYTES : 0, 1_000_000_000L, 1);
        }

        @Override
        public byte[] linkTarget(byte[] path) {
            throw new AssertionError("no links");
        }

        @Override
        public void read(SourceFile file, long offset, MemorySegment into) {
            into.fill(file.path()[file.path().length - 1]);
        }

        @Override
        public void close() {
            assert SAMPLES > 0;
        }
    }

    private static long usedMib() {
        System.gc();
        System.gc();
        return (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) / MIB;
    }

    public static void main(String[] arguments) throws Exception {
        Source source = new MadeUp();
        DatasetTree tree = new DatasetTree(source, 2, System.out::println);
        tree.complete().join();
        SampleIndex index =
                Objects.requireNonNull(IndexRule.BY_NAME.get("sorted")).index(tree, tree.root());
        long ofIndex = usedMib();
        System.out.printf("%d samples: index %d MiB%n", index.size(), ofIndex);
        long ballast = Runtime.getRuntime().maxMemory() / MIB - ofIndex - ALLOWED_MIB;
        byte[][] taken = new byte[(int) Math.max(0, ballast)][(int) MIB - 16]; // what is not allowed cannot be used

        Counters counters = new Counters();
        ErrorLog errors = new ErrorLog(Clock.systemUTC());
        MemoryTier memory = new MemoryTier(50 * MIB);
        Path disk = Files.createTempDirectory(Path.of(arguments[0]), "large-");
        SsdTier ssd = new SsdTier(disk, "/made/up", 200 * MIB, 0, System::nanoTime, errors::add);
        ssd.recover(tree);
        SamplesInUse inUse = new SamplesInUse();
        NodeStorage storage = NodeStorage.of(StorageClass.memory(50 * MIB), StorageClass.ssd(150 * MIB));
        PerformanceModel model = PerformanceModel.unmeasured();
        try (Admission admission = new Admission(tree, memory, List.of(ssd), MIB)) {
            FetchRouter router = new FetchRouter(
                    new FetchPlaces(tree, source, admission, inUse, PeerFetch.NONE),
                    FetchLimits.DEFAULT,
                    new ObservedRates(FetchCosts.of(model, storage, 1), 60, System::nanoTime),
                    counters,
                    System::nanoTime);
            NodePlanner planner = NodePlanner.alone(
                    tree, admission, () -> storage, model, PlacementPolicy.CLAIRFS, PlanLimits.DEFAULT);
            JobPlanner timed = jobs -> {
                long start = System.nanoTime();
                LocalPlan plan = planner.plan(jobs);
                System.out.printf("planned in %.1f s%n", (System.nanoTime() - start) / 1e9);
                return plan;
            };
            try (Prefetcher prefetcher = new Prefetcher(
                    tree,
                    router,
                    admission,
                    inUse,
                    timed,
                    new RecordingArea(),
                    new PrefetchSettings(MIB, 5000, 4, List.of(4, 4), PrefetchSettings.Sharing.BALANCED),
                    counters,
                    errors)) {
                JobRun run = prefetcher.start(JobSpec.parse("seed=1 epochs=30 batch=256"), index, true);
                read(run, prefetcher, index);
                while (admission.plannedFor(index.file(run.orders().epoch(0).sample(0, 0))) == null) {
                    Thread.sleep(100);
                }
                read(run, prefetcher, index);
                System.out.printf("everything else: %d MiB%n", usedMib() - ofIndex - taken.length);
            }
        }
        ssd.close();
        memory.close();
        System.out.println(Arrays.toString(errors.lines().toArray()));
    }

    private static void read(JobRun run, Prefetcher prefetcher, SampleIndex index) throws Exception {
        int from = run.progress().position();
        for (int step = from; step < from + READS; step++) {
            prefetcher.read(new int[] {index.file(run.orders().epoch(0).sample(0, step))}, 1);
        }
    }
}
