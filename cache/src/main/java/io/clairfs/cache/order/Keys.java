package io.clairfs.cache.order;

import java.math.BigInteger;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One line of {@code key=value} pairs, read key by key.
 *
 * <p>Code that knows a key reads it with one of the typed getters; {@link #requireAllUsed} then refuses keys that were not read and names
 * the known ones. A line has at most 65,536 characters.
 */
public final class Keys {
    private static final int LONGEST_LINE = 64 * 1024;
    private static final BigInteger MIN_LONG = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigInteger MAX_UNSIGNED_LONG =
            BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,9}(\\.[0-9]{0,18})?|\\.[0-9]{1,18}");

    private final Map<String, String> values;
    private final Set<String> asked = new LinkedHashSet<>();

    private Keys(Map<String, String> values) {
        this.values = values;
    }

    /** Splits {@code line} at white space; every piece must be {@code key=value}, each key at most once. */
    public static Keys parse(String line) throws InvalidSpecException {
        if (line.length() > LONGEST_LINE) {
            throw new InvalidSpecException("the line has more than " + LONGEST_LINE + " characters");
        }
        Map<String, String> values = new LinkedHashMap<>();
        for (String pair : line.strip().split("\\s+", -1)) {
            int equals = pair.indexOf('=');
            if (equals <= 0) {
                throw new InvalidSpecException("'" + pair + "' is not key=value");
            }
            String key = pair.substring(0, equals);
            if (values.put(key, pair.substring(equals + 1)) != null) {
                throw new InvalidSpecException("key '" + key + "' is given twice");
            }
        }
        return new Keys(values);
    }

    /** The pairs of a line that was parsed before. */
    public static Keys of(Map<String, String> values) {
        return new Keys(values);
    }

    /** Whether the line has this key. */
    public boolean has(String key) {
        asked.add(key);
        return values.containsKey(key);
    }

    /** The value as text, or null. */
    public @Nullable String text(String key) {
        asked.add(key);
        return values.get(key);
    }

    /** The value as text, or {@code otherwise}. */
    public String text(String key, String otherwise) {
        String value = text(key);
        return value == null ? otherwise : value;
    }

    /** An integer of any size. */
    public BigInteger integer(String key, BigInteger otherwise) throws InvalidSpecException {
        String value = text(key);
        if (value == null) {
            return otherwise;
        }
        try {
            if (value.length() > 4096) {
                throw new NumberFormatException();
            }
            return new BigInteger(value);
        } catch (NumberFormatException e) {
            throw new InvalidSpecException(key + "='" + shorten(value) + "' is not an integer");
        }
    }

    /** An integer between {@code least} and {@code most}. */
    public long integer(String key, long otherwise, long least, long most) throws InvalidSpecException {
        BigInteger value = integer(key, BigInteger.valueOf(otherwise));
        if (value.compareTo(BigInteger.valueOf(least)) < 0 || value.compareTo(BigInteger.valueOf(most)) > 0) {
            throw new InvalidSpecException(
                    key + "=" + shorten(value.toString()) + " is out of range: " + least + " to " + most);
        }
        return value.longValueExact();
    }

    /** An integer between {@code least} and {@code most}. */
    public int integer(String key, int otherwise, int least, int most) throws InvalidSpecException {
        return (int) integer(key, (long) otherwise, (long) least, (long) most);
    }

    /** A number of at least 0, written with digits and at most one point, as {@code 0.8}. */
    public double decimal(String key, double otherwise) throws InvalidSpecException {
        String value = text(key);
        if (value == null) {
            return otherwise;
        }
        if (!DECIMAL.matcher(value).matches()) {
            throw new InvalidSpecException(key + "='" + shorten(value) + "' is not a number such as 0.8");
        }
        return Double.parseDouble(value);
    }

    /** A seed as torch takes it: -2^63 to 2^64-1, the upper half as its two's complement. */
    public BigInteger torchSeed(String key, long otherwise) throws InvalidSpecException {
        return requireTorchSeed(key, integer(key, BigInteger.valueOf(otherwise)));
    }

    /** Refuses a seed that torch does not take; {@code key} names it in the message. */
    public static BigInteger requireTorchSeed(String key, BigInteger value) throws InvalidSpecException {
        if (value.compareTo(MIN_LONG) < 0 || value.compareTo(MAX_UNSIGNED_LONG) > 0) {
            throw new InvalidSpecException(
                    key + "=" + shorten(value.toString()) + " is out of range: torch takes -2^63 to 2^64-1");
        }
        return value;
    }

    /** {@code true} or {@code false}; also 1 and 0, yes and no. */
    public boolean flag(String key, boolean otherwise) throws InvalidSpecException {
        String value = text(key);
        if (value == null) {
            return otherwise;
        }
        return switch (value) {
            case "true", "True", "1", "yes" -> true;
            case "false", "False", "0", "no" -> false;
            default -> throw new InvalidSpecException(key + "='" + shorten(value) + "' is neither true nor false");
        };
    }

    /** The index of the value in {@code allowed}; 0 when the key is not given. */
    public int choice(String key, String... allowed) throws InvalidSpecException {
        String value = text(key);
        if (value == null) {
            return 0;
        }
        int at = List.of(allowed).indexOf(value);
        if (at < 0) {
            throw new InvalidSpecException(key + "='" + shorten(value) + "' is none of " + String.join(", ", allowed));
        }
        return at;
    }

    /** Refuses keys that were not read. */
    public void requireAllUsed() throws InvalidSpecException {
        for (String key : values.keySet()) {
            if (!asked.contains(key)) {
                throw new InvalidSpecException(
                        "unknown key '" + shorten(key) + "'; known here: " + String.join(", ", new TreeSet<>(asked)));
            }
        }
    }

    /** The pairs as they were written. */
    public Map<String, String> asWritten() {
        return Collections.unmodifiableMap(values);
    }

    /** The text, cut to 80 characters for a message. */
    public static String shorten(String text) {
        return text.length() <= 80 ? text : text.substring(0, 77) + "...";
    }
}
