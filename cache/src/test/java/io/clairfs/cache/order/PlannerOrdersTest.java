package io.clairfs.cache.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Orders as the planner looks at them. Who looks at files does nothing until the test says so, so no answer comes in time. */
final class PlannerOrdersTest {
    private static final int SAMPLES = 4;
    private static final String FILE = "/orders/{epoch}";
    private static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final List<Runnable> aside = new ArrayList<>();
    private final EpochOrders ofTheJob = new EpochOrders(PlannerOrdersTest::onlySample, SAMPLES, () -> 0L);
    private int news;
    private long nowNs;

    private static EpochOrder onlySample(int sample) {
        return EpochOrder.of(new int[] {sample});
    }

    private PlannerOrders lookedAt(Sampler sampler, Executor executor) {
        PlannerOrders orders = new PlannerOrders(ofTheJob, FILE, () -> sampler, () -> nowNs, PATIENCE_NS);
        orders.lookAside(executor, () -> news++);
        return orders;
    }

    private PlannerOrders silent() {
        return lookedAt(PlannerOrdersTest::onlySample, aside::add);
    }

    private static void assertNoAnswer(PlannerOrders orders, int epoch, String file) {
        assertThatThrownBy(() -> orders.peek(epoch))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessage("order file " + file + " does not answer: look at its file system");
    }

    @Test
    void fileThatAnswers_isReadAside_andNobodyIsTold() throws Exception {
        PlannerOrders orders = lookedAt(PlannerOrdersTest::onlySample, Runnable::run);
        assertThat(orders.sampler().epoch(5).sample(0, 0)).isEqualTo(5);
        assertThat(orders.peek(6).sample(0, 0)).isEqualTo(6);
        assertThat(orders.isReady(7)).isTrue();
        assertThat(orders.isThere(7)).isTrue();
        assertThat(orders.unanswered()).isNull();
        assertThat(news).isZero();
    }

    @Test
    void fileThatDoesNotAnswer_isNotReady_andNoOtherIsAskedFor_untilItDoes() throws Exception {
        PlannerOrders orders = silent();
        assertNoAnswer(orders, 5, "/orders/5");
        assertThat(orders.unanswered()).contains("/orders/5");
        assertNoAnswer(orders, 6, "/orders/5");
        assertThat(orders.isReady(6)).isFalse();
        assertThat(orders.sampler().isReady(6)).isFalse();
        assertThatThrownBy(() -> orders.isThere(6)).isInstanceOf(OrderNotReadyException.class);
        assertThat(aside).hasSize(1);
        assertThat(news).isZero();

        aside.removeFirst().run();
        assertThat(news).isEqualTo(1);
        assertThat(orders.unanswered()).isNull();
        assertNoAnswer(orders, 6, "/orders/6");
        assertThat(aside).hasSize(1);
    }

    @Test
    void orderThatTheJobKeeps_isThere_whetherItsFileAnswersOrNot() throws Exception {
        EpochOrder kept = ofTheJob.epoch(5);
        PlannerOrders orders = silent();
        assertThat(orders.isReady(5)).isTrue();
        assertThat(orders.peek(5)).isSameAs(kept);
        assertThat(aside).isEmpty();
        assertThat(orders.sampler().epoch(5)).isSameAs(kept);
        assertThat(aside).as("a walk over many epochs looks at the files").hasSize(1);
    }

    @Test
    void slowFile_isWaitedForLongerInTheNextPlan_andNoLongerThanNeeded() {
        PlannerOrders orders = silent();
        orders.beginPlan();
        assertNoAnswer(orders, 5, "/orders/5");
        nowNs += TimeUnit.SECONDS.toNanos(20);
        aside.removeFirst().run();
        orders.beginPlan();
        assertThat(orders.patienceNs()).isEqualTo(TimeUnit.SECONDS.toNanos(40));
        orders.beginPlan();
        assertThat(orders.patienceNs()).as("all was quick").isEqualTo(PATIENCE_NS);

        assertNoAnswer(orders, 5, "/orders/5");
        nowNs += TimeUnit.HOURS.toNanos(1);
        aside.removeFirst().run();
        assertThat(orders.patienceNs()).isEqualTo(FileLooks.MOST_PATIENCE_NS);
    }

