package io.clairfs.cache.order.python;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import io.clairfs.cache.order.random.Mt19937;
import io.clairfs.cache.order.random.Pcg64;
import io.clairfs.cache.order.random.SeedSequence;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/** A seed as numpy takes it: one number, or a list as in {@code [1,2,3]}; a list of one number is not the same as the number. */
public record NumpySeed(List<BigInteger> values, boolean isList) {
    private static final BigInteger MOST_LEGACY = BigInteger.valueOf(0xffffffffL);

    public NumpySeed {
        values = List.copyOf(values);
    }

    /** Reads key {@code seed}; 0 when absent. */
    public static NumpySeed read(Keys keys) throws InvalidSpecException {
        String text = keys.text("seed", "0");
        boolean isList = text.startsWith("[") && text.endsWith("]");
        String inner = isList ? text.substring(1, text.length() - 1) : text;
        List<BigInteger> values = new ArrayList<>();
        for (String part : isList ? inner.split(",", -1) : new String[] {inner}) {
            if (!part.matches("[+-]?[0-9]{1,4096}")) {
                throw new InvalidSpecException(
                        "seed='" + Keys.shorten(text) + "' is neither an integer nor a list as in [1,2,3]");
            }
            values.add(new BigInteger(part));
        }
        return new NumpySeed(values, isList);
    }

    /** The seed of {@code epoch} where the user seeds with seed + epoch each time. */
    NumpySeed plus(int epoch) throws InvalidSpecException {
        if (isList) {
            throw new InvalidSpecException("reseed_each_epoch adds the epoch to a number; seed is a list");
        }
        return new NumpySeed(List.of(values.get(0).add(BigInteger.valueOf(epoch))), false);
    }

    /** {@code np.random.RandomState(seed)}. */
    public Mt19937 legacy() throws InvalidSpecException {
        for (BigInteger value : values) {
            if (value.signum() < 0 || value.compareTo(MOST_LEGACY) > 0) {
                throw new InvalidSpecException(
                        "seed=" + Keys.shorten(value.toString()) + " is out of range: RandomState takes 0 to 2^32-1");
            }
        }
        return isList
                ? Mt19937.byArray(values.stream().mapToInt(BigInteger::intValue).toArray())
                : new Mt19937(values.get(0).intValue());
    }

    /** {@code np.random.default_rng(seed)}. */
    public Pcg64 generator() throws InvalidSpecException {
        for (BigInteger value : values) {
            if (value.signum() < 0) {
                throw new InvalidSpecException(
                        "seed=" + Keys.shorten(value.toString()) + " is negative: default_rng refuses it");
            }
        }
        return new Pcg64(new SeedSequence(values));
    }
}
