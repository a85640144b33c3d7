package io.clairfs.tools.cli;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Sampler;
import io.clairfs.cache.order.SamplerSetting;
import io.clairfs.cache.order.spec.OrderSpec;
import io.clairfs.cache.order.spec.Samplers;
import io.clairfs.tools.cli.OrderExport.Span;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the order in which a sampler reads, without a mount. */
@Command(
        name = "order",
        mixinStandardHelpOptions = true,
        description = {
            "Prints the sample indices that a rank reads in an epoch, one per line;",
            "with --from, one line for each line of specs; with --out, writes files;",
            "with --stats, what the order means for the nodes that read it."
        })
final class OrderCommand implements Callable<Integer> {
    private static final String DATASET_ALONE = "--dataset and --index-rule go with --stats";
    private static final String SAMPLES_MISSING = "--samples is missing: how many samples the dataset has";

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--samples", paramLabel = "N", description = "Number of samples in the dataset.")
    private @Nullable String samples;

    @Option(names = "--seed", paramLabel = "S", description = "The shuffle seed.")
    private @Nullable String seed;

    @Option(names = "--sampler", paramLabel = "NAME", description = "Default: torch-distributed.")
    private @Nullable String sampler;

    @Option(names = "--epoch", paramLabel = "E", description = "Counted from 0.")
    private @Nullable String epoch;

    @Option(names = "--world", paramLabel = "W", description = "Number of ranks.")
    private @Nullable String world;

    @Option(names = "--rank", paramLabel = "R", description = "Counted from 0.")
    private @Nullable String rank;

    @Option(names = "--batch", paramLabel = "B", description = "Samples per batch, for samplers that depend on it.")
    private @Nullable String batch;

    @Option(names = "--drop-last", description = "Leave out the incomplete end.")
    private boolean dropLast;

    @Option(
            names = "--from",
            paramLabel = "FILE",
            description = "Lines of key=value pairs (- for standard input); one line is printed for each.")
    private @Nullable String from;

