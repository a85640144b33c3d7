package io.clairfs.peer.directory;

import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.core.OperationTimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** How tests with real members wait: on a busy machine each step may take long, and a change of jobs may be lost with a connection. */
final class Waits {
    static final int WITHIN_SECONDS = 120;
    private static final int MOST_TIMES_TOLD = 5;

    private Waits() {}

    static void eventually(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WITHIN_SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime())
                    .as("it did not happen within " + WITHIN_SECONDS + " s")
                    .isLessThan(end);
            Thread.sleep(10);
        }
    }

    /** A change of jobs. */
    @FunctionalInterface
    interface Change {
        void make() throws TimeoutException;
    }

    /** Makes a change again while it is lost with a connection, as a node does. */
    static void untilTold(Change change) {
        for (int time = 1; ; time++) {
            try {
                change.make();
                return;
            } catch (TimeoutException lost) {
                assertThat(time).as(lost.getMessage()).isLessThan(MOST_TIMES_TOLD);
            }
        }
    }

    /** The same for a call of a map of Hazelcast's, which may be lost as well. */
    static void untilAnswered(Runnable call) {
        untilTold(() -> {
            try {
                call.run();
            } catch (OperationTimeoutException lost) {
                throw new TimeoutException("a member of the group does not answer: " + lost.getMessage());
            }
        });
    }
}
