package io.clairfs.cache.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.tier.SampleBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What readers have in hand is held until they close it, or come for no more of it. */
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
