package io.clairfs.cache.tier.ssd;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * One entry of a segment's index file: 56 bytes, little-endian, with a checksum of its own.
 *
 * <p>It repeats its segment and its place in the index, so that bytes of another file, left by a crash, are not taken for an entry. An
 * entry of zeros is invalid: its checksum is wrong.
 *
 * @param offset of the sample in the data file, bytes
 * @param segment number of the segment
 * @param entry place in the index, counted from 0
 * @param crc CRC32C of identity and data
 */
record IndexEntry(SampleIdentity identity, long offset, int segment, int entry, int crc) {
    static final int BYTES = 56;

    private static final int PATH_LOW_AT = 8;
    private static final int SIZE_AT = 16;
    private static final int MTIME_AT = 24;
    private static final int OFFSET_AT = 32;
    private static final int SEGMENT_AT = 40;
    private static final int ENTRY_AT = 44;
    private static final int CRC_AT = 48;
    private static final int OWN_CRC_AT = 52;
    private static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Writes it to the beginning of {@code into}. */
    void encode(MemorySegment into) {
        into.set(LONG, 0, identity.pathHigh());
        into.set(LONG, PATH_LOW_AT, identity.pathLow());
        into.set(LONG, SIZE_AT, identity.size());
        into.set(LONG, MTIME_AT, identity.mtimeNs());
        into.set(LONG, OFFSET_AT, offset);
        into.set(INT, SEGMENT_AT, segment);
        into.set(INT, ENTRY_AT, entry);
        into.set(INT, CRC_AT, crc);
        into.set(INT, OWN_CRC_AT, checksum(into));
    }

    /** Reads the 56 bytes of {@code from}; null when they are no entry. */
    static @Nullable IndexEntry decode(MemorySegment from) {
        if (from.get(INT, OWN_CRC_AT) != checksum(from)) {
            return null;
        }
        return new IndexEntry(
                new SampleIdentity(
                        from.get(LONG, 0),
                        from.get(LONG, PATH_LOW_AT),
                        from.get(LONG, SIZE_AT),
                        from.get(LONG, MTIME_AT)),
                from.get(LONG, OFFSET_AT),
                from.get(INT, SEGMENT_AT),
                from.get(INT, ENTRY_AT),
                from.get(INT, CRC_AT));
    }

    private static int checksum(MemorySegment entry) {
        CRC32C crc = new CRC32C();
        crc.update(entry.asSlice(0, OWN_CRC_AT).asByteBuffer());
        return (int) crc.getValue();
    }
}
