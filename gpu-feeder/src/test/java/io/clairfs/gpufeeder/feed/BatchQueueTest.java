package io.clairfs.gpufeeder.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.gpufeeder.decode.ElementType;
import io.clairfs.gpufeeder.decode.SampleFormat;
import io.clairfs.gpufeeder.ring.BatchRing;
import io.clairfs.gpufeeder.ring.RingLayout;
import io.clairfs.gpufeeder.ring.ToTrainer;
import io.clairfs.gpufeeder.ring.TrainerEnd;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that take samples, and a trainer that goes on, elsewhere, or back, as it likes. */
@Timeout(60)
final class BatchQueueTest {
    private static final int EPOCHS = 4;
    private static final int SLOTS = 3;
    private static final int BATCH = 4;
    private static final int THREADS = 3;
    private static final SampleFormat FORMAT = new SampleFormat(ElementType.UINT8, List.of(1));

    @TempDir
    private Path root;

    private BatchQueue queue(TrainerEnd trainer, BatchRing ring, BatchQueue.Orders orders) throws Exception {
        return queue(trainer.feeder()::send, ring, orders);
    }

    private BatchQueue queue(BatchQueue.Outlet outlet, BatchRing ring, BatchQueue.Orders orders) throws Exception {
        Files.createDirectories(root.resolve(".clairfs"));
        Files.writeString(root.resolve(".clairfs/job"), "name=train seed=1 start_epoch=1 epochs=" + EPOCHS + "\n");
        MountedJob job = MountedJob.find(root, "train", 0);
        FeedOptions options = new FeedOptions(BATCH, false, SLOTS, THREADS, new FeedOptions.None(), null);
        return new BatchQueue(job, orders, options, ring, outlet, new FeedFigures());
    }

    private static BatchRing ring() throws IOException {
        return BatchRing.make(new RingLayout(SLOTS, BATCH, FORMAT), 1, 0, EPOCHS);
    }

    /** Epoch e has so many samples; the third is empty. */
    private static int[] order(int epoch) {
        int[] sizes = {9, 16, 0, 21};
        return IntStream.range(0, sizes[epoch]).map(i -> 100 * epoch + i).toArray();
    }

