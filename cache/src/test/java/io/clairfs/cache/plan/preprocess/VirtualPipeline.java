package io.clairfs.cache.plan.preprocess;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;

/**
 * Loading and preprocessing by one pool of threads, in virtual time. A thread that is done takes the next work of the stage that has fewer threads than
 * its split says. Loaded samples wait in a bounded queue. The trainer takes nothing: the pipeline is as fast as its slower stage.
 */
final class VirtualPipeline {
    static final int BATCH = 32;

    /** What one sample of a batch takes a thread that is alone, seconds. */
    record Regime(double loadSeconds, double preprocessSeconds) {}

    private record Done(double at, long order, boolean loading, double took, int batch) {}

    private final int batches;
    private final IntToDoubleFunction slowdown;
    private final PriorityQueue<Done> running =
            new PriorityQueue<>(Comparator.comparingDouble(Done::at).thenComparingLong(Done::order));
    private final ArrayDeque<Integer> loaded = new ArrayDeque<>();
    private final IntFunction<Regime> regimes;
    private double now;
    private long started;
    private long claimed;
    private int loading;
    private int preprocessing;

    /** @param slowdown of each preprocessing thread, by how many there are */
    VirtualPipeline(int batches, IntToDoubleFunction slowdown, IntFunction<Regime> regimes) {
        this.batches = batches;
        this.slowdown = slowdown;
        this.regimes = regimes;
    }

    /**
     * What was seen while a batch was preprocessed.
     *
     * @param loadThreadSeconds of a batch of the samples that were loaded meanwhile; 0 if none was
     * @param preprocessSeconds that a thread took for one of its samples
     * @param split meanwhile
     */
    record Seen(double loadThreadSeconds, double preprocessSeconds, StageSplit split) {}

    /** Runs all batches. Returns the seconds that they took. */
    double run(StageSplit first, Function<Seen, StageSplit> next) {
        StageSplit split = first;
        int done = 0;
        double loadSeconds = 0;
        double preprocessSeconds = 0;
        int loads = 0;
        start(split);
        while (done < batches * BATCH) {
            Done one = running.remove();
            now = one.at;
            if (one.loading) {
                loading--;
                loadSeconds += one.took;
                loads++;
                loaded.add(one.batch);
            } else {
                preprocessing--;
                preprocessSeconds += one.took;
                done++;
                if (done % BATCH == 0) {
                    double perLoad = loads == 0 ? 0 : loadSeconds / loads;
                    split = next.apply(new Seen(perLoad * BATCH, preprocessSeconds / BATCH, split));
                    loadSeconds = 0;
                    preprocessSeconds = 0;
                    loads = 0;
                }
            }
            start(split);
        }
        return now;
    }

    private void start(StageSplit split) {
        while (preprocessing < split.preprocess() && loading + preprocessing < split.threads() && !loaded.isEmpty()) {
            int batch = loaded.remove();
            preprocessing++;
            add(regimes.apply(batch).preprocessSeconds * slowdown.applyAsDouble(preprocessing), false, batch);
        }
        while (loading < split.load()
                && loading + preprocessing < split.threads()
                && loaded.size() + loading < 2 * BATCH
                && claimed < (long) batches * BATCH) {
            int batch = (int) (claimed++ / BATCH);
            loading++;
            add(regimes.apply(batch).loadSeconds, true, batch);
        }
    }

    private void add(double seconds, boolean isLoad, int batch) {
        running.add(new Done(now + seconds, started++, isLoad, seconds, batch));
    }

    /** The seconds with a split that never changes. */
    static double fixed(int batches, IntToDoubleFunction slowdown, IntFunction<Regime> regimes, StageSplit split) {
        return new VirtualPipeline(batches, slowdown, regimes).run(split, seen -> split);
    }
}
