package io.clairfs.tools.cli;

import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.Samplers;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints the order in which a sampler reads, without a mount. */
@Command(
        name = "order",
        mixinStandardHelpOptions = true,
        description = "Prints the sample indices that a rank reads in an epoch, one per line.")
final class OrderCommand implements Callable<Integer> {
    @Option(names = "--samples", paramLabel = "N", required = true, description = "How many samples the dataset has.")
    private int samples;

    @Option(names = "--seed", paramLabel = "S", description = "The shuffle seed.")
    private @Nullable String seed;

    @Option(names = "--sampler", paramLabel = "NAME", description = "Default: torch-distributed.")
    private @Nullable String sampler;

    @Option(names = "--epoch", paramLabel = "E", description = "Counted from 0.")
    private int epoch;

    @Option(names = "--world", paramLabel = "W", description = "Ranks in all.")
    private @Nullable String world;

    @Option(names = "--rank", paramLabel = "R", description = "Counted from 0.")
    private int rank;

    @Option(names = "--batch", paramLabel = "B", description = "Samples per batch, for samplers that depend on it.")
    private @Nullable String batch;

    @Option(names = "--drop-last", description = "Leave out the incomplete end.")
    private boolean dropLast;

    @Parameters(paramLabel = "KEY=VALUE", arity = "0..*", description = "More keys of the sampler.")
    private List<String> more = new ArrayList<>();

    @Override
    public Integer call() throws IOException, CommandFailedException {
        try {
            print(order());
        } catch (InvalidSpecException e) {
            throw new CommandFailedException(String.valueOf(e.getMessage()));
        }
        return Main.DONE;
    }

    private EpochOrder order() throws InvalidSpecException {
        List<String> pairs = new ArrayList<>(more);
        addPair(pairs, "seed", seed);
        addPair(pairs, "sampler", sampler);
        addPair(pairs, "world", world);
        addPair(pairs, "batch", batch);
        addPair(pairs, "drop_last", dropLast ? "true" : null);
        if (samples < 0 || epoch < 0 || rank < 0) {
            throw new InvalidSpecException("--samples, --epoch and --rank count from 0");
        }
        Keys keys = pairs.isEmpty() ? Keys.of(java.util.Map.of()) : Keys.parse(String.join(" ", pairs));
        int ranks = keys.integer("world", 1, 1, Integer.MAX_VALUE);
        if (rank >= ranks) {
            throw new InvalidSpecException(
                    "rank " + rank + " needs a world of at least " + (rank + 1) + ", but world=" + ranks);
        }
        keys.text("batch");
        EpochOrder order = Samplers.create(samples, keys).epoch(epoch);
        keys.requireAllUsed();
        return order;
    }

    private static void addPair(List<String> pairs, String key, @Nullable String value) {
        if (value != null) {
            pairs.add(key + "=" + value);
        }
    }

    private void print(EpochOrder order) throws IOException {
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.US_ASCII));
        for (int step = 0; step < order.length(rank); step++) {
            out.write(Integer.toString(order.sample(rank, step)));
            out.write('\n');
        }
        out.flush();
    }
}
