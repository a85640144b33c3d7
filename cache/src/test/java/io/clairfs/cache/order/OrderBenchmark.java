package io.clairfs.cache.order;

import io.clairfs.cache.order.spec.OrderSpec;
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

/** One epoch of ImageNet-22k: how long its order takes, and, with the profiler, how many bytes. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 2)
@Measurement(iterations = 3)
public class OrderBenchmark {
    private static final String SAMPLES = "samples=14197122 seed=42 epoch=1 sampler=";

    @Param({
        "torch-distributed world=64",
        "torch-generator batch=256",
        "torch-default batch=256",
        "torchdata-stateful workers=8",
        "accelerate world=64 batch=256",
        "numpy-legacy",
        "numpy-legacy in_place=true",
        "numpy-generator",
        "python-random",
        "hf-datasets",
        "grain",
        "dali",
        "dali shuffle_after_epoch=true",
        "tf-data",
        "locality-aware world=1024 batch=32",
        "dlio version=v1",
        "dlio version=v3 world=1024",
        "partial-local world=1024 exchange=0.1",
        "sequential"
    })
    private String sampler = "";

    /** The order of the second epoch, so with what the first one leaves behind. */
    @Benchmark
    public long order() throws InvalidSpecException {
        OrderSpec spec = OrderSpec.parse(SAMPLES + sampler);
        long sum = 0;
        for (int step = 0; step < spec.length(); step++) {
            sum += spec.sample(step);
        }
        return sum;
    }

    /** {@code java -cp cache/target/test-classes:... io.clairfs.cache.order.OrderBenchmark}. */
    public static void main(String[] arguments) throws Exception {
        new Runner(new OptionsBuilder()
                        .include(OrderBenchmark.class.getSimpleName())
                        .addProfiler("gc")
                        .build())
                .run();
    }
}
