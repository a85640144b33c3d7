package io.clairfs.cache.job;

import io.clairfs.cache.order.InvalidSpecException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ranks of a job that read through one mount: consecutive ranks, or none.
 *
 * @param first the first rank
 * @param last the last rank; one less than {@code first} when there are none
 */
public record Ranks(int first, int last) {
    /** No rank reads through this mount. */
    public static final Ranks NONE = new Ranks(0, -1);

    private static final String NONE_TEXT = "none";
    private static final int MOST = 64;
    private static final Pattern TEXT = Pattern.compile("([0-9]{1,7})(?:-([0-9]{1,7}))?");

    public Ranks {
        if (first < 0 || last < first - 1 || (last < first && first > 0)) {
            throw new IllegalArgumentException("ranks " + first + " to " + last);
        }
    }

    /** Reads {@code 0}, {@code 0-3} or {@code none}. */
    public static Ranks parse(String text) throws InvalidSpecException {
        if (text.equals(NONE_TEXT)) {
            return NONE;
        }
        Matcher match = TEXT.matcher(text);
        if (!match.matches()) {
            throw new InvalidSpecException("ranks='" + text.substring(0, Math.min(text.length(), 64))
                    + "' is neither a rank like 0 nor a range like 0-3");
        }
        int first = Integer.parseInt(match.group(1));
        int last = match.group(2) == null ? first : Integer.parseInt(match.group(2));
        if (last < first) {
            throw new InvalidSpecException("ranks=" + text + " runs backwards");
        }
        return new Ranks(first, last);
    }

    /** Refuses ranks outside a world of this size, and more ranks than one mount serves. */
    Ranks requireIn(int world) throws InvalidSpecException {
        if (last >= world) {
            throw new InvalidSpecException("ranks=" + text() + " needs a world of at least " + (last + 1)
                    + ", but world=" + world + " has ranks 0 to " + (world - 1));
        }
        if (count() > MOST) {
            throw new InvalidSpecException("ranks=" + text() + " are more than " + MOST
                    + " on one mount: name those that read through this mount");
        }
        return this;
    }

    /** The number of ranks. */
    public int count() {
        return last - first + 1;
    }

    /** The text that {@link #parse} reads. */
    public String text() {
        return count() == 0 ? NONE_TEXT : first == last ? Integer.toString(first) : first + "-" + last;
    }
}
