package io.clairfs.cache.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.status.ErrorLog;
import java.time.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class WorkerTest {
    private final ErrorLog errors = new ErrorLog(Clock.systemUTC());

    /** The thread that has made a step, once it has. */
    private final CompletableFuture<Thread> stepping = new CompletableFuture<>();

    private void noteThread() {
        stepping.complete(Thread.currentThread());
    }

    private void awaitItsEnd() throws InterruptedException {
        stepping.join().join();
    }

    @Test
    void step_is_done_again_and_again_until_the_worker_is_closed() throws InterruptedException {
        CountDownLatch steps = new CountDownLatch(3);
        Worker worker = new Worker(
                        "counter",
                        () -> {
                            noteThread();
                            steps.countDown();
                            LockSupport.parkNanos(1_000);
                        },
                        errors)
                .start();
        assertThat(steps.await(60, TimeUnit.SECONDS)).isTrue();

        worker.close();

        awaitItsEnd();
        assertThat(errors.lines()).isEmpty();
    }

    @Test
    void failing_step_does_not_end_the_worker_and_is_told_once_until_it_has_succeeded() throws Exception {
        AtomicInteger steps = new AtomicInteger();
        CompletableFuture<Integer> fifth = new CompletableFuture<>();
        try (Worker _ = new Worker("failing", () -> failUnlessThird(steps.incrementAndGet(), fifth), errors).start()) {
            assertThat(fifth.get(60, TimeUnit.SECONDS)).isEqualTo(5);
        }

        assertThat(errors.lines().stream().map(ErrorLog.Line::message))
                .containsOnly("failing failed, and goes on: java.lang.AssertionError: broken");
        assertThat(errors.total()).as("steps 1 and 4 of 1, 2, 4 told").isEqualTo(2);
    }

    @Test
    void failure_that_cannot_be_told_does_not_end_the_worker_either() throws Exception {
        ErrorLog full = new ErrorLog(Clock.systemUTC(), _ -> {
            throw new OutOfMemoryError("for the test");
        });
        AtomicInteger steps = new AtomicInteger();
        CompletableFuture<Integer> fifth = new CompletableFuture<>();
        try (Worker _ = new Worker("untold", () -> failUnlessThird(steps.incrementAndGet(), fifth), full).start()) {
            assertThat(fifth.get(60, TimeUnit.SECONDS)).isEqualTo(5);
        }
    }

    /** A step that ends the test is no failure, so the fifth waits to be closed. */
    private static void failUnlessThird(int step, CompletableFuture<Integer> fifth) {
        if (step >= 5) {
            fifth.complete(step);
            LockSupport.park();
        } else if (step != 3) {
            throw new AssertionError("broken");
        }
    }

    @Test
    void pause_after_a_failure_ends_with_the_worker() throws InterruptedException {
        CountDownLatch failed = new CountDownLatch(1);
        Worker worker = new Worker(
                        "pausing",
                        () -> {
                            noteThread();
                            failed.countDown();
                            throw new IllegalStateException("broken");
                        },
                        errors)
                .start();
        assertThat(failed.await(60, TimeUnit.SECONDS)).isTrue();

        worker.close();

        awaitItsEnd();
    }

    @Test
    void interrupt_ends_the_worker_without_an_error() throws InterruptedException {
        CountDownLatch waits = new CountDownLatch(1);
        Worker worker = new Worker(
                        "waiting",
                        () -> {
                            waits.countDown();
                            TimeUnit.DAYS.sleep(1);
                        },
                        errors)
                .start();
        assertThat(waits.await(60, TimeUnit.SECONDS)).isTrue();

        worker.end();
        worker.interrupt();
        worker.close();

        assertThat(errors.lines()).isEmpty();
    }

    @Test
    void worker_may_close_itself_and_one_that_never_began_is_closed_at_once() throws InterruptedException {
        CountDownLatch closed = new CountDownLatch(1);
        Worker[] self = new Worker[1];
        self[0] = new Worker(
                "self",
                () -> {
                    self[0].close();
                    closed.countDown();
                },
                errors);
        self[0].start();
        assertThat(closed.await(60, TimeUnit.SECONDS)).isTrue();

        new Worker("never", () -> {}, errors).close();
    }

    @Test
    void worker_that_does_not_end_is_left_behind() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch gate = new CountDownLatch(1);
        Worker stuck = new Worker(
                        "stuck",
                        () -> {
                            begun.countDown();
                            boolean _ = gate.await(1, TimeUnit.MINUTES);
                        },
                        errors)
                .start();
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

        stuck.close();

        assertThat(gate.getCount()).as("returned though the step still waits").isEqualTo(1);
        gate.countDown();
    }
}
