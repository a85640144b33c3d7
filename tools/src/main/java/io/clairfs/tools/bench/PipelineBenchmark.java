package io.clairfs.tools.bench;

import io.clairfs.cache.plan.preprocess.BatchWork;
import io.clairfs.cache.plan.preprocess.MovingSplit;
import io.clairfs.cache.plan.preprocess.ObservedPreprocessing;
import io.clairfs.cache.plan.preprocess.PreprocessCurve;
import io.clairfs.cache.plan.preprocess.PreprocessCurve.Node;
import io.clairfs.cache.plan.preprocess.PreprocessModel;
import io.clairfs.cache.plan.preprocess.StageSplit;
import io.clairfs.tools.bench.SleepingPipeline.Seen;
import io.clairfs.tools.bench.SleepingPipeline.Work;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Compares ways to divide one pool of threads between loading and decoding (Lobster, ICPP 2022, section 4.1): the split that moves with the
 * load, and each fixed one, DALI's three loaders among them.
 *
 * <p>The stages sleep: the result shows the decisions, not the machine. Decoding gets no faster beyond six threads.
 */
public final class PipelineBenchmark {
    /** The threads that load in DALI unless it is told otherwise. */
    private static final int DALI_LOADERS = 3;

    private static final int PEAK = 6;
    private static final int REGIME_BATCHES = 50;
    private static final Work LOAD_BOUND = new Work(0.008, 0.002);
    private static final Work DECODE_BOUND = new Work(0.001, 0.008);

    /** What is the bottleneck. */
    private enum Regime {
        LOAD_BOUND,
        DECODE_BOUND,
        ALTERNATING;

        Work work(int batch) {
            return switch (this) {
                case LOAD_BOUND -> PipelineBenchmark.LOAD_BOUND;
                case DECODE_BOUND -> PipelineBenchmark.DECODE_BOUND;
                case ALTERNATING -> (batch / REGIME_BATCHES % 2 == 0 ? LOAD_BOUND : DECODE_BOUND).work(batch);
            };
        }
    }

    private PipelineBenchmark() {}

    /**
     * One line of the result; seconds are medians over the rounds.
     *
     * @param bestLoaders threads that load in the best fixed split
     * @param ofBest the moving split's time as a share of the best fixed one's
     * @param fasterThanThree how many times as fast it is as three loaders
     */
    public record Row(
            String regime,
            int threads,
            int rounds,
            double moving,
            double best,
            int bestLoaders,
            double three,
            double ofBest,
            double fasterThanThree) {}

    /** The number of steps of a measurement. */
    public static int steps(int threads, int rounds) {
        return Regime.values().length * threads * rounds;
    }

    /**
     * Measures. Rounds alternate between all splits.
     *
     * @param threads of the pool, more than {@value #DALI_LOADERS}
     * @param batches of each run
     * @param stepDone is called after each step
     */
    public static List<Row> run(int threads, int batches, int rounds, Runnable stepDone) throws InterruptedException {
        List<Row> rows = new ArrayList<>();
        for (Regime regime : Regime.values()) {
            double[] moving = new double[rounds];
            double[][] fixed = new double[threads][rounds]; // by the number that loads
            for (int round = 0; round < rounds; round++) {
                moving[round] = moving(regime, threads, batches);
                stepDone.run();
                for (int load = 1; load < threads; load++) {
                    StageSplit split = new StageSplit(threads - load, load);
                    fixed[load][round] =
                            SleepingPipeline.run(batches, regime::work, PipelineBenchmark::slowdown, split, _ -> split);
                    stepDone.run();
                }
            }
            rows.add(row(regime, rounds, moving, fixed));
        }
        return rows;
    }

    private static Row row(Regime regime, int rounds, double[] moving, double[][] fixed) {
        int best = 1;
        for (int load = 2; load < fixed.length; load++) {
            best = median(fixed[load]) < median(fixed[best]) ? load : best;
        }
        double ofMoving = median(moving);
        double ofBest = median(fixed[best]);
        double ofThree = median(fixed[DALI_LOADERS]);
        return new Row(
                regime.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                fixed.length,
                rounds,
                ofMoving,
                ofBest,
                best,
                ofThree,
                ofMoving / ofBest,
                ofThree / ofMoving);
    }

    private static double moving(Regime regime, int threads, int batches) throws InterruptedException {
        PreprocessCurve curve = new PreprocessCurve(List.of(
                new Node(1, LOAD_BOUND.decodeSeconds()),
                new Node(PEAK, LOAD_BOUND.decodeSeconds()),
                new Node(2 * PEAK, 2 * LOAD_BOUND.decodeSeconds())));
        ObservedPreprocessing observed =
                new ObservedPreprocessing(new PreprocessModel(List.of(new PreprocessModel.OfSize(1, curve))));
        MovingSplit split = new MovingSplit(curve, threads);
        return SleepingPipeline.run(
                batches, regime::work, PipelineBenchmark::slowdown, split.now(), seen -> next(split, observed, seen));
    }

    private static StageSplit next(MovingSplit split, ObservedPreprocessing observed, Seen seen) {
        observed.record(1, seen.split().preprocess(), seen.decodeSeconds());
        return split.batch(new BatchWork(
                SleepingPipeline.BATCH, observed.curve(1), seen.loadSeconds() * SleepingPipeline.BATCH, 0));
    }

    private static double slowdown(int threads) {
        return Math.max(1, (double) threads / PEAK);
    }

    private static double median(double[] values) {
        double[] sorted = Arrays.stream(values).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /** Formats the rows as a table. */
    public static String table(List<Row> rows) {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "%-14s %8s %7s %10s %24s %15s %9s %9s%n",
                "regime",
                "threads",
                "rounds",
                "moving",
                "best fixed",
                "three loaders",
                "of best",
                "of three"));
        for (Row row : rows) {
            text.append(String.format(
                    Locale.ROOT,
                    "%-14s %8d %7d %8.2f s %8.2f s (%2d loaders) %13.2f s %8.2fx %8.2fx%n",
                    row.regime,
                    row.threads,
                    row.rounds,
                    row.moving,
                    row.best,
                    row.bestLoaders,
                    row.three,
                    row.ofBest,
                    row.fasterThanThree));
        }
        return text.toString();
    }
}
