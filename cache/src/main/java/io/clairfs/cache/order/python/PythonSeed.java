package io.clairfs.cache.order.python;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.Keys;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * The number that {@code random.seed} makes of its argument: an integer as it is, text followed by its SHA-512, a float by its hash.
 * Sources: Lib/random.py, Python/pyhash.c.
 */
public final class PythonSeed {
    /** Python hashes numbers modulo the prime 2^61 - 1. */
    private static final BigInteger HASH_MODULUS = BigInteger.ONE.shiftLeft(61).subtract(BigInteger.ONE);

    private static final int HASH_OF_INFINITY = 314159;

    private PythonSeed() {}

    /**
     * Reads a seed as it stands in Python source: {@code 42}, {@code '42'} or {@code "42"} in quotes, {@code 0.5}.
     *
     * @throws InvalidSpecException when it is none of these
     */
    static BigInteger read(String text) throws InvalidSpecException {
        int last = text.length() - 1;
        if (last > 0 && (text.charAt(0) == '\'' || text.charAt(0) == '"') && text.charAt(last) == text.charAt(0)) {
            return ofText(text.substring(1, last));
        }
        try {
            return isInteger(text) ? new BigInteger(text) : ofFloat(Double.parseDouble(text));
        } catch (NumberFormatException e) {
            throw new InvalidSpecException(
                    "seed=" + Keys.shorten(text) + " is neither an integer, a float, nor text in quotes");
        }
    }

    /** Whether a seed as it stands in Python source is an integer. */
    static boolean isInteger(String text) {
        return text.matches("[+-]?[0-9]{1,4096}");
    }

    static BigInteger ofText(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        byte[] digest = sha512(bytes);
        byte[] joined = Arrays.copyOf(bytes, bytes.length + digest.length);
        System.arraycopy(digest, 0, joined, bytes.length, digest.length);
        return new BigInteger(1, joined);
    }

    private static byte[] sha512(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-512").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-512", e);
        }
    }

    /** {@code hash(value)} as the unsigned 64-bit number that seeding takes. */
    public static BigInteger ofFloat(double value) throws InvalidSpecException {
        if (Double.isNaN(value)) {
            throw new InvalidSpecException("seed=nan has another hash in every run: there is no order to predict");
        }
        long hash;
        if (Double.isInfinite(value)) {
            hash = value > 0 ? HASH_OF_INFINITY : -HASH_OF_INFINITY;
        } else {
            hash = hash(value);
        }
        return new BigInteger(Long.toUnsignedString(hash));
    }

    private static long hash(double value) {
        int exponent = Math.max(Math.getExponent(value), Double.MIN_EXPONENT) - 52;
        BigInteger mantissa = BigInteger.valueOf((long) Math.scalb(Math.abs(value), -exponent));
        BigInteger power = BigInteger.TWO.modPow(BigInteger.valueOf(exponent), HASH_MODULUS);
        long hash = mantissa.multiply(power).mod(HASH_MODULUS).longValueExact();
        long signed = value < 0 ? -hash : hash;
        return signed == -1 ? -2 : signed;
    }
}
