package io.clairfs.cache.order;

import static io.clairfs.cache.order.Golden.assertOrder;
import static io.clairfs.cache.order.Golden.ints;
import static io.clairfs.cache.order.Golden.number;
import static io.clairfs.cache.order.Golden.order;
import static io.clairfs.cache.order.Golden.tests;
import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.order.grain.GrainIndexShuffle;
import io.clairfs.cache.order.spec.OrderSpec;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The orders of the input pipelines: Grain, DALI, tf.data, DLIO. */
class PipelineGoldenTest {
    @TestFactory
    Stream<DynamicTest> grain() {
        return tests(Golden.file("grain_index_shuffle").get("cases"), c -> {
            if (c.has("max_index")) {
                GrainIndexShuffle shuffle = new GrainIndexShuffle(
                        Long.parseLong(number(c.get("max_index"))),
                        c.get("seed").asInt());
                for (int i = 0; i < c.get("out").size(); i++) {
                    assertThat(Long.toString(shuffle.at(i)))
                            .isEqualTo(number(c.get("out").get(i)));
                }
                return;
            }
            String spec = "sampler=grain samples=" + c.get("n") + " seed=" + number(c.get("seed"));
            if (c.has("epochs")) {
                for (int e = 0; e < c.get("epochs").size(); e++) {
                    assertOrder(c.get("epochs").get(e), order(spec + " epoch=" + e));
                }
            } else {
                OrderSpec order = order(spec);
                assertOrder(c.get("order"), order);
                assertThat(isPermutation(order.indices()))
                        .isEqualTo(c.get("is_permutation").asBoolean());
            }
        });
    }

    private static boolean isPermutation(int[] order) {
        int[] sorted = order.clone();
        Arrays.sort(sorted);
        return Arrays.equals(sorted, IntStream.range(0, order.length).toArray());
    }

    @TestFactory
    Stream<DynamicTest> dali() {
        return tests(Golden.file("dali_std_shuffle").get("cases"), c -> {
            String spec = "sampler=dali seed=99 samples=" + c.get("n");
            String kind = c.get("kind").asString();
            if (kind.equals("random_shuffle=True (once)")) {
                assertOrder(c.get("order"), order(spec));
                assertOrder(c.get("order"), order(spec + " epoch=7"));
                return;
            }
            assertThat(kind).startsWith("shuffle_after_epoch");
            boolean checkpointing = kind.contains("with checkpointing");
            assertThat(checkpointing).isNotEqualTo(kind.contains("cumulative"));
            for (int e = 0; e < c.get("epochs").size(); e++) {
                assertOrder(
                        c.get("epochs").get(e),
                        order(spec + " shuffle_after_epoch=true checkpointing=" + checkpointing + " epoch=" + e));
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> tfData() {
        return tests(Golden.file("tf_shuffle").get("cases"), c -> {
            int n = c.get("n").asInt();
            int count = c.get("count").asInt();
            String spec = "sampler=tf-data samples=" + n + " buffer_size=" + c.get("buffer_size") + " seed="
                    + c.get("seed") + " seed2=" + c.get("seed2") + " count=" + count + " reshuffle_each_iteration="
                    + c.get("reshuffle_each_iteration") + " epoch=";
            if (count == 1) {
                assertThat(order(spec + 0).indices()).containsExactly(ints(c.get("iterator1")));
                assertThat(order(spec + 1).indices()).containsExactly(ints(c.get("iterator2")));
            } else {
                assertThat(repeated(spec, count)).containsExactly(ints(c.get("iterator1")));
                assertThat(c.get("iterator2")).isEqualTo(c.get("iterator1"));
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> dlio() {
        return tests(Golden.file("dlio").get("cases"), c -> {
            String spec = "sampler=dlio " + c.get("spec").asString() + " rank=";
            for (String rank : c.get("ranks").propertyNames()) {
                assertOrder(c.get("ranks").get(rank), order(spec + rank));
            }
        });
    }

    private static int[] repeated(String spec, int epochs) throws InvalidSpecException {
        IntStream all = IntStream.empty();
        for (int e = 0; e < epochs; e++) {
            all = IntStream.concat(all, IntStream.of(order(spec + e).indices()));
        }
        return all.toArray();
    }

    /** Expected values of TensorFlow's own test of ShuffleAndRepeatDataset with a buffer for several epochs. */
    @Test
    void tfData_bufferLargerThanThreeEpochs() throws InvalidSpecException {
        String spec = "sampler=tf-data samples=3 buffer_size=10 seed=1 seed2=2 count=-1"
                + " reshuffle_each_iteration=false epoch=";
        assertThat(repeated(spec, 7)).containsExactly(2, 0, 1, 2, 0, 1, 1, 2, 0, 1, 0, 2, 2, 0, 1, 1, 0, 2, 2, 1, 0);
    }
}
