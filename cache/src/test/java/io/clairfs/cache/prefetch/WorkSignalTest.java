package io.clairfs.cache.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.worker.Activity;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads without work: one looks again by itself, news wakes all. */
@Timeout(120)
final class WorkSignalTest {
    private static final int THREADS = 8;

    /** Looks until a node is at rest, and then none within a test. */
    private static final int LOOKS = 5;

    private static final long FOR_EVER_MS = 3_600_000;

    private final Activity activity = new Activity();
    private volatile boolean mayRest = true;
    private final WorkSignal signal = new WorkSignal(activity, () -> mayRest, FOR_EVER_MS);
    private final Semaphore scouts = new Semaphore(0);
    private final Semaphore woken = new Semaphore(0);
    private final List<Thread> threads = new ArrayList<>();

    /** A thread that never finds work, and says of each look why it came to it. No news from now on escapes it, wherever it is when they come. */
    private void start() {
        long before = signal.seen();
        threads.add(Thread.ofPlatform().start(() -> {
            long seen = before;
            try {
                while (true) {
                    if (signal.await(seen)) {
                        scouts.release();
                    } else {
                        woken.release();
                        seen = signal.seen();
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
    }

    @AfterEach
    void end() throws InterruptedException {
        for (Thread thread : threads) {
            thread.interrupt();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void awaitAllWaiting() throws InterruptedException {
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
        }
    }

    @Test
    void withoutNews_threadsLookAgain_andNewsWakesEveryOne() throws Exception {
        for (int i = 0; i < THREADS; i++) {
            start();
        }
        scouts.acquire(2); // one of them looks again, and after it there is another
        awaitAllWaiting();
        signal.wake();
        woken.acquire(THREADS);
    }

    @Test
    void newsFromBeforeTheWait_endsIt() throws Exception {
        long seen = signal.seen();
        signal.wake(1);
        assertThat(signal.await(seen)).isFalse();
    }

    @Test
    void newsForOne_wakesOne_andLeavesAScout() throws Exception {
        mayRest = false; // there may be few looks before it rests
        for (int i = 0; i < THREADS; i++) {
            start();
        }
        awaitAllWaiting();
        signal.wake(1);
        woken.acquire();
        scouts.drainPermits();
        scouts.acquire();
    }

    private void beAtRest() throws InterruptedException {
        for (int i = 0; i < THREADS; i++) {
            start();
        }
        scouts.acquire(LOOKS);
        awaitAllWaiting();
    }

    @Test
    void atRest_onlyWhatHappensOnTheNode_makesALook() throws Exception {
        beAtRest();
        assertThat(scouts.tryAcquire(2, TimeUnit.SECONDS)).isFalse();
        for (int i = 0; i < LOOKS; i++) {
            activity.happened();
            scouts.acquire();
            scouts.drainPermits();
        }
    }

    @Test
    void whereWorkIsExpected_looksGoOn() throws Exception {
        mayRest = false;
        beAtRest();
        scouts.acquire(2);
    }

    @Test
    void atRest_newsForOne_makesTheScoutLook_too() throws Exception {
        beAtRest();
        signal.wake(1);
        woken.acquire(2);
    }

    @Test
    void atRest_newsWakesEveryOne() throws Exception {
        beAtRest();
        signal.wake();
        woken.acquire(THREADS);
    }
}
