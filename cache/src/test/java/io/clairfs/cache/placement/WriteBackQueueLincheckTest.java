package io.clairfs.cache.placement;

import io.clairfs.cache.testing.LincheckScenarios;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The queue before a slow tier under every interleaving that Lincheck tries, against {@link Waiting}. Public for Lincheck's sake. */
@Param(name = "thread", gen = ThreadIdGen.class)
@Param(name = "file", gen = IntGen.class, conf = "1:4")
@Tag("long")
public final class WriteBackQueueLincheckTest {
    private static final int THREADS = 8;
    private static final int CAPACITY = 60;
    private static final int BYTES_PER_FILE = 10;

    private final WriteBackQueue queue = new WriteBackQueue(CAPACITY);
    private final Queue<SampleBuffer> made = new ConcurrentLinkedQueue<>();
    private final int[] taken = new int[THREADS];

    @Operation
    public boolean offer(@Param(name = "file") int file) {
        SampleBuffer sample = SampleBuffer.allocate((long) BYTES_PER_FILE * file);
        made.add(sample);
        try {
            return queue.offer(file, sample);
        } finally {
            sample.release();
        }
    }

    @Operation
    public boolean get(@Param(name = "file") int file) {
        SampleBuffer sample = queue.get(file);
        if (sample == null) {
            return false;
        }
        boolean right = sample.bytes().byteSize() == (long) BYTES_PER_FILE * file;
        sample.release();
        return right;
    }

    @Operation
    public boolean contains(@Param(name = "file") int file) {
        return queue.contains(file);
    }

    /** What was taken before arrives, then the next is taken. */
    @Operation
    public int next(@Param(name = "thread") int thread) {
        if (taken[thread] > 0) {
            return 0;
        }
        int file = queue.next();
        taken[thread] = Math.max(0, file);
        return file;
    }

    @Operation
    public void done(@Param(name = "thread") int thread) {
        if (taken[thread] > 0) {
            queue.done(taken[thread]);
            taken[thread] = 0;
        }
    }

    @Operation
    public long bytes() {
        return queue.bytes();
    }

    @Operation
    public boolean takesMore() {
        return queue.takesMore();
    }

    @Operation
    public void close() {
        queue.close();
    }

    @Validate
    public void allIsGivenBackInTheEnd() {
        queue.close();
        for (int thread = 0; thread < THREADS; thread++) {
            done(thread);
        }
        if (queue.bytes() != 0) {
            throw new AssertionError(queue.bytes() + " bytes are left in the end");
        }
        for (SampleBuffer sample : made) {
            if (sample.tryRetain()) {
                throw new AssertionError("a sample of " + sample.size() + " bytes is still held");
            }
        }
    }

    /** What a queue for one thread would do. */
    public static final class Waiting {
        private final List<Integer> inside = new ArrayList<>();
        private final ArrayDeque<Integer> waiting = new ArrayDeque<>();
        private final int[] taken = new int[THREADS];
        private boolean closed;

        public boolean offer(int file) {
            if (inside.contains(file)) {
                return true;
            }
            if (closed || (bytes() > 0 && bytes() + (long) BYTES_PER_FILE * file > CAPACITY)) {
                return false;
            }
            inside.add(file);
            waiting.add(file);
            return true;
        }

        public boolean get(int file) {
            return inside.contains(file);
        }

        public boolean contains(int file) {
            return inside.contains(file);
        }

        public int next(int thread) {
            if (taken[thread] > 0) {
                return 0;
            }
            if (waiting.isEmpty()) {
                return WriteBackQueue.NONE;
            }
            taken[thread] = waiting.poll();
            return taken[thread];
        }

        public void done(int thread) {
            inside.removeIf(file -> file == taken[thread]);
            taken[thread] = 0;
        }

        public long bytes() {
            return inside.stream()
                    .mapToLong(file -> (long) BYTES_PER_FILE * file)
                    .sum();
        }

        public boolean takesMore() {
            return !closed && bytes() <= CAPACITY / 2;
        }

        public void close() {
            closed = true;
            inside.removeAll(waiting);
            waiting.clear();
        }
    }

    @Test
    void everyInterleaving_doesWhatOneThreadAtATimeWould() {
        LincheckScenarios.patient(new ModelCheckingOptions())
                .iterations(LincheckScenarios.times(3))
                .invocationsPerIteration(150)
                .threads(2)
                .actorsPerThread(3)
                .sequentialSpecification(Waiting.class)
                .check(WriteBackQueueLincheckTest.class);
    }

    @Test
    void manyThreadsAtOnce_doWhatOneThreadAtATimeWould() {
        LincheckScenarios.patient(new StressOptions())
                .iterations(LincheckScenarios.times(5))
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(3)
                .sequentialSpecification(Waiting.class)
                .check(WriteBackQueueLincheckTest.class);
    }
}
