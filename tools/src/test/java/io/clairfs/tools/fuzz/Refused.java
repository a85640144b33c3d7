package io.clairfs.tools.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/** Counts taken and refused inputs. Fails if an input was neither taken nor refused properly. */
final class Refused {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long MOST_BYTES = 256L << 20;
    private static final long LONGEST_S = 120;

    private final Fuzz fuzz;
    private final Class<? extends Exception> how;
    private int taken;
    private int refused;

    /** Only an exception of the class {@code how} refuses an input. */
    Refused(Fuzz fuzz, Class<? extends Exception> how) {
        this.fuzz = fuzz;
        this.how = how;
    }

    /** Reads an input. */
    @FunctionalInterface
    interface Reading {
        void read() throws Exception;
    }

    /** Reads one input, which must be taken, or refused in one line, in bounded time and memory. Returns whether it was taken. */
    boolean readIsTaken(Reading reading) {
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        long begun = System.nanoTime();
        boolean wasTaken = false;
        try {
            reading.read();
            wasTaken = true;
            taken++;
        } catch (Exception | StackOverflowError | OutOfMemoryError e) {
            if (!how.isInstance(e)) {
                fail("neither taken nor refused: " + fuzz.where(), e);
            }
            assertThat(e.getMessage()).as(fuzz.where()).isNotBlank().doesNotContain("\n", "Exception");
            refused++;
        }
        assertThat(System.nanoTime() - begun)
                .as("time of " + fuzz.where())
                .isLessThan(TimeUnit.SECONDS.toNanos(LONGEST_S));
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - bytes)
                .as("memory for " + fuzz.where())
                .isLessThan(MOST_BYTES);
        return wasTaken;
    }

    /** Prints the counts. Fails if no input was refused, because such inputs test nothing. */
    void sayAndCheck() {
        System.out.println("fuzz: " + taken + " taken, " + refused + " refused");
        assertThat(refused).isPositive();
    }
}
