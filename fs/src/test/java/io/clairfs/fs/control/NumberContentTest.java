package io.clairfs.fs.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers in pieces, against the same bytes in one piece. */
final class NumberContentTest {
    private static final int NUMBERS = 1000;

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void pieces_areThoseOfTheWhole(long seed) {
        Random random = new Random(seed);
        int[] numbers = random.ints(NUMBERS).toArray();
        ByteBuffer whole = ByteBuffer.allocate(NUMBERS * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(numbers).forEach(whole::putLong);
        NumberContent content = new NumberContent(numbers);
        for (int reads = 0; reads < 2000; reads++) {
            int offset = random.nextInt(whole.capacity() + 100);
            byte[] into = new byte[random.nextInt(200)];
            int read = content.read(offset, MemorySegment.ofArray(into));
            int from = Math.min(offset, whole.capacity());
            int to = Math.min(whole.capacity(), from + into.length);
            assertThat(Arrays.copyOf(into, read))
                    .as("offset %d", offset)
                    .isEqualTo(Arrays.copyOfRange(whole.array(), from, to));
        }
    }

    @Test
    void noNumbers_areAnEmptyFile() {
        NumberContent content = new NumberContent(new int[0]);
        assertThat(content.read(0, MemorySegment.ofArray(new byte[8]))).isZero();
        assertThat(content.heldBytes()).isZero();
    }

    @Test
    void offsetBeyondAllFiles_isTheEnd() {
        NumberContent content = new NumberContent(new int[] {1});
        assertThat(content.read(Long.MAX_VALUE, MemorySegment.ofArray(new byte[8])))
                .isZero();
    }
}
