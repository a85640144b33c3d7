package io.clairfs.cache.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is kept in the room that homes leave, and what goes for it. */
final class FurtherCopiesTest {
    private final List<Integer> evicted = new ArrayList<>();

    private FurtherCopies copies(long capacity) {
        return new FurtherCopies(100, _ -> 10, capacity, 5);
    }

    @Test
    void offer_whileThereIsRoom_keepsAll() {
        FurtherCopies copies = copies(30);
        assertThat(copies.offer(1, 9, evicted::add)).isTrue();
        assertThat(copies.offer(2, 7, evicted::add)).isTrue();
        assertThat(copies.offer(3, 80, evicted::add)).isTrue();
        assertThat(copies.usedBytes()).isEqualTo(30);
        assertThat(evicted).isEmpty();
    }

    @Test
    void offer_usedSooner_evictsWhatIsUsedLast() {
        FurtherCopies copies = copies(20);
        copies.offer(1, 9, evicted::add);
        copies.offer(2, 12, evicted::add);
        assertThat(copies.offer(3, 6, evicted::add)).isTrue();
        assertThat(evicted).containsExactly(2);
        assertThat(copies.contains(2)).isFalse();
        assertThat(copies.contains(1)).isTrue();
    }

    @Test
    void offer_usedLaterOrAsLate_isRefused() {
        FurtherCopies copies = copies(10);
        copies.offer(1, 9, evicted::add);
        assertThat(copies.offer(2, 9, evicted::add)).isFalse();
        assertThat(copies.offer(3, 10, evicted::add)).isFalse();
        assertThat(copies.contains(1)).isTrue();
        assertThat(evicted).isEmpty();
    }

    @Test
    void latest_isTheOldestOfThoseDueLast_thatMayGo_andStays() {
        FurtherCopies copies = copies(40);
        assertThat(copies.latest(_ -> true)).isEqualTo(FurtherCopies.NONE);
        copies.offer(1, 9, evicted::add);
        copies.offer(2, 12, evicted::add);
        copies.offer(3, 12, evicted::add);
        assertThat(copies.latest(_ -> true)).isEqualTo(2);
        assertThat(copies.latest(sample -> sample != 2)).isEqualTo(3);
        assertThat(copies.latest(sample -> sample == 1)).isEqualTo(1);
        assertThat(copies.latest(_ -> false)).isEqualTo(FurtherCopies.NONE);
        assertThat(copies.usedBytes()).isEqualTo(30);
    }

    @Test
    void offer_notUsedAgain_goes() {
        FurtherCopies copies = copies(10);
        copies.offer(1, 9, evicted::add);
        assertThat(copies.offer(1, NextUse.NEVER, evicted::add)).isFalse();
        assertThat(copies.contains(1)).isFalse();
        assertThat(copies.usedBytes()).isZero();
    }

    @Test
    void offer_largeSample_evictsSeveralOrNone() {
        FurtherCopies copies = new FurtherCopies(10, sample -> sample == 0 ? 25 : 10, 30, 0);
        copies.offer(1, 8, evicted::add);
        copies.offer(2, 3, evicted::add);
        copies.offer(3, 9, evicted::add);
        assertThat(copies.offer(0, 3, evicted::add)).isFalse();
        assertThat(evicted).isEmpty();
        assertThat(copies.offer(0, 2, evicted::add)).isTrue();
        assertThat(evicted).containsExactly(3, 1, 2);
        assertThat(copies.usedBytes()).isEqualTo(25);
    }

    @Test
    void offer_lastCopies_stay() {
        FurtherCopies copies = copies(20);
        copies.offer(1, 9, evicted::add);
        copies.offer(2, 12, evicted::add);
        assertThat(copies.offer(3, 6, sample -> sample != 2, evicted::add)).isTrue();
        assertThat(evicted).containsExactly(1);
        assertThat(copies.offer(4, 6, _ -> false, evicted::add)).isFalse();
    }

    @Test
    void resize_givesUpWhatIsUsedLast() {
        FurtherCopies copies = copies(30);
        copies.offer(1, 9, evicted::add);
        copies.offer(2, 12, evicted::add);
        copies.offer(3, 6, evicted::add);
        copies.resize(10, evicted::add);
        assertThat(evicted).containsExactly(2, 1);
        copies.resize(20, evicted::add);
        assertThat(copies.offer(2, 12, evicted::add)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void randomOffers_keepWhatAPlainSearchKeeps(long seed) {
        Random random = new Random(seed);
        FurtherCopies copies = new FurtherCopies(40, _ -> 10, 105, 0);
        Map<Integer, Integer> model = new HashMap<>();
        for (int i = 0; i < 5000; i++) {
            int sample = random.nextInt(40);
            int due = random.nextInt(20) == 0 ? NextUse.NEVER : random.nextInt(12);
            model.remove(sample);
            if (random.nextInt(10) == 0) {
                copies.remove(sample);
                continue;
            }
            evicted.clear();
            boolean kept = copies.offer(sample, due, evicted::add);
            int latest =
                    model.values().stream().mapToInt(Integer::intValue).max().orElse(-1);
            boolean full = model.size() == 10;
            String what = "seed " + seed + ", offer " + i;
            assertThat(kept).as(what).isEqualTo(due != NextUse.NEVER && (!full || due < latest));
            assertThat(evicted.size()).as(what).isEqualTo(kept && full ? 1 : 0);
            evicted.forEach(victim -> assertThat(model.remove(victim)).as(what).isEqualTo(latest));
            if (kept) {
                model.put(sample, due);
            }
            for (int each = 0; each < 40; each++) {
                assertThat(copies.contains(each)).as(what).isEqualTo(model.containsKey(each));
            }
            assertThat(copies.usedBytes()).isEqualTo(10L * model.size());
        }
    }
}
