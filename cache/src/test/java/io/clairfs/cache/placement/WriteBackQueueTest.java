package io.clairfs.cache.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The queue of samples on their way to a slow tier: order, bound, references. */
final class WriteBackQueueTest {
    private static boolean offer(WriteBackQueue queue, int file, long size) {
        SampleBuffer sample = SampleBuffer.allocate(size);
        boolean taken = queue.offer(file, sample);
        sample.release();
        return taken;
    }

    private static boolean comesOut(WriteBackQueue queue, int file) {
        SampleBuffer sample = queue.get(file);
        if (sample != null) {
            sample.release();
        }
        return sample != null;
    }

    @Test
    void next_givesThemInTheOrderInWhichTheyCame() {
        WriteBackQueue queue = new WriteBackQueue(100);
        assertThat(queue.next()).isEqualTo(WriteBackQueue.NONE);
        for (int file : new int[] {5, 3, 9}) {
            assertThat(offer(queue, file, 10)).isTrue();
        }
        assertThat(queue.next()).isEqualTo(5);
        assertThat(queue.next()).isEqualTo(3);
        assertThat(queue.next()).isEqualTo(9);
        assertThat(queue.next()).isEqualTo(WriteBackQueue.NONE);
    }

    @Test
    void sampleBeingWritten_canBeReadUntilItHasArrived() {
        WriteBackQueue queue = new WriteBackQueue(100);
        SampleBuffer sample = SampleBuffer.allocate(10);
        queue.offer(1, sample);
        sample.release();
        assertThat(queue.next()).isEqualTo(1);
        assertThat(comesOut(queue, 1)).isTrue();
        assertThat(queue.contains(1)).isTrue();
        assertThat(queue.bytes()).isEqualTo(10);
        queue.done(1);
        assertThat(queue.contains(1)).isFalse();
        assertThat(queue.get(1)).isNull();
        assertThat(queue.bytes()).isZero();
        assertThat(sample.tryRetain()).as("still held").isFalse();
    }

    @Test
    void full_refusesWhatDoesNotFit_andSaysThatWhatIsThereIsOnItsWay() {
        WriteBackQueue queue = new WriteBackQueue(100);
        assertThat(offer(queue, 1, 60)).isTrue();
        assertThat(offer(queue, 2, 41)).isFalse();
        assertThat(offer(queue, 1, 60)).isTrue();
        assertThat(queue.bytes()).isEqualTo(60);
        assertThat(offer(queue, 3, 40)).isTrue();
        assertThat(queue.bytes()).isEqualTo(100);
    }

    @Test
    void empty_takesASampleLargerThanItself() {
        WriteBackQueue queue = new WriteBackQueue(100);
        assertThat(offer(queue, 1, 101)).isTrue();
        assertThat(offer(queue, 2, 1)).isFalse();
        assertThat(queue.takesMore()).isFalse();
        queue.done(queue.next());
        assertThat(offer(queue, 2, 1)).isTrue();
    }

    @Test
    void takesMore_untilHalfOfItIsTaken() {
        WriteBackQueue queue = new WriteBackQueue(100);
        assertThat(queue.takesMore()).isTrue();
        offer(queue, 1, 50);
        assertThat(queue.takesMore()).isTrue();
        offer(queue, 2, 1);
        assertThat(queue.takesMore()).isFalse();
        assertThat(queue.next()).isEqualTo(1);
        assertThat(queue.takesMore()).as("it has not arrived").isFalse();
        queue.done(1);
        assertThat(queue.takesMore()).isTrue();
    }

    @Test
    void closed_dropsWhatWaits_butNotWhatIsBeingWritten() {
        WriteBackQueue queue = new WriteBackQueue(100);
        offer(queue, 1, 10);
        offer(queue, 2, 10);
        assertThat(queue.next()).isEqualTo(1);
        queue.close();
        assertThat(comesOut(queue, 1)).isTrue();
        assertThat(comesOut(queue, 2)).isFalse();
        assertThat(queue.next()).isEqualTo(WriteBackQueue.NONE);
        assertThat(offer(queue, 3, 10)).isFalse();
        assertThat(queue.takesMore()).isFalse();
        queue.done(1);
        assertThat(queue.bytes()).isZero();
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4})
    void manyThreads_eachSampleIsWrittenByOneAndEveryReferenceComesBack(long seed) throws Exception {
        System.out.println("seed " + seed);
        long capacity = 300;
        WriteBackQueue queue = new WriteBackQueue(capacity);
        ConcurrentHashMap<Integer, Thread> writing = new ConcurrentHashMap<>();
        List<List<SampleBuffer>> made = new ArrayList<>();
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(6)) {
            for (int t = 0; t < 6; t++) {
                boolean writer = t < 3;
                Random random = new Random(seed * 31 + t);
                List<SampleBuffer> madeHere = new ArrayList<>();
                made.add(madeHere);
                all.add(threads.submit(() -> {
                    for (int n = 0; n < 20_000; n++) {
                        int file = random.nextInt(30);
                        if (writer) {
                            write(queue, writing);
                        } else if (random.nextBoolean()) {
                            SampleBuffer sample = SampleBuffer.allocate(10L + file);
                            madeHere.add(sample);
                            queue.offer(file, sample);
                            sample.release();
                        } else {
                            SampleBuffer sample = queue.get(file);
                            if (sample != null) {
                                assertThat(sample.bytes().byteSize()).isEqualTo(10L + file);
                                sample.release();
                            }
                        }
                        assertThat(queue.bytes()).isBetween(0L, capacity);
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
        queue.close();
        assertThat(queue.bytes()).isZero();
        for (List<SampleBuffer> each : made) {
            assertThat(each).noneMatch(SampleBuffer::tryRetain);
        }
    }

    private static void write(WriteBackQueue queue, ConcurrentHashMap<Integer, Thread> writing) {
        int file = queue.next();
        if (file != WriteBackQueue.NONE) {
            assertThat(writing.put(file, Thread.currentThread()))
                    .as("two write " + file)
                    .isNull();
            assertThat(comesOut(queue, file)).isTrue();
            writing.remove(file);
            queue.done(file);
        }
    }
}
