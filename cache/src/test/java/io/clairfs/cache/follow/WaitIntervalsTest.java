package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The length of a union of intervals, beside a set of all moments. */
final class WaitIntervalsTest {
    private final WaitIntervals waits = new WaitIntervals();

    @Test
    void waitsSideBySide_countOnce() {
        waits.add(100, 200);
        waits.add(150, 250);
        waits.add(110, 120);
        assertThat(waits.totalNs()).isEqualTo(150);
        waits.add(300, 310);
        waits.add(90, 305);
        assertThat(waits.totalNs()).isEqualTo(220);
        waits.add(400, 400);
        assertThat(waits.totalNs()).isEqualTo(220);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void waitsNearlyInOrder_areTheirUnion(long seed) {
        Random random = new Random(seed);
        BitSet moments = new BitSet();
        List<int[]> all = new ArrayList<>();
        for (int i = 0, at = 0; i < 2_000; i++) {
            at += random.nextInt(20);
            all.add(new int[] {at, at + random.nextInt(30)});
        }
        for (int i = 0; i < all.size(); i += 16) {
            Collections.shuffle(all.subList(i, Math.min(all.size(), i + 16)), random);
        }
        for (int[] wait : all) {
            moments.set(wait[0], wait[1]);
            waits.add(wait[0], wait[1]);
            assertThat(waits.totalNs()).isEqualTo(moments.cardinality());
        }
    }

    @Test
    void whatIsOlderThanAllThatIsKept_isNotCountedTwice() {
        for (int i = 0; i < 2 * WaitIntervals.MOST; i++) {
            waits.add(10L * i, 10L * i + 5);
        }
        long known = waits.totalNs();
        assertThat(known).isEqualTo(5L * 2 * WaitIntervals.MOST);
        waits.add(0, 10 * WaitIntervals.MOST - 5); // up to the end of the last piece that is forgotten
        assertThat(waits.totalNs()).isEqualTo(known);
    }
}
