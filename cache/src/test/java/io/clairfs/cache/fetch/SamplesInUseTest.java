package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.Await;
import io.clairfs.cache.tier.SampleBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What readers have in hand is held until they close it, or come for no more of it. */
@Timeout(120)
final class SamplesInUseTest {
    private final AtomicLong clock = new AtomicLong();

    private SamplesInUse holding(long readersBytes) {
        return new SamplesInUse(readersBytes, clock::get);
    }

    @Test
    void closed_letsGoOfWhatThatReaderHadInHandAndOfNothingElse() {
        try (SamplesInUse inUse = holding(SamplesInUse.READERS_BYTES)) {
            SampleBuffer first = SampleBuffer.allocate(100);
            SampleBuffer second = SampleBuffer.allocate(100);
            inUse.readInPieces(1, first);
            inUse.readInPieces(2, second);
            first.release();
            second.release();
            inUse.closed(new int[] {3, 1, 2}, 2);
            assertThat(first.tryRetain()).as("nobody holds it").isFalse();
            assertThat(inUse.get(1)).isNull();
            SampleBuffer again = inUse.get(2);
            assertThat(again).isSameAs(second);
            second.release();
        }
    }

    @Test
    void sampleForWhichItsReaderComesNoMore_isLetGo_someSecondsAfterItsLastRequest() {
        try (SamplesInUse inUse = holding(SamplesInUse.READERS_BYTES)) {
            SampleBuffer sample = SampleBuffer.allocate(100);
            inUse.readInPieces(1, sample);
            for (int requests = 0; requests < 3; requests++) {
                clock.addAndGet(TimeUnit.SECONDS.toNanos(4));
                assertThat(inUse.get(1)).isSameAs(sample);
                sample.release();
            }
            clock.addAndGet(TimeUnit.SECONDS.toNanos(6));
            assertThat(inUse.get(1)).isNull();
            sample.release();
        }
    }

    @Test
    void readersHoldNoMoreThanTheirs() {
        try (SamplesInUse inUse = holding(250)) {
            assertThat(inUse.hasRoomForReaders(250)).isTrue();
            assertThat(inUse.hasRoomForReaders(251)).isFalse();
            SampleBuffer sample = SampleBuffer.allocate(100);
            inUse.readInPieces(1, sample);
            assertThat(inUse.hasRoomForReaders(150)).isTrue();
            assertThat(inUse.hasRoomForReaders(151)).isFalse();
            sample.release();
        }
    }

    @Test
    void whatReadersHoldBeyondTheirs_isLetGo_theLeastRecentlyReadFirst() {
        try (SamplesInUse inUse = holding(250)) {
            for (int file = 1; file <= 2; file++) {
                SampleBuffer sample = SampleBuffer.allocate(100);
                inUse.readInPieces(file, sample);
                sample.release();
            }
            requireHeld(inUse, 1);
            SampleBuffer newcomer = SampleBuffer.allocate(100);
            inUse.readInPieces(3, newcomer);
            newcomer.release();
            assertThat(inUse.get(2)).isNull();
            requireHeld(inUse, 1);
            requireHeld(inUse, 3);
            assertThat(inUse.hasRoomForReaders(50)).isTrue();
            assertThat(inUse.hasRoomForReaders(51)).isFalse();
        }
    }

    @Test
    void roomThatIsReservedForAFetch_isNotFree_beforeTheFetchEnds() {
        try (SamplesInUse inUse = holding(250)) {
            SampleBuffer sample = SampleBuffer.allocate(100);
            inUse.readInPieces(1, sample);
            sample.release();
            SamplesInUse.Reservation fetch = inUse.reserveFree(100);
            assertThat(fetch).isNotNull();
            assertThat(inUse.hasRoomForReaders(50)).isTrue();
            assertThat(inUse.hasRoomForReaders(51)).isFalse();
            assertThat(inUse.reserveFree(51)).isNull();
            requireHeld(inUse, 1);
            fetch.close();
            assertThat(inUse.hasRoomForReaders(150)).isTrue();
        }
    }

