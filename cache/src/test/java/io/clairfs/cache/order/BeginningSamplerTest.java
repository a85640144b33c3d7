package io.clairfs.cache.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The orders of a job that begins. Who looks at files does nothing until the test says so, and nobody waits for it. */
final class BeginningSamplerTest {
    private static final int SAMPLES = 4;

    private final List<Runnable> aside = new ArrayList<>();
    private final FileLooks silent = new FileLooks(aside::add, _ -> 0);
    private final List<Integer> read = new ArrayList<>();

    private EpochOrder order(int epoch) {
        read.add(epoch);
        return EpochOrder.of(new int[] {epoch});
    }

    @Test
    void fileThatDoesNotAnswer_isNotReadyWhileTheJobBegins_andThenWaitedFor() throws Exception {
        BeginningSampler sampler = new BeginningSampler(this::order, "/orders/{epoch}", SAMPLES, silent);
        assertThatThrownBy(() -> sampler.epoch(3))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessage("order file /orders/{epoch} does not answer: look at its file system");
        assertThat(sampler.isReady(4)).isFalse();
        assertThat(aside).hasSize(1);
        assertThat(read).isEmpty();

        sampler.begun();
        assertThat(sampler.epoch(3).sample(0, 0)).isEqualTo(3);
        assertThat(sampler.isReady(4)).isTrue();
        assertThat(aside).as("whoever asks looks").hasSize(1);
    }

    @Test
    void fileThatAnswers_isReadAside() throws Exception {
        FileLooks quick = new FileLooks(
                look -> {
                    aside.add(look);
                    look.run();
                },
                _ -> 0);
        BeginningSampler sampler = new BeginningSampler(this::order, "/orders/{epoch}", SAMPLES, quick);
        assertThat(sampler.epoch(3).sample(0, 0)).isEqualTo(3);
        assertThat(sampler.isReady(4)).isTrue();
        assertThat(aside).hasSize(2);
    }

    @Test
    void ordersThatAreComputed_areComputedByTheCaller() throws Exception {
        BeginningSampler sampler = new BeginningSampler(this::order, null, SAMPLES, silent);
        assertThat(sampler.epoch(3).sample(0, 0)).isEqualTo(3);
        assertThat(aside).isEmpty();
    }
}
