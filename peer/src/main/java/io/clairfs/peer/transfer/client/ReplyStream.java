package io.clairfs.peer.transfer.client;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.transfer.Frames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.function.LongFunction;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Decodes replies from a stream of bytes that comes in any pieces.
 *
 * <p>While a sample's bytes are due, {@link #target()} is the sample's own memory for the socket to read into; bytes that came
 * together with a header are copied there.
 */
final class ReplyStream {
    /** The stream is invalid; nothing after this point can be decoded. */
    static final class GarbageException extends Exception {
        private static final long serialVersionUID = 1;

        private final String what;

        GarbageException(String what) {
            super(what, null, false, false);
            this.what = what;
        }

        String what() {
            return what;
        }
    }

    /** The header of a reply. Its checksum is verified; it is not compared with the request. */
    record Head(int type, int reason, int brought, int id, int sample, long bytes, int crc) {}

    /** Takes the replies. */
    interface Receiver {
        /** A reply begins. Returns whether its bytes, if it has any, are kept. */
        boolean begin(Head head) throws GarbageException;

        /** The reply is complete. The sample, null unless its bytes were kept, belongs to the receiver. */
        void end(Head head, @Nullable SampleBuffer sample, int crc) throws GarbageException;
    }

    private final Receiver receiver;
    private final LongFunction<SampleBuffer> memory;
    private final ByteBuffer headBytes = ByteBuffer.allocate(Frames.REPLY_HEAD_BYTES);
    private final CRC32C crc = new CRC32C();
    private @Nullable Head head;
    private @Nullable SampleBuffer sample;
    private @Nullable ByteBuffer body;
    private @Nullable ByteBuf target;
    private long toSkip;

    /** A stream that allocates the memory of samples with {@code memory}, given their sizes in bytes. */
    ReplyStream(Receiver receiver, LongFunction<SampleBuffer> memory) {
        this.receiver = receiver;
        this.memory = memory;
    }

    /** Where the next bytes belong; null if that is not known yet. */
    @Nullable
    ByteBuf target() {
        if (body == null) {
            return null;
        }
        target = Unpooled.wrappedBuffer(body.slice()).clear();
        return target;
    }

    /** How many bytes are certain to come: the rest of a sample; 0 between replies. */
    long wanted() {
        return body == null ? toSkip : body.remaining();
    }

    /** Decodes the next bytes and releases the buffer. */
    @SuppressWarnings("ReferenceEquality") // this very buffer, not one like it
    void read(ByteBuf in) throws GarbageException {
        try {
            if (in == target && body != null) { // its bytes are where they belong
                taken(body, in.readableBytes());
                return;
            }
            while (in.isReadable()) {
                readSome(in);
            }
        } finally {
            target = null;
            in.release();
        }
    }

    private void readSome(ByteBuf in) throws GarbageException {
        if (head == null) {
            readHead(in);
        } else if (body != null) {
            int length = Math.min(in.readableBytes(), body.remaining());
            in.readBytes(body.duplicate().limit(body.position() + length));
            taken(body, length);
        } else {
            int length = (int) Math.min(in.readableBytes(), toSkip);
            in.skipBytes(length);
            toSkip -= length;
            if (toSkip == 0) {
                end(head);
            }
        }
    }

    private void readHead(ByteBuf in) throws GarbageException {
        int length = Math.min(in.readableBytes(), headBytes.remaining());
        in.readBytes(headBytes.duplicate().limit(headBytes.position() + length));
        headBytes.position(headBytes.position() + length);
        if (headBytes.hasRemaining()) {
            return;
        }
        headBytes.flip();
        int crcAt = Frames.REPLY_HEAD_BYTES - Frames.CRC_BYTES;
        if (Frames.crc(headBytes.slice(0, crcAt)) != headBytes.getInt(crcAt)) {
            throw new GarbageException("a reply whose header has a wrong checksum");
        }
        Head next = new Head(
                headBytes.get(0),
                headBytes.get(1),
                Short.toUnsignedInt(headBytes.getShort(2)),
                headBytes.getInt(4),
                headBytes.getInt(8),
                headBytes.getLong(12),
                headBytes.getInt(20));
        headBytes.clear();
        boolean keep = receiver.begin(next);
        head = next;
        crc.reset();
        if (keep) {
            sample = memory.apply(next.bytes());
            body = sample.bytes().asByteBuffer();
        } else {
            toSkip = next.bytes();
        }
        if (next.bytes() == 0) {
            end(next);
        }
    }

    private void taken(ByteBuffer into, int length) throws GarbageException {
        crc.update(into.duplicate().limit(into.position() + length));
        into.position(into.position() + length);
        if (!into.hasRemaining() && head != null) {
            end(head);
        }
    }

    private void end(Head ended) throws GarbageException {
        SampleBuffer whole = sample;
        head = null;
        sample = null;
        body = null;
        receiver.end(ended, whole, (int) crc.getValue());
    }

    /** Releases an incomplete sample. */
    void close() {
        if (sample != null) {
            sample.release();
            sample = null;
            body = null;
        }
    }
}
