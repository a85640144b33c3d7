package io.clairfs.cache.plan;

import com.sun.management.OperatingSystemMXBean;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.plan.model.NodeStorage;
import io.clairfs.cache.plan.model.PerformanceModel;
import io.clairfs.cache.plan.model.StorageClass;
import io.clairfs.cache.plan.policy.Placement;
import io.clairfs.cache.plan.request.Need;
import io.clairfs.cache.plan.request.PlacementPolicy;
import io.clairfs.cache.plan.request.PlanLimits;
import io.clairfs.cache.plan.request.PlanRequest;
import io.clairfs.cache.plan.request.SampleSizes;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Plans for the two ImageNets, with what one node then looks up of its own. Run with a heap of 64 bytes per sample (866m for
 * ImageNet-22k) it also proves the bound on memory, what the JVM itself takes included.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 0)
@Measurement(iterations = 2)
public class PlanBenchmark {
    /** Samples, epochs, ranks (one to a node), capacity of all nodes in datasets, largest over smallest sample. */
    @Param({"1281167 90 16 2.0 1", "14197122 30 64 2.0 1"})
    private String plan = "";

    @Param("CLAIRFS")
    private PlacementPolicy policy = PlacementPolicy.CLAIRFS;

    private int[] number(String[] words) {
        return Arrays.stream(words)
                .mapToInt(word -> (int) Double.parseDouble(word))
                .toArray();
    }

    @Benchmark
    @Fork(value = 1, jvmArgs = "-Xmx866m")
    public long planAndOwnClasses() throws InvalidSpecException {
        String[] words = plan.split(" ");
        int[] of = number(words);
        int samples = of[0];
        int world = of[2];
        int spread = of[4];
        SampleSizes sizes = sample -> 100_000L * (1 + (sample & 0xff) * (spread - 1) / 256);
        long total = 0;
        for (int sample = 0; sample < samples; sample++) {
            total += sizes.bytes(sample);
        }
        long capacity = (long) (Double.parseDouble(words[3]) * total / world);
        NodeStorage node = NodeStorage.of(StorageClass.memory(capacity / 4), PlanCases.ssd(capacity - capacity / 4));
        int[] nodeOfRank = new int[world];
        Arrays.setAll(nodeOfRank, rank -> rank);
        PlanRequest request = new PlanRequest(
                samples,
                sizes,
                Collections.singletonList(
                        new Need(PlanCases.torchDistributed(samples, world, 42), 0, of[1], nodeOfRank)),
                Collections.nCopies(world, node),
                PerformanceModel.unmeasured());
        Placement placement =
                new Planner(PlanLimits.DEFAULT).plan(request, policy).onlyFor(0);
        if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
            System.out.printf("%.1f s of processor time so far; ", system.getProcessCpuTime() / 1e9);
        }
        return placement.plannedBytes(0, 0);
    }

    /** {@code java -cp cache/target/test-classes:... io.clairfs.cache.plan.PlanBenchmark [heap] [plan...]}. */
    public static void main(String[] arguments) throws Exception {
        OptionsBuilder options = new OptionsBuilder();
        options.include(PlanBenchmark.class.getSimpleName());
        if (arguments.length > 1) {
            options.jvmArgs("-Xmx" + arguments[0]);
            options.param("plan", Arrays.copyOfRange(arguments, 1, arguments.length));
        }
        new Runner(options.build()).run();
    }
}
