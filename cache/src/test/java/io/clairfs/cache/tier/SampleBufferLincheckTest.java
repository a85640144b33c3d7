package io.clairfs.cache.tier;

import io.clairfs.cache.testing.LincheckScenarios;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Reference counts of a sample under every interleaving that Lincheck tries, against {@link Counts}.
 *
 * <p>Each thread gives up only references that it has itself; the maker's belongs to the first. Public for Lincheck's sake.
 */
@Param(name = "thread", gen = ThreadIdGen.class)
@Tag("long")
public final class SampleBufferLincheckTest {
    private static final int THREADS = 8;

    private final SampleBuffer sample = SampleBuffer.allocate(8);
    private final int[] held = new int[THREADS];

    public SampleBufferLincheckTest() {
        held[1] = 1;
    }

    @Operation
    public boolean retain(@Param(name = "thread") int thread) {
        boolean taken = sample.tryRetain();
        held[thread] += taken ? 1 : 0;
        return taken;
    }

    @Operation
    public boolean release(@Param(name = "thread") int thread) {
        if (held[thread] == 0) {
            return false;
        }
        long readable = sample.bytes().byteSize();
        held[thread]--;
        sample.release();
        return readable == 8;
    }

    /** What the reference count should say. */
    public static final class Counts {
        private final int[] held = new int[THREADS];

        public Counts() {
            held[1] = 1;
        }

        public boolean retain(int thread) {
            for (int each : held) {
                if (each > 0) {
                    held[thread]++;
                    return true;
                }
            }
            return false;
        }

        public boolean release(int thread) {
            if (held[thread] == 0) {
                return false;
            }
            held[thread]--;
            return true;
        }
    }

    @Test
    void everyInterleaving_countsAreThoseOfTheModel() {
        LincheckScenarios.patient(new ModelCheckingOptions())
                .iterations(LincheckScenarios.times(3))
                .invocationsPerIteration(300)
                .threads(3)
                .actorsPerThread(3)
                .sequentialSpecification(Counts.class)
                .check(SampleBufferLincheckTest.class);
    }

    @Test
    void manyThreadsAtOnce_countsAreThoseOfTheModel() {
        LincheckScenarios.patient(new StressOptions())
                .iterations(LincheckScenarios.times(5))
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(3)
                .sequentialSpecification(Counts.class)
                .check(SampleBufferLincheckTest.class);
    }
}
