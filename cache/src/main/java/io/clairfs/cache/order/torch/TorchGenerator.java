package io.clairfs.cache.order.torch;

import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.order.random.Mt19937;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * {@code torch.Generator} on the CPU: MT19937 seeded with the low 32 bits of the seed. Source: ATen/CPUGeneratorImpl.cpp.
 */
public final class TorchGenerator {
    /** Bytes that {@code get_state()} returns. */
    static final int STATE_BYTES = 5056;

    private static final int LEFT_AT = 8;
    private static final int SEEDED_AT = 12;
    private static final int NEXT_AT = 16;
    private static final int WORDS_AT = 24;

    private final Mt19937 words;

    private TorchGenerator(Mt19937 words) {
        this.words = words;
    }

    /** After {@code manual_seed(seed)}. */
    public static TorchGenerator seeded(BigInteger seed) {
        return seeded(seed.longValue());
    }

    /** After {@code manual_seed(seed)}. */
    public static TorchGenerator seeded(long seed) {
        return new TorchGenerator(new Mt19937((int) seed));
    }

    /**
     * After {@code set_state(state)}, little endian as on x86-64 and ARM.
     *
     * @throws InvalidSpecException when the bytes are not a state
     */
    public static TorchGenerator ofState(byte[] state) throws InvalidSpecException {
        if (state.length != STATE_BYTES) {
            throw new InvalidSpecException("a torch generator's state has " + STATE_BYTES + " bytes, not "
                    + state.length + "; write torch.get_rng_state().numpy().tobytes()");
        }
        ByteBuffer in = ByteBuffer.wrap(state).order(ByteOrder.LITTLE_ENDIAN);
        int left = in.getInt(LEFT_AT);
        long next = in.getLong(NEXT_AT);
        if (in.getInt(SEEDED_AT) != 1 || left < 1 || left > Mt19937.WORDS || next < 0 || next > Mt19937.WORDS) {
            throw new InvalidSpecException("these " + STATE_BYTES + " bytes are no state of a torch CPU generator");
        }
        int[] s = new int[Mt19937.WORDS];
        for (int i = 0; i < s.length; i++) {
            long word = in.getLong(WORDS_AT + 8 * i);
            if (word >>> 32 != 0) {
                throw new InvalidSpecException("these " + STATE_BYTES + " bytes are no state of a torch CPU generator");
            }
            s[i] = (int) word;
        }
        return new TorchGenerator(new Mt19937(s, left == 1 ? Mt19937.WORDS : (int) next));
    }

    public TorchGenerator copy() {
        return new TorchGenerator(words.copy());
    }

    /** {@code random()}: 32 bits, unsigned. */
    public int random() {
        return words.next32();
    }

    /** {@code random64()}. */
    public long random64() {
        return words.next64();
    }

    /** {@code torch.empty((), dtype=torch.int64).random_().item()}: 63 bits of two words. */
    public long int63() {
        return words.next64() & Long.MAX_VALUE;
    }

    /** Skips {@code count} words of 32 bits. */
    public void skip(long count) {
        words.skip(count);
    }
}
