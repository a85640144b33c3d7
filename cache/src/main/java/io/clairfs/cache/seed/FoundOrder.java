package io.clairfs.cache.seed;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An order that the first reads fit.
 *
 * @param line the keys of a job, without its name and its epochs, as a user writes them into the control file
 * @param epoch the epoch that the reads belong to, counted from the first one of the line
 * @param explained how many of the reads the order has at the place where they were made
 * @param reads how many reads there were
 * @param chance a bound on the probability that chance alone gives such a fit to any of the candidates tried
 */
public record FoundOrder(String line, int epoch, int explained, int reads, double chance) {
    private static final List<String> SHOWN = List.of("seed", "world", "ranks");
    private static final String ORDER_FILE = "sampler=order-file";

    /** Keys, with the space before them, by which the sampler of a line has one order for all epochs. */
    private static final Map<String, String> REPEATED = Map.of(
            "sampler=torch-distributed", " set_epoch=false",
            "sampler=grain", " reseed_each_epoch=false");

    /**
     * The line of the same order for a trainer that repeats it every epoch; empty when no sampler has such a key.
     *
     * @param line as of a found order
     */
    public static Optional<String> repeated(String line) {
        if (line.startsWith("sampler=numpy-generator ")) {
            return Optional.of(line.replace("sampler=numpy-generator", "sampler=hf-datasets"));
        }
        String sampler = line.split(" ", 2)[0];
        String key = REPEATED.get(sampler);
        return key == null || line.contains(key) ? Optional.empty() : Optional.of(line + key);
    }

    /** Whether all epochs have the order of the first, because a trainer was seen to repeat it. */
    private boolean repeats() {
        return line.startsWith(ORDER_FILE)
                || line.startsWith("sampler=hf-datasets")
                || REPEATED.values().stream().anyMatch(line::contains);
    }

    /**
     * What {@code status} says, such as {@code found: torch-distributed seed=0 world=4 ranks=0-1, epoch 3}, or {@code found: order repeats every
     * epoch, epoch 3}.
     */
    public String text() {
        if (line.startsWith(ORDER_FILE)) {
            return "found: order repeats every epoch, epoch " + epoch;
        }
        List<String> words = new ArrayList<>();
        for (String pair : line.split(" ", -1)) {
            String key = pair.substring(0, pair.indexOf('='));
            if (key.equals("sampler")) {
                words.addFirst(pair.substring(pair.indexOf('=') + 1));
            } else if (SHOWN.contains(key)) {
                words.add(pair);
            }
        }
        return "found: " + String.join(" ", words) + (repeats() ? ", order repeats every epoch" : "") + ", epoch "
                + epoch;
    }
}