    @Option(names = "--digest", description = "Print length and SHA-256 instead of the indices.")
    private boolean digest;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Write a file of little-endian 64-bit numbers for each rank and epoch,"
                    + " such as DIR/{epoch}/{rank}.i64; all ranks without --rank.")
    private @Nullable String out;

    @Option(
            names = "--epochs",
            paramLabel = "E[-F]",
            description = "With --out or --stats: these epochs, such as 0-89.")
    private @Nullable String epochs;

    @Mixin
    private final StatisticsOptions statistics = new StatisticsOptions();

    @Parameters(paramLabel = "KEY=VALUE", arity = "0..*", description = "More keys of the sampler; see docs/ORDERS.md.")
    private List<String> more = new ArrayList<>();

    @Override
    public Integer call() throws IOException, CommandFailedException {
        if (out != null) {
            return write(out);
        }
        return print();
    }

    private int write(String template) throws CommandFailedException {
        check(from == null && !digest && !statistics.areWanted(), "--out takes neither --from, --digest nor --stats");
        check(samples != null, SAMPLES_MISSING);
        check(!statistics.areIncomplete(), DATASET_ALONE);
        try {
            Keys keys = Keys.parse(String.join(" ", pairs()));
            check(epochs == null || !keys.has("epoch"), "give one of --epoch and --epochs");
            int count = keys.integer("samples", 0, 0, Integer.MAX_VALUE - 8);
            int ranks = keys.integer("world", 1, 1, Integer.MAX_VALUE);
            int epochAlone = keys.integer("epoch", 0, 0, Integer.MAX_VALUE);
            Span ofEpochs = epochs == null ? new Span(epochAlone, epochAlone) : Span.parse(epochs);
            int rankAlone = keys.integer("rank", 0, 0, ranks - 1);
            Span ofRanks = keys.has("rank") ? new Span(rankAlone, rankAlone) : new Span(0, ranks - 1);
            keys.text("batch"); // allows the key, as below
            Sampler orders = Samplers.create(new SamplerSetting(count, ofEpochs.first(), null), keys);
            keys.requireAllUsed();
            orders.requirePossible(ofEpochs.last());
            String written;
            try (OrderExport export = new OrderExport(template, ofEpochs, ofRanks)) {
                written = export.write(orders);
            }
            System.out.println(written);
            return Main.DONE;
        } catch (InvalidSpecException e) {
            throw new CommandFailedException(String.valueOf(e.getMessage()));
        }
    }

    private int print() throws IOException, CommandFailedException {
        check(epochs == null || statistics.areWanted(), "--epochs goes with --out or --stats");
        List<String> pairs = pairs();
        check(!statistics.areIncomplete(), DATASET_ALONE);
        Writer printed = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 16);
        try {
            if (from != null) {
                check(
                        pairs.isEmpty() && !statistics.areWanted(),
                        "--from takes its keys from the lines of the file alone, and no --stats");
                return printAll(printed, from);
            }
            if (statistics.areWanted()) {
                check(epoch == null && rank == null && !digest, "--stats takes neither --epoch, --rank nor --digest");
                statistics.print(pairs, epochs, printed);
                return Main.DONE;
            }
            check(samples != null, SAMPLES_MISSING);
            Keys keys = Keys.parse(String.join(" ", pairs));
            keys.text("batch"); // allows the key: many samplers do not depend on it
            OrderSpec order = OrderSpec.of(keys);
            if (digest) {
                printed.write(order.digest() + "\n");
            } else {
                print(printed, order, '\n');
            }
            return Main.DONE;
        } catch (InvalidSpecException e) {
            throw new CommandFailedException(String.valueOf(e.getMessage()));
        } finally {
            printed.flush();
        }
    }

    private List<String> pairs() {
        List<String> pairs = new ArrayList<>(more);
        addPair(pairs, "samples", samples);
        addPair(pairs, "seed", seed);
        addPair(pairs, "sampler", sampler);
        addPair(pairs, "epoch", epoch);
        addPair(pairs, "world", world);
        addPair(pairs, "rank", rank);
        addPair(pairs, "batch", batch);
        addPair(pairs, "drop_last", dropLast ? "true" : null);
        return pairs;
    }

    private static void addPair(List<String> pairs, String key, @Nullable String value) {
        if (value != null) {
            pairs.add(key + "=" + value);
        }
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }

    /** Writes one line for each line read. The line for a bad input has the reason, and the other lines are processed all the same. */
    private int printAll(Writer out, String file) throws IOException {
        boolean allGood = true;
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(open(file), StandardCharsets.UTF_8))) {
            String line;
            while ((line = lines.readLine()) != null) {
                try {
                    Keys keys = Keys.parse(line);
                    keys.text("batch");
                    OrderSpec order = OrderSpec.of(keys);
                    if (digest) {
                        out.write(order.digest().toString());
                    } else {
                        print(out, order, ' ');
                    }
                } catch (InvalidSpecException e) {
                    allGood = false;
                    out.write("error: " + e.getMessage());
                } catch (OutOfMemoryError e) {
                    allGood = false;
                    out.write("error: too little memory: " + e.getMessage());
                }
                out.write('\n');
            }
        }
        return allGood ? Main.DONE : Main.FAILED;
    }

    private static InputStream open(String file) throws IOException {
        if (file.equals("-")) {
            return System.in;
        }
        if (Files.isDirectory(Path.of(file))) {
            throw new IOException(file + " is a directory: name a file, or - for standard input");
        }
        return Files.newInputStream(Path.of(file));
    }

    /** Writes indices with {@code separator} between them. If the separator is a line end, one follows the last index, too. */
    private static void print(Writer out, OrderSpec order, char separator) throws IOException {
        int length = order.length();
        for (int step = 0; step < length; step++) {
            out.write(Integer.toString(order.sample(step)));
            if (separator == '\n' || step + 1 < length) {
                out.write(separator);
            }
        }
    }
}
