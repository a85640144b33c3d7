package io.clairfs.cache.stage;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SlotRingTest {
    private static final int ROOM = 4;

    private final SlotRing ring = new SlotRing(ROOM);

    private void append(long from, long end, long head) {
        for (long s = from; s < end; s++) {
            ring.append(new StreamWindow.Slot(s, s, (int) s), head);
        }
    }

    @Test
    void positions_thatWereNotOverwritten_areThere_alsoAfterItHasGrown() {
        append(0, 10, 7);
        for (long s = 0; s < 10; s++) {
            assertThat(ring.has(s)).isEqualTo(s >= 10 - ROOM);
        }
        append(10, 12, 7); // grows, for 7 is still of use
        for (long s = 6; s < 12; s++) {
            assertThat(ring.has(s)).isEqualTo(s >= 7);
            if (s >= 7) {
                assertThat(ring.at(s).sequence).isEqualTo(s);
            }
        }
    }

    @Test
    void positions_behindTheOldestOfUse_areThereUntilTheyAreOverwritten() {
        append(0, ROOM, 0);
        append(ROOM, 2 * ROOM, 0); // grows
        append(2 * ROOM, 2 * ROOM + 1, 2 * ROOM);
        assertThat(ring.has(0)).isFalse();
        for (long s = 1; s <= 2 * ROOM; s++) {
            assertThat(ring.has(s)).isTrue();
            assertThat(ring.at(s).sequence).isEqualTo(s);
        }
    }
}
