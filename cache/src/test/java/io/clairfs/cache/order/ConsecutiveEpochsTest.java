package io.clairfs.cache.order;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.spec.Samplers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Epochs may be asked for in any order, and asking in order is cheap. */
class ConsecutiveEpochsTest {
    private final List<String> work = new ArrayList<>();

    /** Writes down what it is made to do; its order is its epoch. */
    private final class Recorded implements ConsecutiveEpochs.SmallRun<Recorded> {
        private int epoch;

        Recorded(int epoch) {
            this.epoch = epoch;
        }

        @Override
        public int[] next() {
            work.add("next " + epoch);
            return new int[] {epoch++};
        }

        @Override
        public void pass() {
            work.add("pass " + epoch++);
        }

        @Override
        public Recorded copy() {
            return new Recorded(epoch);
        }
    }

    @Test
    void inOrder_eachEpochIsMadeOnce() throws InvalidSpecException {
        Sampler epochs = ConsecutiveEpochs.of(10, new Recorded(0));
        for (int e = 0; e < 4; e++) {
            assertThat(epochs.epoch(e).sample(0, 0)).isEqualTo(e);
        }
        assertThat(work).containsExactly("next 0", "next 1", "next 2", "next 3");
    }

    @Test
    void backwards_beginsAtACheckpoint() throws InvalidSpecException {
        Sampler epochs = ConsecutiveEpochs.of(10, new Recorded(0));
        epochs.epoch(5);
        work.clear();
        assertThat(epochs.epoch(3).sample(0, 0)).isEqualTo(3);
        assertThat(epochs.epoch(7).sample(0, 0)).isEqualTo(7);
        assertThat(work).containsExactly("next 3", "pass 5", "pass 6", "next 7");
    }

    @Test
    void manyEpochs_keepFewCheckpoints() throws InvalidSpecException {
        Sampler epochs = ConsecutiveEpochs.of(10, new Recorded(0));
        epochs.epoch(10_000);
        work.clear();
        epochs.epoch(5_000);
        assertThat(work.size()).isBetween(1, 2 * 10_000 / ConsecutiveEpochs.MOST_CHECKPOINTS);
    }

    @Test
    void large_beginsAgainFromTheStart() throws InvalidSpecException {
        Sampler epochs = ConsecutiveEpochs.ofLarge(10, () -> new Recorded(0));
        epochs.epoch(2);
        work.clear();
        assertThat(epochs.epoch(1).sample(0, 0)).isEqualTo(1);
        assertThat(work).containsExactly("pass 0", "next 1");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sampler=torch-randperm",
                "sampler=torch-generator batch=3 workers=2 persistent_workers=true break_after=1,all,2",
                "sampler=torch-default draws_before=3 draws_between=700",
                "sampler=torch-default torch=1.8",
                "sampler=torch-default torch=1.5",
                "sampler=torch-generator torch=1.10",
                "sampler=torch-generator replacement=true num_samples=77",
                "sampler=torch-generator num_samples=77",
                "sampler=torch-generator reseed_each_epoch=true",
                "sampler=torch-generator endless=true batch=4",
                "sampler=torchdata-stateful seeded=generator workers=2",
                "sampler=torchdata-stateful seeded=default workers=2 persistent_workers=true",
                "sampler=accelerate use_seedable_sampler=false world=2",
                "sampler=numpy-legacy",
                "sampler=numpy-legacy in_place=true",
                "sampler=numpy-generator in_place=true",
                "sampler=python-random",
                "sampler=python-random method=sample",
                "sampler=dali shuffle_after_epoch=true",
                "sampler=tf-data count=-1 buffer_size=7",
                "sampler=dlio version=v1",
                "sampler=dlio version=v3 world=4 batch=2",
                "sampler=partial-local world=4 exchange=0.5"
            })
    void askedInAnyOrder_theEpochsAreTheSame(String keys) throws InvalidSpecException {
        int most = 200;
        long seed = Long.getLong("clairfs.test.seed", 1);
        Random random = new Random(seed);
        Sampler inOrder = Samplers.create(23, Keys.parse(keys + " seed=6"));
        List<List<Integer>> expected = new ArrayList<>();
        for (int e = 0; e < most; e++) {
            expected.add(list(inOrder.epoch(e)));
        }
        Sampler jumping = Samplers.create(23, Keys.parse(keys + " seed=6"));
        for (int i = 0; i < 60; i++) {
            int e = random.nextInt(most);
            assertThat(list(jumping.epoch(e)))
                    .as("epoch " + e + ", seed " + seed)
                    .isEqualTo(expected.get(e));
        }
    }

    private static List<Integer> list(EpochOrder order) {
        List<Integer> samples = new ArrayList<>();
        for (int step = 0; step < order.length(0); step++) {
            samples.add(order.sample(0, step));
        }
        return samples;
    }
}
