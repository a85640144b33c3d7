package io.clairfs.cache.seed;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.job.JobSpec;
import io.clairfs.cache.order.EpochOrder;
import io.clairfs.cache.order.InvalidSpecException;
import io.clairfs.cache.seed.RepeatedOrder.Verdict;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RepeatedOrderTest {
    private static final int SAMPLES = 5_000;
    private static final int FILES_BEFORE = 17;

    private final Random random = new Random(4);

    /** A list in batches that workers take in turn: what each reads. */
    private static List<List<Integer>> dealt(List<Integer> order, int workers, int batch) {
        List<List<Integer>> parts = new ArrayList<>();
        for (int worker = 0; worker < workers; worker++) {
            parts.add(new ArrayList<>());
        }
        for (int at = 0; at < order.size(); at++) {
            parts.get(at / batch % workers).add(order.get(at));
        }
        return parts;
    }

    private static List<Integer> samples(EpochOrder order, int rank) {
        return IntStream.range(0, order.length(rank))
                .mapToObj(step -> order.sample(rank, step))
                .toList();
    }

    private List<Integer> shuffled() {
        List<Integer> order = IntStream.range(0, SAMPLES).boxed().collect(Collectors.toList());
        Collections.shuffle(order, random);
        return order;
    }

    private interface Read {
        boolean by(int worker, int sample);
    }

    /** Lets the workers read in an order that chance gives, until {@code read} says false. */
    private void read(List<List<Integer>> parts, Read read) {
        int[] at = new int[parts.size()];
        for (int left = parts.stream().mapToInt(List::size).sum(); left > 0; ) {
            int worker = random.nextInt(parts.size());
            if (at[worker] < parts.get(worker).size()) {
                left--;
                if (!read.by(worker, parts.get(worker).get(at[worker]++))) {
                    return;
                }
            }
        }
    }

    private RepeatedOrder remembered(List<List<Integer>> parts) {
        FirstEpoch epoch = new FirstEpoch(FirstEpoch.MOST_READS);
        read(parts, (worker, sample) -> {
            epoch.add(1000 + worker, sample + FILES_BEFORE);
            return true;
        });
        epoch.add(7, 3); // no sample
        epoch.add(7, FILES_BEFORE); // somebody looks at the first one
        return RepeatedOrder.of(epoch, SAMPLES, file -> file - FILES_BEFORE);
    }

    private Verdict verdict(RepeatedOrder order, List<List<Integer>> parts) {
        Verdict[] said = {Verdict.OPEN};
        read(parts, (_, sample) -> (said[0] = order.read(sample)) == Verdict.OPEN);
        return said[0];
    }

    @ParameterizedTest
    @CsvSource({"1, 8", "2, 8", "8, 64", "16, 32", "60, 4"})
    void secondEpoch_thatRepeatsTheFirst_isKnown(int workers, int batch) {
        List<List<Integer>> parts = dealt(shuffled(), workers, batch);
        RepeatedOrder order = remembered(parts);
        assertThat(order.readers()).isEqualTo(workers);
        assertThat(order.length()).isEqualTo(SAMPLES);
        assertThat(verdict(order, parts)).isEqualTo(Verdict.REPEATS);
        assertThat(order.chance()).isLessThan(1e-9);
        EpochOrder learned = order.order();
        List<List<Integer>> ranks = new ArrayList<>();
        for (int rank = 0; rank < workers; rank++) {
            ranks.add(samples(learned, rank));
        }
        assertThat(ranks).containsExactlyInAnyOrderElementsOf(parts);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 60})
    void secondEpoch_inAnotherOrder_contradicts(int workers) {
        RepeatedOrder order = remembered(dealt(shuffled(), workers, 8));
        assertThat(verdict(order, dealt(shuffled(), workers, 8))).isEqualTo(Verdict.CONTRADICTED);
        assertThat(order.reads()).isLessThan(100);
    }

    @Test
    void tooManyReadersOrReads_areNotRemembered() {
        FirstEpoch few = new FirstEpoch(100);
        for (int i = 0; i < 101; i++) {
            few.add(1, i);
        }
        assertThat(few.hasOverflowed()).isTrue();
        assertThat(few.count()).isZero();

        FirstEpoch many = new FirstEpoch(1_000);
        for (int i = 0; i <= FirstEpoch.MOST_READERS; i++) {
            assertThat(many.hasOverflowed()).isFalse();
            many.add(i + 1, i);
        }
        assertThat(many.hasOverflowed()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sampler=torch-distributed seed=3 world=2 ranks=0-1 batch=4",
                "sampler=grain seed=3",
                "sampler=numpy-generator seed=3"
            })
    void lineOfARepeatedOrder_givesTheFirstEpochAgain(String line) throws InvalidSpecException {
        String repeated = FoundOrder.repeated(line).orElseThrow();
        EpochOrder first = JobSpec.parse(line).sampler(SAMPLES).epoch(0);
        EpochOrder later = JobSpec.parse(repeated).sampler(SAMPLES).epoch(5);
        assertThat(samples(later, 0)).isEqualTo(samples(first, 0)).hasSizeGreaterThan(1);
        assertThat(new FoundOrder(repeated, 5, 9, 9, 0).text()).endsWith(", order repeats every epoch, epoch 5");
        assertThat(FoundOrder.repeated(repeated)).isEmpty();
    }
}
