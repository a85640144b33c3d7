package io.clairfs.cache.order;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The digest of an order, to compare orders in one line.
 *
 * @param length how many indices there are
 * @param sha256 SHA-256 over the indices as little-endian signed 64-bit numbers, in 64 hexadecimal digits
 */
public record OrderDigest(int length, String sha256) {
    private static final int CHUNK = 4096;

    /** The digest of what {@code rank} reads. */
    public static OrderDigest of(EpochOrder order, int rank) {
        MessageDigest digest = sha256Engine();
        int length = order.length(rank);
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int from = 0; from < length; from += CHUNK) {
            int to = Math.min(length - from, CHUNK) + from;
            for (int step = from; step < to; step++) {
                chunk.putLong(order.sample(rank, step));
            }
            digest.update(chunk.flip());
            chunk.clear();
        }
        return new OrderDigest(length, HexFormat.of().formatHex(digest.digest()));
    }

    private static MessageDigest sha256Engine() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        }
    }

    /** Length and digest, with a blank between. */
    @Override
    public String toString() {
        return length + " " + sha256;
    }
}
