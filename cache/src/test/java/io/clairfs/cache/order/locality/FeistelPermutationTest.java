package io.clairfs.cache.order.locality;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.BitSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FeistelPermutationTest {
    private static void requirePermutation(int size) {
        FeistelPermutation permutation = new FeistelPermutation(size);
        BitSet seen = new BitSet(size);
        for (int place = 0; place < size; place++) {
            int number = permutation.at(place);
            assertThat(number).as("size %d, place %d", size, place).isBetween(0, size - 1);
            seen.set(number);
        }
        assertThat(seen.cardinality()).as("size %d", size).isEqualTo(size);
    }

    @Test
    void everySmallSize_isPermuted() {
        IntStream.rangeClosed(1, 1100).forEach(FeistelPermutationTest::requirePermutation);
    }

    /** Among them one for which Grain's own shuffle is no permutation. */
    @ParameterizedTest
    @ValueSource(ints = {65_535, 65_536, 65_537, 131_073, 1_000_003})
    void largeSize_isPermuted(int size) {
        requirePermutation(size);
    }

    @Test
    void largestSize_staysInside() {
        FeistelPermutation permutation = new FeistelPermutation(Integer.MAX_VALUE);
        for (int place = Integer.MAX_VALUE - 1000; place < Integer.MAX_VALUE; place++) {
            assertThat(permutation.at(place)).isNotNegative().isLessThan(Integer.MAX_VALUE);
        }
    }

    /** The images of one class are neighbours; each node should own as many of them as chance would give it. */
    @Test
    void neighbours_areSpreadOverAllNodes() {
        Owners owners = new Owners(1_281_167, 16, 1);
        int[] owned = new int[16];
        for (int sample = 500_000; sample < 501_300; sample++) {
            owned[owners.applyAsInt(sample)]++;
        }
        double expected = 1300 / 16.0;
        double chiSquare = Arrays.stream(owned)
                .mapToDouble(each -> (each - expected) * (each - expected) / expected)
                .sum();
        assertThat(chiSquare).as("15 degrees of freedom").isBetween(4.6, 32.8);
    }

    @Test
    void owners_haveBlocksThatDifferByOneSample_andTheShareThatIsCached() {
        for (int nodes : new int[] {1, 3, 7, 200}) {
            for (double cached : new double[] {1, 0.5, 0.001}) {
                Owners owners = new Owners(100, nodes, cached);
                int[] owned = new int[nodes];
                IntStream.range(0, 100)
                        .map(owners)
                        .filter(node -> node != Owners.NONE)
                        .forEach(node -> owned[node]++);
                for (int node = 0; node < nodes; node++) {
                    assertThat(owned[node]).isEqualTo(owners.owned(node));
                    assertThat((double) owned[node])
                            .isBetween(
                                    Math.floor(cached * Math.floor(100.0 / nodes)),
                                    Math.ceil(cached * Math.ceil(100.0 / nodes)));
                }
            }
        }
    }
}
