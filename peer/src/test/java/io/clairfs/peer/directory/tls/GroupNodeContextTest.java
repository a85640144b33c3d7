package io.clairfs.peer.directory.tls;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a member's own scheduler is spared. */
@Timeout(120)
final class GroupNodeContextTest {
    private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @AfterEach
    void end() {
        scheduler.shutdownNow();
    }

    @Test
    void theOnlyTask_isForgotten_alsoWhileItRuns() throws Exception {
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        var _ = scheduler.scheduleWithFixedDelay(
                () -> {
                    runs.countDown();
                    awaitQuietly(mayEnd);
                },
                0,
                1,
                TimeUnit.HOURS);
        runs.await();
        CompletableFuture<Boolean> isForgotten = new CompletableFuture<>();
        Thread looker =
                Thread.ofPlatform().start(() -> isForgotten.complete(GroupNodeContext.forgetOnlyTask(scheduler)));
        while (looker.getState() != Thread.State.TIMED_WAITING && !isForgotten.isDone()) { // it has looked
            Thread.sleep(1);
        }
        mayEnd.countDown();
        assertThat(isForgotten.get()).isTrue();
        assertThat(scheduler.getQueue()).isEmpty();
    }

    @Test
    void ofSeveral_noneIsForgotten() {
        for (int i = 0; i < 2; i++) {
            var _ = scheduler.schedule(() -> {}, 1, TimeUnit.HOURS);
        }
        assertThat(GroupNodeContext.forgetOnlyTask(scheduler)).isFalse();
        assertThat(scheduler.getQueue()).hasSize(2);
    }
}
