package io.clairfs.cache.tier.ssd;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.clairfs.cache.dataset.Listing;
import io.clairfs.cache.view.View;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.zip.CRC32C;

/**
 * The file of a stored sample and its version. It identifies the sample after a restart, when file numbers differ.
 *
 * @param pathHigh first half of 128 bits of SHA-256 of the path in the dataset, and of the view where one has made the sample
 * @param pathLow second half
 * @param size bytes
 * @param mtimeNs nanoseconds since 1970
 */
record SampleIdentity(long pathHigh, long pathLow, long size, long mtimeNs) {
    private static final int BYTES = 32;
    private static final int HASH_BYTES = 16;
    /** CRC32C takes buffers, which end at 2 GiB. */
    private static final long CRC_PIECE = 1L << 30;

    private static final ValueLayout.OfLong BIG_LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ThreadLocal<MessageDigest> SHA_256 = ThreadLocal.withInitial(() -> {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    });

    /**
     * The identity of entry {@code at} of {@code listing}. What a view has made is another sample than what it was made of: its identity takes the
     * view's and the source's size in as well. Where a view keeps the source's files, their identity is that of the raw view.
     */
    static SampleIdentity of(View view, Listing listing, int at) {
        MessageDigest sha256 = SHA_256.get();
        boolean made = listing.isMade(at) && !view.keepsSource();
        if (made) {
            sha256.update(view.distinguish(listing.path(at)));
            sha256.update(ByteBuffer.allocate(Long.BYTES + 1)
                    .put((byte) 0)
                    .putLong(listing.sourceSize(at))
                    .flip());
        } else {
            sha256.update(listing.path(at));
        }
        MemorySegment hash = MemorySegment.ofArray(sha256.digest());
        return new SampleIdentity(
                hash.get(BIG_LONG, 0),
                hash.get(BIG_LONG, Long.BYTES),
                made ? listing.size(at) : listing.sourceSize(at),
                listing.mtimeNs(at));
    }

    /** 128 bits of SHA-256 of {@code bytes} in hexadecimal. */
    static String hexOf(byte[] bytes) {
        return HexFormat.of().formatHex(SHA_256.get().digest(bytes), 0, HASH_BYTES);
    }

    private CRC32C crcOfThis() {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(BYTES)
                .putLong(pathHigh)
                .putLong(pathLow)
                .putLong(size)
                .putLong(mtimeNs)
                .flip());
        return crc;
    }

    /** CRC32C of the data alone, from its {@link #crc} with this identity. */
    int crcOfData(int crc) {
        return Crc32cSum.second(crc, (int) crcOfThis().getValue(), size);
    }

    /** CRC32C of this identity followed by {@code data}: intact bytes of another sample do not pass. */
    int crc(MemorySegment data) {
        CRC32C crc = crcOfThis();
        for (long at = 0; at < data.byteSize(); at += CRC_PIECE) {
            crc.update(
                    data.asSlice(at, Math.min(CRC_PIECE, data.byteSize() - at)).asByteBuffer());
        }
        return (int) crc.getValue();
    }
}
