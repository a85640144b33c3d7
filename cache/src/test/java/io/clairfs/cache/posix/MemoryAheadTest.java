package io.clairfs.cache.posix;

import static org.assertj.core.api.Assertions.assertThat;

import io.clairfs.cache.testing.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With a mapping in place of the C library's heap. */
@SuppressWarnings("restricted")
final class MemoryAheadTest {
    private static final NativeFunction MMAP = NativeFunction.of("mmap");
    private static final NativeFunction MUNMAP = NativeFunction.of("munmap");
    private static final NativeFunction MINCORE = NativeFunction.of("mincore");
    private static final long READ_AND_WRITE = 3;
    private static final long PRIVATE_AND_ANONYMOUS = 0x22;
    private static final long STEP = MemoryAhead.STEP;
    private static final long STEPS = 40;
    private static final long PAGE = 4096;

    private final long mapping = MMAP.call(0, STEPS * STEP, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS, -1, 0);
    private final long heap = mapping + STEP - 1 & -STEP;
    private final AtomicLong heapEnd = new AtomicLong(heap + 8 * STEP);
    private final MemoryAhead ahead = new MemoryAhead(heapEnd::get, heap);

    @BeforeEach
    void start() {
        assertThat(mapping).isNotEqualTo(-1);
        ahead.start();
    }

    @AfterEach
    void unmap() {
        assertThat(MUNMAP.call(mapping, STEPS * STEP)).isZero();
    }

    @Test
    void whatBlocksTakeNext_isTouched_asMuchAsWasTakenBefore() {
        takeUntilTouched(2, 4);

        assertThat(touchedPages(4, 8)).isZero();
        assertThat(touchedPages(0, 2)).as("below the block").isZero();
    }

    @Test
    void contents_stayAsTheyAre() {
        MemorySegment third = MemorySegment.ofAddress(heap + 3 * STEP).reinterpret(STEP);
        third.set(ValueLayout.JAVA_LONG, 0, 42);

        takeUntilTouched(2, 4);

        assertThat(third.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
    }

    @Test
    void nothingBehindTheHeap_isTouched_untilTheHeapGrows() {
        takeUntilTouched(6, 8);
        assertThat(touchedPages(8, 30)).isZero();

        heapEnd.set(heap + 18 * STEP);

        takeUntilTouched(10, 18);
        assertThat(touchedPages(18, 30)).isZero();
    }

    @Test
    void blockThatIsNotInTheHeap_changesNothing() {
        ahead.taken(heap + 38 * STEP);

        takeUntilTouched(2, 4);

        assertThat(touchedPages(4, 38)).isZero();
    }

    @Test
    void heapThatBecameShorter_isFollowedAgain() {
        heapEnd.set(heap + 20 * STEP);
        takeUntilTouched(10, 20);

        heapEnd.set(heap + 4 * STEP);
        ahead.taken(heap + 21 * STEP);
        heapEnd.set(heap + 30 * STEP);

        takeUntilTouched(22, 30);
    }

    /** Takes a block that ends behind so many steps, again and again: a wake-up may fall together with another. */
    private void takeUntilTouched(int steps, int until) {
        Await.until("steps " + steps + " to " + until + " are touched", () -> {
            ahead.taken(heap + steps * STEP);
            return touchedPages(steps, until) == (until - steps) * STEP / PAGE;
        });
    }

    private long touchedPages(int from, int until) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pages = arena.allocate((until - from) * STEP / PAGE);
            assertThat((int) MINCORE.call(heap + from * STEP, (until - from) * STEP, pages.address()))
                    .isZero();
            return pages.elements(ValueLayout.JAVA_BYTE)
                    .filter(page -> (page.get(ValueLayout.JAVA_BYTE, 0) & 1) != 0)
                    .count();
        }
    }
}
