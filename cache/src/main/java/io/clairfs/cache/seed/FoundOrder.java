package io.clairfs.cache.seed;

import java.util.ArrayList;
import java.util.List;

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

    /** What {@code status} says, such as {@code found: torch-distributed seed=0 world=4 ranks=0-1, epoch 3}. */
    public String text() {
        List<String> words = new ArrayList<>();
        for (String pair : line.split(" ", -1)) {
            String key = pair.substring(0, pair.indexOf('='));
            if (key.equals("sampler")) {
                words.addFirst(pair.substring(pair.indexOf('=') + 1));
            } else if (SHOWN.contains(key)) {
                words.add(pair);
            }
        }
        return "found: " + String.join(" ", words) + ", epoch " + epoch;
    }
}
