package io.clairfs.cache.order;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * After how many batches the user leaves each epoch.
 *
 * @param byEpoch limits of epoch 0, 1 and so on; the last also applies to all later epochs
 */
public record BatchLimits(List<Integer> byEpoch) {
    private static final int TO_THE_END = Integer.MAX_VALUE;

    /** Every epoch runs to its end. */
    public static final BatchLimits NONE = new BatchLimits(List.of(TO_THE_END));

    public BatchLimits {
        byEpoch = List.copyOf(byEpoch);
    }

    /** Reads {@code 100}, or one per epoch as {@code 100,200,all}. */
    public static BatchLimits read(String key, @Nullable String text) throws InvalidSpecException {
        if (text == null) {
            return NONE;
        }
        List<Integer> limits = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            if (part.equals("all")) {
                limits.add(TO_THE_END);
            } else if (part.matches("0*[1-9][0-9]{0,8}")) {
                limits.add(Integer.valueOf(part));
            } else {
                throw new InvalidSpecException(key + "='" + Keys.shorten(text)
                        + "' is no number of batches, at least 1, nor a list as in 100,200,all");
            }
        }
        return new BatchLimits(limits);
    }

    /** Batches of {@code epoch} after which the user leaves it. */
    public int of(int epoch) {
        return byEpoch.get(Math.min(epoch, byEpoch.size() - 1));
    }
}
