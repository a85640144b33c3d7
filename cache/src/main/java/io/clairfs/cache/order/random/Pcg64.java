package io.clairfs.cache.order.random;

/**
 * PCG64 (XSL-RR 128/64; M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms", 2014) as
 * numpy's {@code default_rng} runs it, with the spare half that its 32-bit draws keep. Source: numpy/random/src/pcg64.
 */
public final class Pcg64 implements Words {
    private static final long MULTIPLIER_HIGH = 0x2360ed051fc65da4L;
    private static final long MULTIPLIER_LOW = 0x4385df649fccf645L;

    private long high;
    private long low;
    private final long incrementHigh;
    private final long incrementLow;
    private boolean hasSpare;
    private int spare;

    public Pcg64(SeedSequence seed) {
        long[] v = seed.longs(4);
        incrementHigh = v[2] << 1 | v[3] >>> 63;
        incrementLow = v[3] << 1 | 1;
        step();
        add(v[0], v[1]);
        step();
    }

    private Pcg64(Pcg64 other) {
        high = other.high;
        low = other.low;
        incrementHigh = other.incrementHigh;
        incrementLow = other.incrementLow;
        hasSpare = other.hasSpare;
        spare = other.spare;
    }

    @Override
    public Pcg64 copy() {
        return new Pcg64(this);
    }

    private void step() {
        long product = Math.unsignedMultiplyHigh(low, MULTIPLIER_LOW) + high * MULTIPLIER_LOW + low * MULTIPLIER_HIGH;
        low *= MULTIPLIER_LOW;
        high = product;
        add(incrementHigh, incrementLow);
    }

    private void add(long otherHigh, long otherLow) {
        low += otherLow;
        high += otherHigh + (Long.compareUnsigned(low, otherLow) < 0 ? 1 : 0);
    }

    /** The next 64 bits; leaves the spare half alone. */
    public long next64() {
        step();
        return Long.rotateRight(high ^ low, (int) (high >>> 58));
    }

    @Override
    public int next32() {
        if (hasSpare) {
            hasSpare = false;
            return spare;
        }
        long both = next64();
        hasSpare = true;
        spare = (int) (both >>> 32);
        return (int) both;
    }

    /** The 128 bits of state and of the increment: high and low of each. */
    public long[] state() {
        return new long[] {high, low, incrementHigh, incrementLow};
    }
}
