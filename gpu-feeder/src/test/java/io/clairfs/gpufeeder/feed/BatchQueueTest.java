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
import java.util.Collections;
import java.util.List;
import java.util.Objects;
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
@Timeout(300)
final class BatchQueueTest {
    private static final int EPOCHS = 4;
    private static final int SLOTS = 3;
    private static final int BATCH = 4;
    private static final int THREADS = 3;
    private static final long LOOK_EVERY_MS = 10;
    private static final SampleFormat FORMAT = new SampleFormat(ElementType.UINT8, List.of(1));

    @TempDir
    private Path root;

    private BatchQueue queue(TrainerEnd trainer, BatchRing ring, BatchQueue.Orders orders) throws Exception {
        return queue(trainer.feeder()::send, ring, orders);
    }

    private BatchQueue queue(BatchQueue.Outlet outlet, BatchRing ring, BatchQueue.Orders orders) throws Exception {
        return queue("start_epoch=1 epochs=" + EPOCHS, false, outlet, ring, orders);
    }

    private BatchQueue queue(
            String epochs, boolean dropLast, BatchQueue.Outlet outlet, BatchRing ring, BatchQueue.Orders orders)
            throws Exception {
        Files.createDirectories(root.resolve(".clairfs"));
        Files.writeString(root.resolve(".clairfs/job"), "name=train seed=1 " + epochs + "\n");
        MountedJob job = MountedJob.find(root, "train", 0);
        FeedOptions options = new FeedOptions(BATCH, dropLast, SLOTS, THREADS, new FeedOptions.None(), null, "raw");
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
            assertThat(thread.join(java.time.Duration.ofNanos(TimeUnit.SECONDS.toNanos(120))))
                    .isTrue();
            assertThat(queue.failure()).hasMessage("gone");
        }
    }

    @Test
    void a_job_without_end_none_of_whose_epochs_has_a_batch_is_refused_with_the_reason() throws Exception {
        for (int samples : new int[] {BATCH - 1, 0}) {
            try (BatchRing ring = ring()) {
                List<ToTrainer> sent = Collections.synchronizedList(new ArrayList<>());
                BatchQueue queue = queue("", true, sent::add, ring, epoch -> new int[epoch == 0 ? BATCH : samples]);
                Thread thread = worker(0, queue, new Random(1));
                queue.seek(1, 0, 0);
                thread.join();
                assertThat(sent.subList(0, 3))
                        .containsExactly(
                                new ToTrainer.Epoch(1, 0, 1),
                                new ToTrainer.Batch(0, 1, 0, 0, BATCH),
                                new ToTrainer.Epoch(1, 1, 0));
                assertThat(sent).hasSize(2 + 32 + 1);
                assertThat(sent.getLast())
                        .isEqualTo(new ToTrainer.Failed("32 epochs in a row have no batch for this rank"
                                + (samples == 0
                                        ? ": their orders are empty"
                                        : "; epoch 33 has 3 samples, fewer than a batch of 4: give a smaller batch, or"
                                                + " leave drop_last out")));
            }
        }
    }

    /** All epochs before the third have the same two samples; the order of that one cannot be read. */
    private static int[] orderBeforeTheThird(int epoch) throws FeedException {
        if (epoch == 2) {
            throw new FeedException("gone");
        }
        return new int[] {5, 6};
    }

    /** Waits until a thread has nothing more to do. */
    private static void awaitRest(Thread thread) throws InterruptedException {
        while (thread.isAlive() && thread.getState() != Thread.State.WAITING) {
            Thread.sleep(LOOK_EVERY_MS);
        }
    }

    @Test
    void an_order_that_is_gone_is_told_behind_the_batches_that_other_threads_still_fill() throws Exception {
        try (BatchRing ring = ring()) {
            List<ToTrainer> sent = Collections.synchronizedList(new ArrayList<>());
            BatchQueue queue = queue(sent::add, ring, BatchQueueTest::orderBeforeTheThird);
            queue.seek(1, 1, 0);
            BatchQueue.Task held = Objects.requireNonNull(queue.take(0));
            Thread other = worker(1, queue, new Random(1));
            awaitRest(other);
            assertThat(sent).containsExactly(new ToTrainer.Epoch(1, 1, 1));
            assertThat(queue.failure()).isNull();
            queue.finish(held, null);
            other.join();
            assertThat(sent)
                    .containsExactly(
                            new ToTrainer.Epoch(1, 1, 1),
                            new ToTrainer.Batch(0, 1, 1, 0, 2),
                            new ToTrainer.Failed("gone"));
            assertThat(queue.failure()).hasMessage("gone");
            assertThat(queue.isTold()).isTrue();
        }
    }

    @Test
    void a_trainer_that_goes_elsewhere_before_it_is_told_of_an_order_that_is_gone_goes_on() throws Exception {
        try (BatchRing ring = ring()) {
            List<ToTrainer> sent = Collections.synchronizedList(new ArrayList<>());
            BatchQueue queue = queue(sent::add, ring, BatchQueueTest::orderBeforeTheThird);
            queue.seek(1, 1, 0);
            BatchQueue.Task held = Objects.requireNonNull(queue.take(0));
            Thread other = worker(1, queue, new Random(1));
            awaitRest(other);
            queue.seek(2, 0, 0);
            other.join();
            queue.finish(held, null);
            assertThat(sent)
                    .containsExactly(
                            new ToTrainer.Epoch(1, 1, 1),
                            new ToTrainer.Epoch(2, 0, 1),
                            new ToTrainer.Batch(1, 2, 0, 0, 2),
                            new ToTrainer.Epoch(2, 1, 1),
                            new ToTrainer.Batch(2, 2, 1, 0, 2),
                            new ToTrainer.Failed("gone"));
        }
    }

    @Test
    void a_device_that_fails_behind_an_order_that_is_gone_is_told_at_once_and_otherwise_by_a_thread() throws Exception {
        ToTrainer later = new ToTrainer.Done(1, 0);
        for (int asked : new int[] {2, 1}) {
            try (TrainerEnd trainer = new TrainerEnd();
                    BatchRing ring = ring()) {
                BatchQueue queue = queue(_ -> {}, ring, BatchQueueTest::orderBeforeTheThird);
                if (asked == 2) {
                    Thread thread = worker(0, queue, new Random(1));
                    queue.seek(1, asked, 0);
                    thread.join();
                }
                Feeder.deviceFailed(new FeedException("no copy"), queue, trainer.feeder());
                trainer.feeder().send(later);
                assertThat(trainer.receive()).isEqualTo(asked == 2 ? new ToTrainer.Failed("no copy") : later);
                assertThat(queue.failure()).hasMessage(asked == 2 ? "gone" : "no copy");
                assertThat(queue.isTold()).isEqualTo(asked == 2);
            }
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
