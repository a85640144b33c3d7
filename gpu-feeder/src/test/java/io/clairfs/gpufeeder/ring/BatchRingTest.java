package io.clairfs.gpufeeder.ring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The ring as another process sees it, and the messages about it. */
final class BatchRingTest {
    private static final RingLayout LAYOUT = new RingLayout(3, 5, new SampleFormat(ElementType.FLOAT32, List.of(7, 9)));

    @Test
    void another_mapping_sees_header_samples_labels_and_figures() throws IOException {
        try (BatchRing ring = BatchRing.make(LAYOUT, 2, 4, 90);
                FileChannel file = FileChannel.open(Path.of("/proc/self/fd/" + ring.descriptor()))) {
            ring.sample(2, 4).fill((byte) 7);
            ring.describe(2, 4, -1, 1L << 40);
            ring.publish(BatchRing.Figure.WAITED_NS, 123);
            ring.publish("ä".repeat(2000));
            ByteBuffer seen =
                    file.map(FileChannel.MapMode.READ_ONLY, 0, LAYOUT.bytes()).order(ByteOrder.LITTLE_ENDIAN);
            byte[] magic = new byte[8];
            seen.get(0, magic);
            assertThat(new String(magic, UTF_8)).isEqualTo("CLAIRFED");
            assertThat(seen.getInt(12)).isEqualTo(3);
            assertThat(seen.getLong(16)).isEqualTo(LAYOUT.slotBytes());
            assertThat(seen.getLong(32)).isEqualTo(7 * 9 * 4);
            assertThat(seen.getLong(72)).isEqualTo(2);
            assertThat(seen.getLong(88)).isEqualTo(90);
            assertThat(seen.getLong(104)).as("nothing is said of the job").isZero();
            ring.describeOrigin(-5, 7);
            assertThat(seen.getLong(104)).isEqualTo(-5);
            assertThat(seen.getLong(112)).isEqualTo(7);
            assertThat(seen.getLong(136)).isEqualTo(9);
            int slot = (int) LAYOUT.slot(2);
            assertThat(slot % 4096).isZero();
            assertThat(seen.get(slot + 4 * 252 - 1)).isZero();
            assertThat(seen.get(slot + 4 * 252)).isEqualTo((byte) 7);
            assertThat(seen.get(slot + 5 * 252 - 1)).isEqualTo((byte) 7);
            assertThat(seen.getLong(slot + (int) LAYOUT.labels() + 4 * 8)).isEqualTo(-1);
            assertThat(seen.getLong(slot + (int) LAYOUT.indices() + 4 * 8)).isEqualTo(1L << 40);
            assertThat(seen.getLong(4096 + 8 * 8)).isEqualTo(123);
            assertThat(seen.get(8191)).as("the note ends").isZero();
        }
    }

    @Test
    void no_two_parts_of_a_ring_overlap() {
        for (int batch : new int[] {1, 7, 512, 513}) {
            RingLayout layout = new RingLayout(2, batch, new SampleFormat(ElementType.UINT8, List.of(3)));
            assertThat(layout.labels()).isGreaterThanOrEqualTo(3L * batch);
            assertThat(layout.indices()).isGreaterThanOrEqualTo(layout.labels() + 8L * batch);
            assertThat(layout.slotBytes()).isGreaterThanOrEqualTo(layout.indices() + 8L * batch);
            assertThat(layout.slot(1) % 4096).isZero();
            assertThat(layout.bytes()).isEqualTo(layout.slot(1) + layout.slotBytes());
        }
    }

    @Test
    void messages_arrive_whole_and_in_order_and_the_end_of_the_trainer_is_seen() throws IOException {
        try (TrainerEnd trainer = new TrainerEnd();
                BatchRing ring = BatchRing.make(LAYOUT, 0, 0, 1)) {
            List<ToTrainer> sent = List.of(
                    new ToTrainer.Epoch(1, 2, 3),
                    new ToTrainer.Batch(2, 1, 2, 0, 5),
                    new ToTrainer.BadBatch(0, 1, 2, 1, "ä sample"),
                    new ToTrainer.Done(1, 3),
                    new ToTrainer.Failed("x".repeat(ToTrainer.TEXT_BYTES)));
            trainer.feeder().send(ring);
            for (ToTrainer message : sent) {
                trainer.feeder().send(message);
            }
            assertThat(trainer.receive()).isEqualTo(new ToTrainer.Hello(LAYOUT.bytes()));
            for (ToTrainer message : sent) {
                assertThat(trainer.receive()).isEqualTo(message);
            }
            trainer.seek(9, -1, 0);
            trainer.free(2, 77);
            assertThat(trainer.feeder().receive()).isEqualTo(new FromTrainer.Seek(9, -1, 0));
            assertThat(trainer.feeder().receive()).isEqualTo(new FromTrainer.Free(2, 77));
            trainer.end();
            assertThat(trainer.feeder().receive()).isNull();
            trainer.feeder().send(sent.getFirst()); // does nothing, and no signal ends this process
        }
    }

    @Test
    void an_epoch_or_a_step_beyond_all_is_refused_by_name() throws IOException {
        try (TrainerEnd trainer = new TrainerEnd()) {
            trainer.seek(1, 1L << 31, 0);
            trainer.seek(2, 0, 1L << 31);
            for (String what : List.of("epoch", "step")) {
                assertThatThrownBy(() -> trainer.feeder().receive())
                        .isInstanceOf(IOException.class)
                        .hasMessage("the trainer wants " + what + " 2147483648: there are 2147483647 at most");
            }
        }
    }

    @Test
    void a_rank_has_one_feeder() throws IOException {
        String place = "/mnt/" + ProcessHandle.current().pid();
        try (FeedAddress first = FeedAddress.listen(place, "train", 0);
                FeedAddress other = FeedAddress.listen(place, "train", 1)) {
            assertThat(first.accept(0)).isNull();
            assertThat(other.accept(0)).isNull();
            assertThatThrownBy(() -> FeedAddress.listen(place, "train", 0))
                    .hasMessageContaining("has a feeder already");
        }
        FeedAddress.listen(place, "train", 0).close();
    }

    @Test
    void another_kind_of_message_is_refused() {
        assertThatThrownBy(() -> FromTrainer.read(java.lang.foreign.MemorySegment.ofArray(new byte[40])))
                .hasMessageContaining("kind 0");
        assertThatThrownBy(() -> FromTrainer.read(java.lang.foreign.MemorySegment.ofArray(new byte[39])))
                .hasMessageContaining("39 bytes");
    }
}