    @Test
    void roomForAFetch_isTakenFromWhatIsHeld_butNotFromOtherFetches() {
        try (SamplesInUse inUse = holding(250)) {
            for (int file = 1; file <= 2; file++) {
                SampleBuffer sample = SampleBuffer.allocate(100);
                inUse.readInPieces(file, sample);
                sample.release();
            }
            try (SamplesInUse.Reservation fetch = inUse.reserve(150, 0)) {
                assertThat(fetch).isNotNull();
                assertThat(inUse.get(1)).isNull();
                requireHeld(inUse, 2);
                assertThat(inUse.reserve(101, 0)).isNull();
            }
            assertThat(inUse.reserve(1000, 0))
                    .as("one that is too large goes alone")
                    .isNotNull();
            assertThat(inUse.reserve(1, 0)).isNull();
        }
    }

    @Test
    void fetchWithoutRoom_waitsForTheEndOfAnother() throws Exception {
        try (SamplesInUse inUse = holding(250)) {
            SamplesInUse.Reservation first = inUse.reserve(200, 0);
            assertThat(first).isNotNull();
            FutureTask<SamplesInUse.@Nullable Reservation> second =
                    new FutureTask<>(() -> inUse.reserve(100, Long.MAX_VALUE));
            Thread waiting = Thread.ofPlatform().daemon().start(second);
            Await.until("it waits", () -> waiting.getState() == Thread.State.TIMED_WAITING);
            first.close();
            assertThat(second.get(60, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void whateverThreadsDoAtOnce_readersHoldNoMoreThanTheirs_andNothingIsLeftInTheEnd() throws Exception {
        int threads = 4;
        Queue<SampleBuffer> all = new ConcurrentLinkedQueue<>();
        try (SamplesInUse inUse = holding(250)) {
            List<FutureTask<Void>> tasks = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                Random random = new Random(thread);
                FutureTask<Void> task = new FutureTask<>(() -> {
                    for (int n = 0; n < 2000; n++) {
                        all.addAll(step(inUse, random));
                    }
                    return null;
                });
                tasks.add(task);
                Thread.ofPlatform().daemon().start(task);
            }
            for (FutureTask<Void> task : tasks) {
                task.get(60, TimeUnit.SECONDS);
            }
            assertThat(inUse.hasRoomForReaders(0)).isTrue();
            inUse.closed(IntStream.range(0, 8).toArray(), 8);
            assertThat(inUse.hasRoomForReaders(250)).isTrue();
            assertThat(all).isNotEmpty().noneMatch(SampleBuffer::tryRetain);
        }
    }

    /** One thing that a reader or its fetch does. Returns the buffers that it has made, and given up. */
    private static List<SampleBuffer> step(SamplesInUse inUse, Random random) {
        int file = random.nextInt(8);
        List<SampleBuffer> made = new ArrayList<>();
        switch (random.nextInt(4)) {
            case 0 -> {
                SampleBuffer held = inUse.get(file);
                if (held != null) {
                    held.release();
                }
            }
            case 1 -> inUse.closed(new int[] {file}, 1);
            default -> {
                long bytes = 10 + 10L * file;
                try (SamplesInUse.Reservation room =
                        random.nextBoolean() ? inUse.reserveFree(bytes) : inUse.reserve(bytes, 1000)) {
                    if (room != null) {
                        SampleBuffer sample = SampleBuffer.allocate(bytes);
                        made.add(sample);
                        inUse.readInPieces(file, sample);
                        sample.release();
                    }
                }
            }
        }
        return made;
    }

    private static void requireHeld(SamplesInUse inUse, int file) {
        SampleBuffer held = inUse.get(file);
        assertThat(held).isNotNull();
        held.release();
    }

    @Test
    void roomOfSamplesForWhichNoReaderComes_isFree_someSecondsAfterTheirLastRequest() {
        try (SamplesInUse inUse = holding(250)) {
            SampleBuffer sample = SampleBuffer.allocate(200);
            inUse.readInPieces(1, sample);
            sample.release();
            assertThat(inUse.hasRoomForReaders(100)).isFalse();
            clock.addAndGet(TimeUnit.SECONDS.toNanos(6));
            assertThat(inUse.hasRoomForReaders(100)).isTrue();
        }
    }

    @Test
    void closed_whileALoaderHasIt_leavesItToTheLoader() {
        try (SamplesInUse inUse = holding(SamplesInUse.READERS_BYTES)) {
            SampleBuffer sample = SampleBuffer.allocate(100);
            inUse.take(1, sample);
            inUse.closed(new int[] {1}, 1);
            SampleBuffer got = inUse.get(1);
            assertThat(got).isSameAs(sample);
            sample.release();
            inUse.letGo(1, sample);
            sample.release();
        }
    }
}
