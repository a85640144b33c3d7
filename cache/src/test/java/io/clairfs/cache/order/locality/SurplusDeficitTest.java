package io.clairfs.cache.order.locality;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SurplusDeficitTest {
    private static List<String> transfers(int... missing) {
        SurplusDeficit imbalance = new SurplusDeficit(missing.length);
        for (int node = 0; node < missing.length; node++) {
            imbalance.add(node, missing[node]);
        }
        List<String> transfers = new ArrayList<>();
        imbalance.balance((from, to, samples) -> transfers.add(samples + " from " + from + " to " + to));
        return transfers;
    }

    @Test
    void largestSurplus_goesToTheLargestDeficit_andTheLowerNodeFirst() {
        assertThat(transfers(-2, 3, -2, 0, 1)).containsExactly("2 from 0 to 1", "1 from 2 to 1", "1 from 2 to 4");
        assertThat(transfers(-5, 2, 2, 1)).containsExactly("2 from 0 to 1", "2 from 0 to 2", "1 from 0 to 3");
        assertThat(transfers(0, 0)).isEmpty();
    }

    @Test
    void unowned_goesToTheLargestDeficit() {
        SurplusDeficit imbalance = new SurplusDeficit(3);
        imbalance.add(0, 1);
        imbalance.add(1, 2);
        imbalance.add(2, 2);
        int[] takers = new int[5];
        Arrays.setAll(takers, _ -> imbalance.takeUnowned());
        assertThat(takers).containsExactly(1, 2, 0, 1, 2);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void randomImbalances_areSettledByFewTransfersOfTheFewestSamples(long seed) {
        Random random = new Random(seed);
        for (int run = 0; run < 300; run++) {
            int[] missing = new int[1 + random.nextInt(40)];
            SurplusDeficit imbalance = new SurplusDeficit(missing.length);
            for (int i = random.nextInt(200); i > 0; i--) {
                missing[random.nextInt(missing.length)]++;
                missing[random.nextInt(missing.length)]--;
            }
            for (int node = 0; node < missing.length; node++) {
                imbalance.add(node, missing[node]);
            }
            int deficits = Arrays.stream(missing).map(each -> Math.max(0, each)).sum();
            int[] moved = new int[2];
            imbalance.balance((from, to, samples) -> {
                assertThat(samples).isPositive();
                missing[from] += samples;
                missing[to] -= samples;
                moved[0] += samples;
                moved[1]++;
            });
            assertThat(missing).as("seed %d, run %d", seed, run).containsOnly(0);
            assertThat(moved[0]).as("seed %d, run %d", seed, run).isEqualTo(deficits);
            assertThat(moved[1]).as("seed %d, run %d", seed, run).isLessThan(Math.max(2, missing.length));
        }
    }
}