    private static Thread worker(int number, BatchQueue queue, Random random) {
        return Thread.ofPlatform().start(() -> {
            try {
                for (BatchQueue.Task task = queue.take(number); task != null; task = queue.take(number)) {
                    if (random.nextInt(4) == 0) {
                        LockSupport.parkNanos(random.nextInt(200_000));
                    }
                    int sample = task.batch().sample(task.at());
                    queue.finish(task, sample % 100 == 13 ? "bad " + sample : null);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void batches_come_in_order_wherever_the_trainer_goes_and_no_slot_is_lost(long seed) throws Exception {
        Random random = new Random(seed);
        try (TrainerEnd trainer = new TrainerEnd();
                BatchRing ring = ring()) {
            BatchQueue queue = queue(trainer, ring, BatchQueueTest::order);
            List<Thread> threads = new ArrayList<>();
            for (int number = 0; number < THREADS; number++) {
                threads.add(worker(number, queue, new Random(seed * 31 + number)));
            }
            BitSet mine = new BitSet();
            for (long turn = 1; turn <= 200; turn++) {
                int epoch = random.nextInt(-1, EPOCHS);
                int steps = epoch < 0 ? 4 : Math.ceilDiv(order(epoch).length, BATCH);
                int step = epoch < 0 || steps == 0 ? 0 : random.nextInt(steps + 1);
                queue.seek(turn, epoch, step);
                read(queue, trainer, mine, turn, epoch < 0 ? 1 : epoch, step, random);
            }
            queue.fail(null);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(queue.failure()).isNull();
        }
    }

    /** Takes what a turn has, to the end of the job or less far. */
    private static void read(
            BatchQueue queue, TrainerEnd trainer, BitSet mine, long turn, int fromEpoch, int fromStep, Random random)
            throws IOException {
        int epoch = fromEpoch;
        int step = fromStep;
        int most = random.nextInt(12);
        for (int taken = 0; taken < most; ) {
            ToTrainer message = trainer.receive();
            switch (message) {
                case ToTrainer.Batch(int slot, long ofTurn, int ofEpoch, int ofStep, int count) -> {
                    assertThat(mine.get(slot))
                            .as("slot %s is the trainer's", slot)
                            .isFalse();
                    if (ofTurn != turn) {
                        queue.free(slot);
                        continue;
                    }
                    while (step >= Math.ceilDiv(order(epoch).length, BATCH)) {
                        epoch++;
                        step = 0;
                    }
                    assertThat(List.of(ofEpoch, ofStep)).isEqualTo(List.of(epoch, step));
                    assertThat(count).isEqualTo(Math.min(BATCH, order(epoch).length - step * BATCH));
                    step++;
                    taken++;
                    mine.set(slot);
                    if (random.nextBoolean() || mine.cardinality() == SLOTS) {
                        giveBackOne(queue, mine);
                    }
                }
                case ToTrainer.BadBatch bad
                when bad.turn() == turn -> {
                    assertThat(mine.get(bad.slot())).isFalse();
                    queue.free(bad.slot());
                    while (step >= Math.ceilDiv(order(epoch).length, BATCH)) {
                        epoch++;
                        step = 0;
                    }
                    assertThat(bad)
                            .isEqualTo(new ToTrainer.BadBatch(bad.slot(), turn, epoch, 3, "bad " + (100 * epoch + 13)));
                    step++;
                    taken++;
                }
                case ToTrainer.Done done
                when done.turn() == turn -> {
                    assertThat(done.epoch()).isEqualTo(EPOCHS);
                    taken = most; // what was sent before it is given back in the next turn
                }
                case ToTrainer.BadBatch left -> queue.free(left.slot());
                case ToTrainer.Done _, ToTrainer.Epoch _ -> {}
                case ToTrainer.Hello _, ToTrainer.Failed _ -> throw new AssertionError(message);
            }
        }
        while (!mine.isEmpty()) {
            giveBackOne(queue, mine);
        }
    }

    private static void giveBackOne(BatchQueue queue, BitSet mine) throws IOException {
        int slot = mine.nextSetBit(0);
        mine.clear(slot);
        queue.free(slot);
    }

    @Test
    void an_order_that_is_late_is_asked_for_again_and_one_that_is_gone_ends_the_feed() throws Exception {
        try (TrainerEnd trainer = new TrainerEnd();
                BatchRing ring = ring()) {
            int[] asked = new int[1];
            BatchQueue queue = queue(trainer, ring, epoch -> {
                if (epoch == 2) {
                    throw new FeedException("gone");
                }
                if (asked[0]++ == 0) {
                    throw new OrderLaterException("the order");
                }
                return new int[] {5};
            });
            Thread thread = worker(0, queue, new Random(1));
            queue.seek(1, -1, 0);
            assertThat(trainer.receive()).isEqualTo(new ToTrainer.Epoch(1, 1, 1));
            assertThat(trainer.receive()).isEqualTo(new ToTrainer.Batch(0, 1, 1, 0, 1));
            assertThat(thread.join(java.time.Duration.ofNanos(TimeUnit.SECONDS.toNanos(30))))
                    .isTrue();
            assertThat(queue.failure()).hasMessage("gone");
        }
    }

    @Test
    void the_figures_of_a_batch_are_in_the_ring_before_the_trainer_hears_of_it() throws Exception {
        try (BatchRing ring = ring()) {
            List<Long> batches = new ArrayList<>();
            CountDownLatch sent = new CountDownLatch(SLOTS);
            BatchQueue queue = queue(
                    message -> {
                        if (message instanceof ToTrainer.Batch) {
                            batches.add(TrainerEnd.figure(ring, BatchRing.Figure.BATCHES));
                            sent.countDown();
                        }
                    },
                    ring,
                    BatchQueueTest::order);
            Thread thread = worker(0, queue, new Random(1));
            queue.seek(1, 0, 0);
            sent.await();
            queue.fail(null);
            thread.join();
            assertThat(batches).containsExactly(1L, 2L, 3L);
        }
    }
}
