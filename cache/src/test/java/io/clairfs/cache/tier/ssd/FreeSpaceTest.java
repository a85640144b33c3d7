package io.clairfs.cache.tier.ssd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What may be written to a disk that is nearly full. */
final class FreeSpaceTest {
    private static final long RESERVE = 100_000;
    private static final long BLOCK = 4096;
    private static final long SAMPLE = 5 * BLOCK;

    private long freeBytes = RESERVE + 8 * BLOCK;
    private long nowNs;
    private final FreeSpace space = new FreeSpace(() -> freeBytes, RESERVE, () -> nowNs);

    @Test
    void aSecondWriter_isRefusedWhatTheFirstHasTaken() {
        assertThat(space.take(SAMPLE)).isTrue();
        assertThat(space.take(SAMPLE)).isFalse();
        nowNs += TimeUnit.SECONDS.toNanos(5); // measured anew, while nothing is on the disk yet
        assertThat(space.take(SAMPLE)).isFalse();
        freeBytes -= SAMPLE;
        space.written(SAMPLE);
        assertThat(space.take(SAMPLE)).isFalse();
        assertThat(space.take(BLOCK)).isTrue();
    }

    @Test
    void aDiskThatIsFull_hasRoomInPlaceOfWhatIsRemoved() {
        freeBytes = RESERVE - 2 * BLOCK;
        assertThat(space.allows(0)).isFalse();
        assertThat(space.allows(SAMPLE, SAMPLE + 2 * BLOCK)).isFalse();
        assertThat(space.allows(SAMPLE, SAMPLE + 3 * BLOCK)).isTrue();
    }

    @Test
    void aWriteThatFailed_takesNothing() {
        assertThat(space.take(SAMPLE)).isTrue();
        space.written(SAMPLE);
        assertThat(space.take(SAMPLE)).as("measured anew before a refusal").isTrue();
    }
}
