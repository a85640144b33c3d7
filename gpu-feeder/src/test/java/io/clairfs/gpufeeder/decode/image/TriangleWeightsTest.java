package io.clairfs.gpufeeder.decode.image;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The weights of a resized axis, for all sizes of images. */
final class TriangleWeightsTest {
    private static final int PRECISION = 1 << 22;

    @ParameterizedTest(name = "{0} pixels, of which the middle {1} are computed")
    @CsvSource({"256, 224", "36, 32", "259, 224", "224, 224"})
    void weightsOfEachOutput_areThoseOfInputsThatThereAre_andAddUpToOne(int resized, int outputs) {
        for (int inputs = 1; inputs <= 3000; inputs++) {
            TriangleWeights weights = TriangleWeights.of(inputs, resized, (resized - outputs) / 2, outputs);
            for (int output : new int[] {0, 1, outputs - 1}) {
                long sum = 0;
                for (int k = 0; k < weights.count(output); k++) {
                    sum += weights.weight(output, k);
                }
                assertThat(weights.first(output)).isBetween(0, inputs - 1);
                assertThat(weights.first(output) + weights.count(output)).isLessThanOrEqualTo(inputs);
                long rounded = weights.count(output) / 2 + 1L;
                assertThat(sum)
                        .as("%d inputs, output %d", inputs, output)
                        .isBetween(PRECISION - rounded, PRECISION + rounded);
            }
        }
    }
}
