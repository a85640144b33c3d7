package io.clairfs.cache.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Orders that are computed aside: here by a thread that does nothing until the test says so. */
final class EpochOrdersTest {
    private static final int SAMPLES = 4;
    private static final String BEING_COMPUTED = "is still being computed, or read from its file";

    private final List<Integer> computed = new ArrayList<>();
    private final List<Runnable> aside = new ArrayList<>();
    private int news;
    private long nowNs;

    private EpochOrders inPlace(Sampler sampler) {
        return new EpochOrders(
                epoch -> {
                    computed.add(epoch);
                    return sampler.epoch(epoch);
                },
                SAMPLES,
                () -> nowNs);
    }

    private EpochOrders computedAside(Sampler sampler) {
        EpochOrders orders = inPlace(sampler);
        orders.computeAside(aside::add, () -> news++);
        return orders;
    }

    private static EpochOrder onlySample(int sample) {
        return EpochOrder.of(new int[] {sample});
    }

    private void run() {
        aside.removeFirst().run();
    }

    private static void assertNotReady(EpochOrders orders, int epoch, String reason) {
        assertThatThrownBy(() -> orders.now(epoch))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void untilSomebodyComputesAside_theCallerDoes() throws Exception {
        EpochOrders orders = inPlace(EpochOrdersTest::onlySample);
        assertThat(orders.now(3).sample(0, 0)).isEqualTo(3);
        orders.computeAside(aside::add, () -> news++);
        assertThat(orders.now(3).sample(0, 0)).as("it is kept").isEqualTo(3);
        assertThat(computed).containsExactly(3);
        assertThat(aside).isEmpty();
    }

    /** An order of this length that takes no memory. */
    private static EpochOrder ofLength(int length) {
        return new EpochOrder() {
            @Override
            public int length(int rank) {
                return length;
            }

            @Override
            public int sample(int rank, int step) {
                return 0;
            }
        };
    }

    private static long keptOf(EpochOrders orders, int epochs) throws InvalidSpecException {
        for (int epoch = 0; epoch < epochs; epoch++) {
            assertThat(orders.epoch(epoch)).isSameAs(orders.kept(epoch));
        }
        return IntStream.range(0, epochs)
                .filter(epoch -> orders.kept(epoch) != null)
                .count();
    }

    @ParameterizedTest
    @CsvSource({"4, 64", "100000, 10", "1000000, 6", "10000000, 3"})
    void ordersThatAreLongerThanTheDataset_areKeptByTheirLength(int length, int kept) throws Exception {
        assertThat(keptOf(inPlace(_ -> ofLength(length)), 100)).isEqualTo(kept);
    }

    @Test
    void whereOrdersBecomeLong_olderOnesGo_andWhatIsLeftBecomesMoreAgain() throws Exception {
        EpochOrders orders = inPlace(epoch -> ofLength(epoch == 50 ? 10_000_000 : 1000));
        assertThat(keptOf(orders, 51)).as("the long one, and those before it").isEqualTo(3);
        assertThat(keptOf(orders, 50)).as("the long one is gone").isEqualTo(50);
    }

    @Test
    void ordersThatAreNotKept_areComputedAside_oneAtATime() throws Exception {
        EpochOrders orders = computedAside(EpochOrdersTest::onlySample);
        assertNotReady(orders, 5, "the order of epoch 5 " + BEING_COMPUTED);
        assertNotReady(orders, 5, BEING_COMPUTED);
        assertNotReady(orders, 6, "the order of epoch 6 " + BEING_COMPUTED);
        assertThat(computed).isEmpty();
        assertThat(aside).hasSize(1);
        run();
        assertThat(news).isEqualTo(1);
        assertThat(orders.now(5).sample(0, 0)).isEqualTo(5);
        assertNotReady(orders, 6, BEING_COMPUTED);
        run();
        assertThat(orders.now(6).sample(0, 0)).isEqualTo(6);
        assertThat(computed).containsExactly(5, 6);
        assertThat(aside).isEmpty();
    }

    @Test
    void orderThatCannotBeComputedYet_isTriedAgainAfterAPause_andItsReasonStaysMeanwhile() throws Exception {
        boolean[] written = new boolean[1];
        EpochOrders orders = computedAside(epoch -> {
            if (!written[0]) {
                throw new OrderNotReadyException("no such file");
            }
            return onlySample(epoch);
        });
        assertNotReady(orders, 1, BEING_COMPUTED);
        run();
        assertThat(news).as("nobody can go on").isZero();
        assertNotReady(orders, 1, "no such file");
        assertThat(aside).as("it was tried a moment ago").isEmpty();
        nowNs += EpochOrders.RETRY_NS;
        assertNotReady(orders, 1, "no such file");
        assertThat(aside).hasSize(1);
        nowNs += EpochOrders.RETRY_NS;
        assertNotReady(orders, 1, BEING_COMPUTED); // its file does not answer
        written[0] = true;
        run();
        assertThat(news).isEqualTo(1);
        assertThat(orders.now(1).sample(0, 0)).isEqualTo(1);
    }

    @Test
    void orderThatIsInvalid_isToldToWhoeverAsksNext() {
        EpochOrders orders = computedAside(_ -> {
            throw new InvalidSpecException("out of range");
        });
        assertNotReady(orders, 1, BEING_COMPUTED);
        run();
        assertThat(news).isEqualTo(1);
        nowNs += 10 * EpochOrders.RETRY_NS; // all who might ask were busy
        assertThatThrownBy(() -> orders.now(1))
                .isExactlyInstanceOf(InvalidSpecException.class)
                .hasMessage("out of range");
    }

    @Test
    void bugInASampler_isToldToWhoeverAsksNext() {
        EpochOrders orders = computedAside(_ -> {
            throw new ArithmeticException("a bug");
        });
        assertNotReady(orders, 1, BEING_COMPUTED);
        run();
        assertThatThrownBy(() -> orders.now(1))
                .isInstanceOf(IllegalStateException.class)
                .hasRootCauseMessage("a bug");
    }

    @Test
    void noThread_isTriedAgainAfterAPause() throws Exception {
        EpochOrders orders = inPlace(EpochOrdersTest::onlySample);
        orders.computeAside(
                _ -> {
                    throw new OutOfMemoryError("unable to create native thread");
                },
                () -> news++);
        assertNotReady(orders, 1, "no thread could be started");
        orders.computeAside(aside::add, () -> news++);
        assertNotReady(orders, 1, "no thread could be started");
        assertThat(aside).isEmpty();
        nowNs += EpochOrders.RETRY_NS;
        assertNotReady(orders, 1, "no thread could be started");
        run();
        assertThat(orders.now(1).sample(0, 0)).isEqualTo(1);
    }

    @Test
    void abandoned_nothingIsBegun_andNobodyHearsOfWhatWas() {
        EpochOrders orders = computedAside(EpochOrdersTest::onlySample);
        assertNotReady(orders, 1, BEING_COMPUTED);
        orders.abandon();
        run();
        assertThat(news).isZero();
        assertNotReady(orders, 2, BEING_COMPUTED);
        assertThat(aside).isEmpty();
    }
}
