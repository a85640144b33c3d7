package io.clairfs.peer.transfer.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.cache.tier.SampleBuffer;
import io.clairfs.peer.transfer.Frames;
import io.clairfs.peer.transfer.LeakWatch;
import io.clairfs.peer.transfer.ServedSamples;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Replies come out of the stream whole, however it is cut, and no memory is lost. */
final class ReplyStreamTest {
    private final List<SampleBuffer> allocated = new ArrayList<>();
    private final List<String> heard = new ArrayList<>();

    private final ReplyStream stream = new ReplyStream(
            new ReplyStream.Receiver() {
                @Override
                public boolean begin(ReplyStream.Head head) {
                    return head.type() == Frames.DATA && head.id() % 3 != 0;
                }

                @Override
                public void end(ReplyStream.Head head, @Nullable SampleBuffer sample, int crc) {
                    boolean right = sample != null && crc == head.crc();
                    heard.add(head.id() + " " + head.brought() + " " + head.bytes() + " "
                            + (sample == null ? "-" : right));
                    if (sample != null) {
                        sample.release();
                    }
                }
            },
            size -> {
                SampleBuffer buffer = SampleBuffer.allocate(size);
                allocated.add(buffer);
                return buffer;
            });

    private static void write(ByteBuf out, int id, int type, int size) {
        SampleBuffer sample = SampleBuffer.allocate(size);
        ServedSamples.fill(id, sample.bytes());
        Frames.writeReply(
                out,
                type,
                0,
                id & 0xFFFF,
                id,
                id,
                size,
                Frames.crc(sample.bytes().asByteBuffer()));
        out.writeBytes(sample.bytes().asByteBuffer());
        sample.release();
    }

    @Test
    void read_streamCutAnywhere_givesTheSameReplies() throws Exception {
        Random random = new Random(1);
        List<String> expected = new ArrayList<>();
        ByteBuf bytes = Unpooled.buffer();
        for (int id = 0; id < 300; id++) {
            boolean data = random.nextInt(4) != 0;
            int size = data ? random.nextInt(1 << random.nextInt(14)) : 0;
            write(bytes, id, data ? Frames.DATA : Frames.NOT_HERE, size);
            expected.add(id + " " + (id & 0xFFFF) + " " + size + " " + (data && id % 3 != 0 ? "true" : "-"));
        }
        while (bytes.isReadable()) {
            ByteBuf target = random.nextInt(3) != 0 ? stream.target() : null;
            int length = Math.min(bytes.readableBytes(), 1 + random.nextInt(5_000));
            if (target != null) {
                length = Math.min(length, target.writableBytes());
                target.writeBytes(bytes, length);
                stream.read(target);
            } else {
                stream.read(bytes.readRetainedSlice(length));
            }
        }
        bytes.release();
        assertThat(heard).containsExactlyElementsOf(expected);
        assertThat(allocated).noneMatch(SampleBuffer::tryRetain);
    }

    @Test
    void close_inTheMiddleOfASample_releasesIt() throws Exception {
        ByteBuf bytes = Unpooled.buffer();
        write(bytes, 1, Frames.DATA, 10_000);
        stream.read(bytes.readRetainedSlice(5_000));
        bytes.release();
        assertThat(allocated).hasSize(1);
        stream.close();
        assertThat(allocated.getFirst().tryRetain()).isFalse();
        assertThat(stream.target()).isNull();
    }

    @Test
    void read_damagedHeader_isGarbage() {
        for (int at = 0; at < Frames.REPLY_HEAD_BYTES; at++) {
            ByteBuf bytes = Unpooled.buffer();
            write(bytes, 1, Frames.DATA, 10);
            bytes.setByte(at, bytes.getByte(at) ^ 16);
            ReplyStream fresh = new ReplyStream(
                    new ReplyStream.Receiver() {
                        @Override
                        public boolean begin(ReplyStream.Head head) {
                            throw new AssertionError("nothing begins");
                        }

                        @Override
                        public void end(ReplyStream.Head head, @Nullable SampleBuffer sample, int crc) {}
                    },
                    SampleBuffer::allocate);
            assertThatThrownBy(() -> fresh.read(bytes)).isInstanceOf(ReplyStream.GarbageException.class);
            assertThat(bytes.refCnt()).isZero();
        }
    }

    @Test
    void leakWatch_seesALeak() throws Exception {
        LeakWatch watch = new LeakWatch();
        for (int i = 0; i < 200; i++) {
            lose();
        }
        watch.awaitReport();
        assertThatThrownBy(watch::end).isInstanceOf(AssertionError.class);
    }

    private static void lose() {
        assertThat(io.netty.buffer.ByteBufAllocator.DEFAULT.directBuffer(16).refCnt())
                .isEqualTo(1);
    }
}
