package io.clairfs.fs.control;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines that are made when they are read, against the same lines in one piece. */
final class LineContentTest {
    private static final int LINES = 5000;

    private static byte[] line(int number) {
        return ("x".repeat(number % 37) + number + "\n").getBytes(UTF_8);
    }

    private static String all() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < LINES; i++) {
            text.append(new String(line(i), UTF_8));
        }
        return text.toString();
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void pieces_areThoseOfTheWhole(long seed) {
        Random random = new Random(seed);
        String whole = all();
        LineContent content = new LineContent(LINES, LineContentTest::line, 0);
        for (int reads = 0; reads < 2000; reads++) {
            long offset = random.nextInt(whole.length() + 100);
            byte[] into = new byte[random.nextInt(5000)];
            int read = content.read(offset, MemorySegment.ofArray(into));
            int from = (int) Math.min(offset, whole.length());
            String expected = whole.substring(from, Math.min(whole.length(), from + into.length));
            assertThat(new String(into, 0, read, UTF_8)).as("offset %d", offset).isEqualTo(expected);
        }
    }

    @Test
    void readFromFrontToBack_makesEachLineOnce_exceptWherePiecesMeet() {
        AtomicInteger made = new AtomicInteger();
        IntFunction<byte[]> counted = number -> {
            made.incrementAndGet();
            return line(number);
        };
        LineContent content = new LineContent(LINES, counted, 0);
        byte[] piece = new byte[4096];
        StringBuilder text = new StringBuilder();
        int pieces = 0;
        for (int read; (read = content.read(text.length(), MemorySegment.ofArray(piece))) > 0; pieces++) {
            text.append(new String(piece, 0, read, UTF_8));
        }
        assertThat(text).hasToString(all());
        assertThat(made.get()).isBetween(LINES, LINES + pieces);
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 31, 3L << 30, 1L << 32, (1L << 32) + 7, Long.MAX_VALUE})
    void farBehindTheEnd_isNothing(long offset) {
        LineContent content = new LineContent(LINES, LineContentTest::line, 0);
        assertThat(content.read(offset, MemorySegment.ofArray(new byte[10]))).isZero();
    }

    @Test
    void noLines_isEmpty() {
        LineContent content = new LineContent(0, LineContentTest::line, 0);
        assertThat(content.read(0, MemorySegment.ofArray(new byte[10]))).isZero();
    }

    @Test
    void millionsOfLines_holdLittle() {
        assertThat(new LineContent(14_000_000, LineContentTest::line, 0).heldBytes())
                .isLessThan(1 << 20);
    }
}