    @Test
    void fileThatIsInvalid_orNotThere_isToldAsItIs() {
        PlannerOrders invalid = lookedAt(
                _ -> {
                    throw new InvalidSpecException("out of range");
                },
                Runnable::run);
        assertThatThrownBy(() -> invalid.peek(1))
                .isExactlyInstanceOf(InvalidSpecException.class)
                .hasMessage("out of range");
        PlannerOrders missing = lookedAt(
                _ -> {
                    throw new OrderNotReadyException("no such file");
                },
                Runnable::run);
        assertThatThrownBy(() -> missing.sampler().epoch(1))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessage("no such file");
    }

    @Test
    void samplerThatCannotBeMade_isMadeWhenItsFileAnswers() throws Exception {
        List<OrderNotReadyException> unmade = new ArrayList<>(List.of(new OrderNotReadyException("no answer")));
        PlannerOrders orders = new PlannerOrders(
                ofTheJob,
                FILE,
                () -> {
                    if (!unmade.isEmpty()) {
                        throw unmade.removeFirst();
                    }
                    return PlannerOrdersTest::onlySample;
                },
                () -> nowNs,
                PATIENCE_NS);
        orders.lookAside(Runnable::run, () -> news++);
        assertThat(orders.isReady(5)).isFalse();
        assertThat(orders.isReady(5)).isTrue();
        assertThat(orders.peek(5).sample(0, 0)).isEqualTo(5);
    }

    @Test
    void bugInASampler_isThePlanners() {
        PlannerOrders orders = lookedAt(
                _ -> {
                    throw new ArithmeticException("a bug");
                },
                Runnable::run);
        assertThatThrownBy(() -> orders.peek(1))
                .isInstanceOf(ArithmeticException.class)
                .hasMessage("a bug");
    }

    @Test
    void noThread_isNoAnswer_andTheNextQuestionIsAsked() throws Exception {
        PlannerOrders orders = lookedAt(PlannerOrdersTest::onlySample, _ -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        assertThat(orders.isReady(1)).isFalse();
        assertThat(orders.unanswered()).isNull();
        orders.lookAside(Runnable::run, () -> news++);
        assertThat(orders.isReady(1)).isTrue();
        assertThat(news).isZero();
    }

    @Test
    void abandoned_nothingIsAsked_andNobodyHearsOfALateAnswer() {
        PlannerOrders orders = silent();
        assertNoAnswer(orders, 1, "/orders/1");
        orders.abandon();
        aside.removeFirst().run();
        assertThat(news).isZero();
        assertThat(orders.isReady(2)).isFalse();
        assertThat(aside).isEmpty();
    }

    @Test
    void ordersThatAreComputed_areComputedByTheCaller() throws Exception {
        PlannerOrders orders = new PlannerOrders(ofTheJob, SAMPLES, null, () -> PlannerOrdersTest::onlySample);
        orders.lookAside(aside::add, () -> news++);
        assertThat(orders.sampler().epoch(5).sample(0, 0)).isEqualTo(5);
        assertThat(orders.peek(6).sample(0, 0)).isEqualTo(6);
        assertThat(orders.isReady(7)).isTrue();
        assertThat(orders.isThere(7)).isTrue();
        assertThat(aside).isEmpty();
    }

    @Test
    void samplerThatCannotBeMadeNow_isNotReady_untilItCan() throws Exception {
        AtomicBoolean answers = new AtomicBoolean();
        PlannerOrders orders = new PlannerOrders(ofTheJob, SAMPLES, null, () -> {
            if (!answers.get()) {
                throw new OrderNotReadyException("its state does not answer");
            }
            return PlannerOrdersTest::onlySample;
        });
        Sampler silent = orders.sampler();
        assertThat(silent.isReady(5)).isFalse();
        assertThatThrownBy(() -> silent.epoch(5))
                .isInstanceOf(OrderNotReadyException.class)
                .hasMessage("its state does not answer");
        assertThatThrownBy(() -> orders.isThere(5)).isInstanceOf(OrderNotReadyException.class);
        answers.set(true);
        assertThat(orders.isThere(5)).isTrue();
        assertThat(orders.sampler().epoch(5).sample(0, 0)).isEqualTo(5);
    }

    @Test
    void untilSomebodyLooksAside_theCallerDoes() throws Exception {
        PlannerOrders orders =
                new PlannerOrders(ofTheJob, FILE, () -> PlannerOrdersTest::onlySample, () -> nowNs, PATIENCE_NS);
        assertThat(orders.sampler().epoch(5).sample(0, 0)).isEqualTo(5);
        assertThat(orders.isReady(6)).isTrue();
    }
}
