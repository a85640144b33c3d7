package io.clairfs.peer.transfer;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The bytes of requests and replies, big-endian.
 *
 * <pre>
 * REQUEST  type 1, 0, count u16, count x (id u32, sample u32, bytes u64, deadline us u32), crc32c of all before it
 * CANCEL   type 2, 0, count u16, count x (id u32), crc32c of all before it
 * DAMAGED  type 3, 0, count u16, count x (sample u32), crc32c of all before it; there is no answer
 * MAKE     type 4, as REQUEST
 * PING     type 5, 0, count u16, count x (id u32), crc32c of all before it
 * reply    type 16 data | 17 not here | 18 failed | 19 pong, reason u8, brought u16, id u32, sample u32, bytes u64, crc32c of the bytes,
 *          crc32c of all before it; then the bytes
 * </pre>
 *
 * <p>Brought is how long the node took to get the sample from the source for this reply, in tenths of a millisecond, at most 65535; 0 if it had the
 * sample.
 *
 * <p>MAKE asks a node to make the sample by its view if it does not have it, and only a node is asked that announces that it does
 * ({@code peer.directory.SpareThreads}): earlier versions do not know the frame.
 *
 * <p>PING is answered by PONG with its id at once, whatever else is owed. Only a node is pinged that has announced several rails.
 *
 * <p>Every request gets exactly one reply, cancelled or not: only then is its id free again. The header carries a checksum of
 * its own because a flipped bit in an id or a sample's number would deliver the wrong sample with the right checksum.
 */
public final class Frames {
    public static final int REQUEST = 1;
    public static final int CANCEL = 2;
    public static final int DAMAGED = 3;
    public static final int MAKE = 4;
    public static final int PING = 5;
    public static final int DATA = 16;
    public static final int NOT_HERE = 17;
    public static final int FAILED = 18;
    public static final int PONG = 19;

    public static final int FRAME_HEAD_BYTES = 4;
    static final int REQUEST_BYTES = 20;
    static final int CANCEL_BYTES = 4;
    static final int DAMAGED_BYTES = 4;
    static final int PING_BYTES = 4;
    public static final int CRC_BYTES = 4;
    public static final int REPLY_HEAD_BYTES = 28;

    /** The most entries of one frame. */
    public static final int MOST_ENTRIES = 256;

    static final int MOST_REQUESTS_IN_FLIGHT = 4096;

    private static final long BROUGHT_UNIT_NS = 100_000;
    private static final int MOST_BROUGHT = 0xFFFF;

    private Frames() {}

    /** Bytes of a frame of {@code count} entries, its checksum included; -1 for an unknown type. */
    public static int frameBytes(int type, int count) {
        return switch (type) {
            case REQUEST, MAKE -> FRAME_HEAD_BYTES + count * REQUEST_BYTES + CRC_BYTES;
            case CANCEL -> FRAME_HEAD_BYTES + count * CANCEL_BYTES + CRC_BYTES;
            case DAMAGED -> FRAME_HEAD_BYTES + count * DAMAGED_BYTES + CRC_BYTES;
            case PING -> FRAME_HEAD_BYTES + count * PING_BYTES + CRC_BYTES;
            default -> -1;
        };
    }

    /** Ends a frame or a reply's header that begins at {@code start} with the checksum of its bytes. */
    public static void seal(ByteBuf buffer, int start) {
        buffer.writeInt(crc(buffer, start, buffer.writerIndex() - start));
    }

    /** The checksum of a part of a buffer. */
    public static int crc(ByteBuf buffer, int start, int length) {
        return crc(buffer.nioBuffer(start, length));
    }

    /** The checksum of a buffer's remaining bytes. */
    public static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    /** The time in a reply's header for so many nanoseconds. */
    public static int brought(long ns) {
        return Math.clamp(ns / BROUGHT_UNIT_NS, 0, MOST_BROUGHT);
    }

    /** The nanoseconds of the time in a reply's header. */
    public static long broughtNs(int brought) {
        return brought * BROUGHT_UNIT_NS;
    }

    /** Writes the header of a reply. */
    public static void writeReply(
            ByteBuf out, int type, int reason, int brought, int id, int sample, long bytes, int crc) {
        int start = out.writerIndex();
        out.writeByte(type)
                .writeByte(reason)
                .writeShort(brought)
                .writeInt(id)
                .writeInt(sample)
                .writeLong(bytes)
                .writeInt(crc);
        seal(out, start);
    }
}
