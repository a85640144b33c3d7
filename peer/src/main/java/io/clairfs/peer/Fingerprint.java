package io.clairfs.peer;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * The 128 bits that identify a dataset, and with it its numbering of samples.
 *
 * @param high the first eight bytes, big-endian
 * @param low the last eight
 */
public record Fingerprint(long high, long low) {
    public static final int BYTES = 16;

    /** Reads it from 16 bytes. */
    public static Fingerprint of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a fingerprint has " + BYTES + " bytes, not " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new Fingerprint(buffer.getLong(), buffer.getLong());
    }

    /** Its 16 bytes. */
    public byte[] bytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }

    @Override
    public String toString() {
        return HexFormat.of().toHexDigits(high) + HexFormat.of().toHexDigits(low);
    }
}
