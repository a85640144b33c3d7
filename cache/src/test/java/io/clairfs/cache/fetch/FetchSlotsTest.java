package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class FetchSlotsTest {
    private static final int MOST = 3;
    private static final long GENEROUS_S = 60;

    private static final int MOST_LOST = 2;
    private static final long LOST_NS = 1000;

    private final AtomicLong clock = new AtomicLong();
    private final FetchSlots slots = new FetchSlots(MOST, MOST_LOST, LOST_NS, clock::get);

    private static Thread start(Runnable run) {
        return Thread.ofPlatform().daemon().start(run);
    }

    @Test
    void fetch_runsOnTheThreadThatBringsIt() {
        List<Thread> ran = new ArrayList<>();
        slots.run(() -> ran.add(Thread.currentThread()));
        assertThat(ran).containsExactly(Thread.currentThread());
    }

    @Test
    void beyondTheBound_fetchesAreLeft_andTakenInOrderByWhoIsDone() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        Semaphore begun = new Semaphore(0);
        List<Thread> holders = new ArrayList<>();
        for (int i = 0; i < MOST; i++) {
            holders.add(start(() -> slots.run(() -> {
                begun.release();
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            })));
        }
        assertThat(begun.tryAcquire(MOST, GENEROUS_S, TimeUnit.SECONDS)).isTrue();
        List<Thread> ran = Collections.synchronizedList(new ArrayList<>());
        slots.run(() -> ran.add(Thread.currentThread()));
        assertThat(ran).as("it was left, and this thread is free").isEmpty();
        gate.countDown();
        for (Thread holder : holders) {
            holder.join();
        }
        assertThat(ran).hasSize(1);
        assertThat(holders).contains(ran.getFirst());
    }

    @Test
    void manyAtOnce_areAllRun_andNeverMoreThanAllowed() throws Exception {
        int threads = 16;
        int each = 2000;
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(start(() -> {
                for (int k = 0; k < each; k++) {
                    slots.run(() -> {
                        most.accumulateAndGet(now.incrementAndGet(), Math::max);
                        Thread.onSpinWait();
                        now.decrementAndGet();
                        done.incrementAndGet();
                    });
                }
            }));
        }
        for (Thread thread : all) {
            thread.join();
        }
        assertThat(done).hasValue(threads * each);
        assertThat(most.get()).isLessThanOrEqualTo(MOST);
    }

    // Promise W2
    @Test
    void fetchesThatAreLost_makeRoomForOthers_upToABound() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        Semaphore begun = new Semaphore(0);
        List<Thread> lost = new ArrayList<>();
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < MOST + MOST_LOST; i++) {
            lost.add(start(() -> slots.run(() -> {
                begun.release();
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            })));
            assertThat(begun.tryAcquire(GENEROUS_S, TimeUnit.SECONDS)).isTrue();
            clock.addAndGet(LOST_NS);
        }
        clock.addAndGet(MOST * LOST_NS);
        slots.run(ran::incrementAndGet);
        assertThat(ran).as("too many are lost").hasValue(0);
        gate.countDown();
        for (Thread thread : lost) {
            thread.join();
        }
        slots.run(ran::incrementAndGet);
        assertThat(ran).hasValue(2);
    }

    @Test
    void end_beginsNone() {
        slots.close();
        slots.run(() -> {
            throw new AssertionError("it is over");
        });
    }
}
