package io.clairfs.cache.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class OnDemandThreadTest {
    @Test
    void tasks_runInOrder_onOneThreadOfThatName_andNotOnTheCallers() throws Exception {
        OnDemandThread thread = new OnDemandThread("on-demand-test");
        List<Integer> ran = Collections.synchronizedList(new ArrayList<>());
        List<Thread> on = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        thread.execute(() -> {
            try {
                assertThat(gate.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        for (int i = 0; i < 100; i++) {
            int number = i;
            thread.execute(() -> {
                ran.add(number);
                on.add(Thread.currentThread());
            });
        }
        assertThat(ran).as("the caller goes on").isEmpty();
        thread.execute(end::countDown);
        gate.countDown();
        assertThat(end.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).hasSize(100).isSorted();
        assertThat(on).allMatch(on.getFirst()::equals);
        assertThat(on.getFirst().getName()).isEqualTo("on-demand-test");
        assertThat(on.getFirst().isDaemon()).isTrue();
    }
}
