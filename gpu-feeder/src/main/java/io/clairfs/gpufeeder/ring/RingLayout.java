package io.clairfs.gpufeeder.ring;

import io.clairfs.gpufeeder.decode.SampleFormat;

/**
 * Where things lie in a ring: a header, the feeder's figures, then the slots. A slot has the samples of one batch in C order, then their labels and
 * their indices as 64-bit numbers.
 *
 * <p>The header's first page describes the ring, so that a reader needs nothing else. Slots begin at pages: the ring can be pinned, and a batch is
 * aligned for every element type.
 *
 * @param slots batches that the ring holds
 * @param batch most samples of a batch
 */
public record RingLayout(int slots, int batch, SampleFormat format) {
    /** Two: one is filled while the trainer has the other. */
    public static final int FEWEST_SLOTS = 2;

    /** A message for each slot has to fit into the socket's buffer, so that the feeder never waits for a trainer that does not read. */
    public static final int MOST_SLOTS = 64;

    static final int PAGE = 4096;
    static final long FIGURES = PAGE;
    static final long FIRST_SLOT = 2L * PAGE;

    public RingLayout {
        if (slots < FEWEST_SLOTS || slots > MOST_SLOTS) {
            throw new IllegalArgumentException(slots + " slots: there must be " + FEWEST_SLOTS + " to " + MOST_SLOTS);
        }
        if (batch < 1) {
            throw new IllegalArgumentException("a batch of " + batch + " samples");
        }
        Math.multiplyExact(format.bytes(), (long) batch * slots);
    }

    /** From the beginning of a slot. */
    public long labels() {
        return roundUp(format.bytes() * batch, 64);
    }

    /** From the beginning of a slot. */
    public long indices() {
        return labels() + roundUp((long) batch * Long.BYTES, 64);
    }

    /** From the beginning of a slot to that of the next. */
    public long slotBytes() {
        return roundUp(indices() + (long) batch * Long.BYTES, PAGE);
    }

    public long slot(int slot) {
        return FIRST_SLOT + slot * slotBytes();
    }

    /** Of the whole ring. */
    public long bytes() {
        return slot(slots);
    }

    private static long roundUp(long bytes, long to) {
        return (bytes + to - 1) / to * to;
    }
}
