package io.clairfs.tools.cli;

import static java.util.Locale.ROOT;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.spec.Samplers;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What {@code order --stats} looks at, and its lines. */
final class StatisticsOptions {
    private static final String PARTIAL_LOCAL = "partial-local";
    private static final int MOST_EPOCHS = 100_000;
    private static final int MOST_NODES_SHOWN = 16;

    @Option(
            names = "--stats",
            description =
                    "Print what the order means for the nodes that read it: samples exchanged, samples seen, skew of classes.")
    private boolean wanted;

    @Option(
            names = "--dataset",
            paramLabel = "DIR",
            description = "With --stats: its files are the samples, and the first directory of each is its class.")
    private @Nullable Path dataset;

    @Option(
            names = "--index-rule",
            paramLabel = "RULE",
            description = "With --dataset: how its samples are numbered, as at mount (default: imagefolder).")
    private @Nullable String indexRule;

    boolean areWanted() {
        return wanted;
    }

    /** Whether options are given that mean something with {@code --stats} only. */
    boolean areIncomplete() {
        return !wanted && (dataset != null || indexRule != null);
    }

    /** Writes the statistics of the order that {@code pairs} describe, over these epochs; the first ten where none are given. */
    void print(List<String> pairs, @Nullable String epochs, Writer out)
            throws IOException, InvalidSpecException, CommandFailedException {
        OrderExport.Span span = OrderExport.Span.parse(epochs == null ? "0-9" : epochs);
        if (span.first() != 0 || span.last() >= MOST_EPOCHS) {
            throw new CommandFailedException(
                    "--stats counts from epoch 0 on, and " + MOST_EPOCHS + " epochs at most: give --epochs 0-29");
        }
        int count = span.last() + 1;
        DatasetClasses classes = dataset == null
                ? null
                : DatasetClasses.read(dataset, Objects.requireNonNullElse(indexRule, "imagefolder"));
        Keys keys = Keys.parse(String.join(" ", withSamples(pairs, classes)));
        if (!keys.has("samples")) {
            throw new CommandFailedException(
                    "--samples is missing: how many samples the dataset has; or give --dataset");
        }
        int samples = keys.integer("samples", 0, 1, Integer.MAX_VALUE - 8);
        if (classes != null && samples != classes.of().length) {
            throw new CommandFailedException(
                    dataset + " has " + classes.of().length + " samples, not " + samples + ": leave out --samples");
        }
        int world = keys.integer("world", 1, 1, 1 << 20);
        int ranksOfNode = keys.integer("per_node", 1, 1, world);
        Sampler sampler = Samplers.create(samples, keys);
        keys.requireAllUsed();
        OrderStatistics statistics = new OrderStatistics(samples, world, ranksOfNode);
        for (int epoch = 0; epoch < count; epoch++) {
            statistics.add(sampler);
        }
        print(statistics, keys, out);
        if (classes == null) {
            out.write("class skew: not known without the files; give --dataset DIR\n");
        } else {
            printSkews(statistics, classes, out);
        }
    }

    private static List<String> withSamples(List<String> pairs, @Nullable DatasetClasses classes) {
        List<String> all = new ArrayList<>(pairs);
        if (classes != null && pairs.stream().noneMatch(pair -> pair.startsWith("samples="))) {
            all.add("samples=" + classes.of().length);
        }
        return all;
    }

    private static void print(OrderStatistics statistics, Keys keys, Writer out)
            throws IOException, InvalidSpecException {
        out.write(String.format(
                ROOT,
                "exchanged per epoch: %.1f samples for each of %d nodes, %.2f %% of the dataset%n",
                statistics.movedPerNode(),
                statistics.nodes(),
                100 * statistics.movedShare()));
        String formula = "";
        if (PARTIAL_LOCAL.equals(keys.text("sampler"))) {
            double expected = OrderStatistics.expectedSeenShare(
                    statistics.nodes(), keys.decimal("exchange", 0), statistics.epochs());
            formula = String.format(ROOT, "; %.3f by 1 - (1 - 1/M) (1 - Q/M)^(e-1)", expected);
        }
        out.write(String.format(
                ROOT,
                "seen by a node after %d epochs: %.3f of the dataset, counted on %d nodes%s%n",
                statistics.epochs(),
                statistics.seenShare(),
                statistics.watchedNodes(),
                formula));
    }

    private static void printSkews(OrderStatistics statistics, DatasetClasses classes, Writer out) throws IOException {
        List<OrderStatistics.Skew> skews = Arrays.stream(
                        statistics.skews(classes.of(), classes.names().size()))
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull)
                .sorted(Comparator.comparingDouble(OrderStatistics.Skew::distance)
                        .reversed()
                        .thenComparingInt(OrderStatistics.Skew::node))
                .toList();
        out.write("class skew in epoch " + (statistics.epochs() - 1) + ", of "
                + classes.names().size() + " classes: the nodes that differ most, each with the class that does\n");
        for (OrderStatistics.Skew skew : skews.subList(0, Math.min(MOST_NODES_SHOWN, skews.size()))) {
            out.write(String.format(
                    ROOT,
                    "  node %d: %.4f (%s: %.4f of its samples, %.4f of the dataset)%n",
                    skew.node(),
                    skew.distance(),
                    classes.names().get(skew.ofClass()),
                    skew.atNode(),
                    skew.inDataset()));
        }
    }
}
