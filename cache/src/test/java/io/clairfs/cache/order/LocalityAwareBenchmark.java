package io.clairfs.cache.order;

import io.clairfs.cache.order.locality.LocalityAwareSampler;
import io.clairfs.cache.order.locality.Owners;
import io.clairfs.cache.order.spec.Samplers;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** One epoch of ImageNet-1k for 16 ranks and of ImageNet-22k for 1,024, dealt to the nodes that own the samples. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3)
@Measurement(iterations = 7)
public class LocalityAwareBenchmark {
    /** Samples, ranks. */
    @Param({"1281167/16", "14197122/1024"})
    private String size = "";

    @Param({"1", "0.6"})
    private String cached = "";

    private Sampler whole = new SequentialSampler(0);
    private Sampler dealt = new SequentialSampler(0);
    private int epoch;

    /** The base order is computed before {@link #dealt} is measured. */
    @Setup
    public void prepare() throws InvalidSpecException {
        int slash = size.indexOf('/');
        int samples = Integer.parseInt(size.substring(0, slash));
        int world = Integer.parseInt(size.substring(slash + 1));
        String keys = " seed=42 batch=32 world=" + world;
        whole = Samplers.create(samples, Keys.parse("sampler=locality-aware cached=" + cached + keys));
        EpochOrder base = Samplers.create(samples, Keys.parse("sampler=torch-distributed" + keys))
                .epoch(1);
        Owners owners = new Owners(samples, world, Double.parseDouble(cached));
        dealt = new LocalityAwareSampler(_ -> base, owners, world, 1, 32);
    }

    /** The deal alone. */
    @Benchmark
    public EpochOrder deal() throws InvalidSpecException {
        return dealt.epoch(0);
    }

    /** With torch's permutation. */
    @Benchmark
    public EpochOrder order() throws InvalidSpecException {
        return whole.epoch(epoch++);
    }

    /** {@code java -cp cache/target/test-classes:... io.clairfs.cache.order.LocalityAwareBenchmark}. */
    public static void main(String[] arguments) throws Exception {
        new Runner(new OptionsBuilder()
                        .include(LocalityAwareBenchmark.class.getSimpleName())
                        .build())
                .run();
    }
}
