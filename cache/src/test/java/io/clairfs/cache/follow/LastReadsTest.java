package io.clairfs.cache.follow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which of the last reads have neighbours. */
final class LastReadsTest {
    private static final int MEMORY = 64;

    private final LastReads reads = new LastReads(MEMORY);

    private List<Long> orderly() {
        return IntStream.range(0, reads.orderlyCount()).mapToObj(reads::orderly).toList();
    }

    @Test
    void readsOfTwoLoaders_areOrderly_thoseThatStandAloneAreNot() {
        for (long sequence : new long[] {100, 132, 500, 101, 133}) {
            reads.add(sequence);
        }
        assertThat(orderly()).containsExactly(100L, 101L, 132L, 133L);
    }

    @Test
    void cleared_isAsNew() {
        reads.add(1);
        reads.add(2);
        reads.clear();
        reads.add(3);
        assertThat(orderly()).isEmpty();
        reads.add(4);
        assertThat(orderly()).containsExactly(3L, 4L);
    }

    @Test
    void readsOfTracers_areOrderlyWhereTheWindowLeavesThem_otherReadsSoFarApartAreNot() {
        reads.add(160);
        reads.add(176);
        assertThat(orderly()).isEmpty();
        reads.expectTracers();
        for (long sequence : new long[] {192, 224, 300, 316, 400}) {
            reads.add(sequence);
        }
        assertThat(orderly()).containsExactly(160L, 176L, 192L, 224L);
    }

    /** Beside a list of all reads, of which each is looked at anew. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void anyReads_asTheirDefinitionSays(int seed) {
        Random random = new Random(seed);
        List<Long> all = new ArrayList<>();
        List<Boolean> close = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < 2_000; i++) {
            at += random.nextInt(3);
            long sequence = switch (random.nextInt(8)) {
                case 0 -> random.nextLong(at + 100);
                case 1, 2 -> at + 32;
                default -> at;
            };
            reads.add(sequence);
            all.add(sequence);
            close.add(false);
            int first = Math.max(0, all.size() - MEMORY);
            for (int k = first; k < i; k++) {
                if (Math.abs(all.get(k) - sequence) <= LastReads.NEIGHBOUR) {
                    close.set(k, true);
                    close.set(i, true);
                }
            }
            List<Long> expected = IntStream.range(first, all.size())
                    .filter(close::get)
                    .mapToObj(all::get)
                    .sorted()
                    .toList();
            assertThat(orderly()).isEqualTo(expected);
        }
    }
}
