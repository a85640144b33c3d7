package io.clairfs.cache.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Looks that have answered when they are begun, or do nothing until the test says so; nobody waits for them. */
final class FileLooksTest {
    private static final int SAMPLES = 4;
    private static final String FILE = "/orders/{epoch}";

    private final List<Runnable> aside = new ArrayList<>();

    private static FileLooks by(Executor executor) {
        return new FileLooks(executor, _ -> 0);
    }

    private static void assertUnanswered(FileLooks looks, String file) {
        assertThatThrownBy(() -> looks.ofOrder(file, SAMPLES, () -> 1))
                .isInstanceOfSatisfying(OrderNotReadyException.class, e -> {
                    assertThat(e.isUnanswered()).isTrue();
                    assertThat(e.isMissing()).isFalse();
                })
                .hasMessage("order file " + file + " does not answer: look at its file system");
    }

    @Test
    void fileThatAnswers_isLookedAtAside() throws Exception {
        FileLooks looks = by(Runnable::run);
        int ofOrder = looks.ofOrder(FILE, SAMPLES, () -> 7);
        int ofState = looks.of("state file", "/rng", () -> 8);
        assertThat(List.of(ofOrder, ofState)).containsExactly(7, 8);
        assertThat(looks.lookedAt()).isNull();
    }

    @Test
    void ordersThatAreComputed_areComputedByTheCaller() throws Exception {
        int computed = by(aside::add).ofOrder(null, SAMPLES, () -> 7);
        assertThat(computed).isEqualTo(7);
        assertThat(aside).isEmpty();
    }

    @Test
    void fileThatDoesNotAnswer_isNotAskedAgainUntilItDoes_andOthersAre() throws Exception {
        FileLooks looks = by(aside::add);
        assertUnanswered(looks, FILE);
        assertUnanswered(looks, FILE);
        assertThat(aside).hasSize(1);
        assertThat(looks.late()).isEqualTo("order file " + FILE);
        assertUnanswered(looks, "/other");
        assertThat(aside).hasSize(2);

        aside.removeFirst().run();
        assertThat(looks.late()).isEqualTo("order file /other");
        assertUnanswered(looks, FILE);
        assertThat(aside).hasSize(2);
    }

    @Test
    void readersOfOneFileAtOnce_areAllAnswered() throws Exception {
        FileLooks looks = by(Runnable::run);
        int found = looks.ofOrder(FILE, SAMPLES, () -> {
            int foundMeanwhile = looks.ofOrder(FILE, SAMPLES, () -> 7);
            return foundMeanwhile + 1;
        });
        assertThat(found).isEqualTo(8);
    }

    /** Asks about the file while as many questions about it wait for their answers. */
    private static int askWithin(FileLooks looks, int others) throws InvalidSpecException {
        return looks.ofOrder(FILE, SAMPLES, () -> {
            if (others > 0) {
                return 1 + askWithin(looks, others - 1);
            }
            assertUnanswered(looks, FILE);
            assertThat(looks.late()).as("nobody has gone on without an answer").isNull();
            return 1;
        });
    }

    @Test
    void fileThatVeryManyAskAboutAtOnce_isNotLate() throws Exception {
        FileLooks looks = by(Runnable::run);
        assertThat(askWithin(looks, 63)).isEqualTo(64);
        int found = looks.ofOrder(FILE, SAMPLES, () -> 7);
        assertThat(found).isEqualTo(7);
    }

    // Promise J22
    @Test
    void slowFile_isWaitedForLongerTheNextTime_upToFiveMinutes_andNoLongerThanNeeded() throws Exception {
        AtomicLong nowNs = new AtomicLong();
        AtomicLong seconds = new AtomicLong(20);
        FileLooks looks = new FileLooks(
                look -> {
                    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(seconds.get()));
                    look.run();
                },
                _ -> 0,
                nowNs::get);
        int slow = looks.ofOrder(FILE, SAMPLES, () -> 7);
        assertThat(slow).isEqualTo(7);
        assertThat(looks.patienceNs(FILE, SAMPLES)).isEqualTo(TimeUnit.SECONDS.toNanos(40));
        assertThat(looks.patienceNs("/other", SAMPLES)).isZero();

        seconds.set(3600);
        int slower = looks.ofOrder(FILE, SAMPLES, () -> 8);
        assertThat(slower).isEqualTo(8);
        assertThat(looks.patienceNs(FILE, SAMPLES)).isEqualTo(TimeUnit.MINUTES.toNanos(5));

        seconds.set(1);
        int quick = looks.ofOrder(FILE, SAMPLES, () -> 9);
        assertThat(quick).isEqualTo(9);
        assertThat(looks.patienceNs(FILE, SAMPLES)).isZero();
    }

    @Test
    void filesThatWereSlow_areRememberedUpToABound() {
        AtomicLong nowNs = new AtomicLong();
        FileLooks looks = new FileLooks(aside::add, _ -> 0, nowNs::get);
        for (int file = 0; file < 65; file++) {
            assertUnanswered(looks, "/" + file);
        }
        nowNs.addAndGet(TimeUnit.SECONDS.toNanos(20));
        aside.forEach(Runnable::run);
        assertThat(looks.patienceNs("/0", SAMPLES)).as("forgotten").isZero();
        assertThat(looks.patienceNs("/1", SAMPLES)).isEqualTo(TimeUnit.SECONDS.toNanos(40));
        assertThat(looks.patienceNs("/64", SAMPLES)).isEqualTo(TimeUnit.SECONDS.toNanos(40));
    }

    @Test
    void filesThatHang_haveABoundedNumberOfThreads() {
        FileLooks looks = by(aside::add);
        for (int file = 0; file < 300; file++) {
            assertUnanswered(looks, "/" + file);
        }
        assertThat(aside).hasSize(256);
    }

    @Test
    void fileThatIsInvalid_orNotThere_andABug_areToldAsTheyAre() {
        FileLooks looks = by(Runnable::run);
        assertThatThrownBy(() -> looks.ofOrder(FILE, SAMPLES, () -> {
                    throw new InvalidSpecException("out of range");
                }))
                .isExactlyInstanceOf(InvalidSpecException.class)
                .hasMessage("out of range");
        assertThatThrownBy(() -> looks.ofOrder(FILE, SAMPLES, () -> {
                    throw new OrderNotReadyException("no such file", true);
                }))
                .isInstanceOfSatisfying(OrderNotReadyException.class, e -> {
                    assertThat(e.isMissing()).isTrue();
                    assertThat(e.isUnanswered()).isFalse();
                });
        assertThatThrownBy(() -> looks.ofOrder(FILE, SAMPLES, () -> {
                    throw new ArithmeticException("a bug");
                }))
                .isInstanceOf(ArithmeticException.class);
        assertThat(looks.lookedAt()).isNull();
    }

    @Test
    void noThread_isNoAnswer_andTheNextQuestionIsAsked() {
        FileLooks looks = by(_ -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        assertUnanswered(looks, FILE);
        assertThat(looks.lookedAt()).isNull();
    }

    @Test
    void patience_growsWithTheDataset_upToAMinute() {
        assertThat(FileLooks.usualPatienceNs(0)).isEqualTo(TimeUnit.SECONDS.toNanos(10));
        assertThat(FileLooks.usualPatienceNs(2_000_000)).isEqualTo(TimeUnit.SECONDS.toNanos(20));
        assertThat(FileLooks.usualPatienceNs(Integer.MAX_VALUE)).isEqualTo(TimeUnit.MINUTES.toNanos(1));
    }
}
