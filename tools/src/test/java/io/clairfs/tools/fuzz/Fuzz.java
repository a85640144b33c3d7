package io.clairfs.tools.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.clairfs.cache.testing.FurtherCases;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A given number of inputs that follow from a seed.
 *
 * <p>Every run has the same inputs, so that only a change makes a build fail. {@code -Dclairfs.fuzz.seed=N} tries other inputs,
 * {@code -Dclairfs.fuzz.factor=N} more. The seed is printed, and a failure names the seed and the round of its input.
 */
public final class Fuzz {
    private static final int MOST_PIECE = 400;
    private static final int MOST_REPEATED = 40_000;

    private final String name;
    private final List<String> words;
    private final long seed;
    private final long inputs;
    private long round = -1;
    private Random random = new Random(0);

    private Fuzz(String name, List<String> words, long seed, long inputs) {
        this.name = name;
        this.words = words;
        this.seed = seed;
        this.inputs = inputs;
    }

    /** Makes {@code inputs} inputs of one kind, or a part of them ({@link FurtherCases}). {@code words} are the words of its language. */
    public static Fuzz of(String name, int inputs, List<String> words) {
        long seed = Long.getLong("clairfs.fuzz.seed", 1);
        int factor = Integer.getInteger("clairfs.fuzz.factor", 1);
        System.out.println("fuzz " + name + ": seed " + seed);
        return new Fuzz(name, words, seed, factor == 1 ? FurtherCases.of(inputs) : (long) inputs * factor);
    }

    /** Begins the next input. Returns false after the last one. */
    public boolean next() {
        round++;
        random = new Random(seed * 1_000_003 + round);
        boolean more = round < inputs;
        if (!more) {
            System.out.println("fuzz " + name + ": " + round + " inputs");
        }
        return more;
    }

    /** The name of the current input, for the message of a failure. */
    public String where() {
        return name + " with seed " + seed + ", round " + round;
    }

    public Random random() {
        return random;
    }

    /** Returns one of these at random. */
    @SafeVarargs
    public final <T> T oneOf(T... all) {
        return all[random.nextInt(all.length)];
    }

    /** Random bytes, usually few. */
    public byte[] bytes() {
        byte[] bytes = new byte[random.nextInt(random.nextInt(10) == 0 ? MOST_REPEATED : MOST_PIECE)];
        random.nextBytes(bytes);
        return bytes;
    }

    /** The text, damaged by {@link #mutated(byte[])}. */
    public String mutated(String text) {
        return new String(mutated(text.getBytes(ISO_8859_1)), ISO_8859_1);
    }

    /** A copy of {@code valid} with one to eight mutations. */
    public byte[] mutated(byte[] valid) {
        byte[] bytes = valid.clone();
        for (int left = random.nextInt(1, 9); left > 0; left--) {
            bytes = mutatedOnce(bytes);
        }
        return bytes;
    }

    private byte[] mutatedOnce(byte[] bytes) {
        int at = random.nextInt(bytes.length + 1);
        int length = random.nextInt(bytes.length - at + 1);
        return switch (random.nextInt(9)) {
            case 0 -> replaced(bytes, at, 0, bytes());
            case 1 -> replaced(bytes, at, length, new byte[0]);
            case 2 -> replaced(bytes, at, 0, Arrays.copyOfRange(bytes, at, at + length));
            case 3 -> Arrays.copyOf(bytes, at);
            case 4 -> replaced(bytes, at, 0, repeated());
            case 5 -> replaced(bytes, at, 0, word());
            case 6 -> replaced(bytes, at, Math.min(length, 8), word());
            case 7 -> replaced(bytes, at, Math.min(length, 8), number());
            default -> flipped(bytes);
        };
    }

    private byte[] word() {
        return words.isEmpty()
                ? bytes()
                : words.get(random.nextInt(words.size())).getBytes(ISO_8859_1);
    }

    /** A piece, repeated. */
    private byte[] repeated() {
        byte[] piece = random.nextBoolean() ? word() : new byte[] {(byte) random.nextInt(256)};
        int times = random.nextInt(1 + MOST_REPEATED / Math.max(1, piece.length));
        byte[] all = new byte[piece.length * times];
        for (int i = 0; i < all.length; i++) {
            all[i] = piece[i % piece.length];
        }
        return all;
    }

    private byte[] number() {
        long value = oneOf(
                0L, 1L, -1L, 1L << 31, (1L << 31) - 1, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE, random.nextLong());
        return Long.toString(value).getBytes(ISO_8859_1);
    }

    private byte[] flipped(byte[] bytes) {
        byte[] changed = bytes.clone();
        if (changed.length > 0) {
            changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return changed;
    }

    private static byte[] replaced(byte[] bytes, int at, int length, byte[] by) {
        byte[] changed = Arrays.copyOf(bytes, bytes.length - length + by.length);
        System.arraycopy(by, 0, changed, at, by.length);
        System.arraycopy(bytes, at + length, changed, at + by.length, bytes.length - at - length);
        return changed;
    }
}
